"""A headless Chromium in front of the whole product."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from stack.testing import EmbeddedStack

# Chromium calls home at its start; on a machine without a network each of those calls would be a delay and a log line.
_QUIET = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# The names that the bootstrap accepts too.
_INSTALLED_AS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_STEP_MILLISECONDS = 30_000


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The machine's Chromium where it has one, else the one that Playwright has fetched."""
    installed = next(filter(None, map(shutil.which, _INSTALLED_AS)), None)
    arguments = [*_QUIET, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=installed, args=arguments)
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser, product: EmbeddedStack, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Page]:
    """A page of its own for each test; what it looked like at the end is kept when SCREENSHOTS names a folder."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    context.set_default_timeout(_STEP_MILLISECONDS)
    opened = context.new_page()
    opened.goto(product.page_url)
    yield opened
    folder = os.environ.get("SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        opened.screenshot(path=str(Path(folder) / f"{request.node.name}.png"))
    context.close()


@pytest.fixture(scope="session")
def product(embedded_services: EmbeddedStack) -> EmbeddedStack:
    """The stack with its default model, the offline analyst."""
    return embedded_services.ensure("backend")
