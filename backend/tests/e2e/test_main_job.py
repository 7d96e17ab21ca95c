"""The main job as a person does it in a browser, over a restart of everything that thinks."""

import asyncio
import csv
import io
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, expect
from stack.testing import EmbeddedStack

PASSWORD = "correct horse battery"
ANSWER_MILLISECONDS = 90_000


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    """Two years of orders in three regions: North 30, South 20 and East 10 in each month."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["order date", "region", "revenue"])
    for year in (2023, 2024):
        for month in range(1, 13):
            for region, revenue in (("North", 30), ("South", 20), ("East", 10)):
                writer.writerow([f"{year}-{month:02d}-15", region, revenue])
    path = tmp_path / "sales.csv"
    path.write_text(out.getvalue())
    return path


def sign_up(page: Page) -> str:
    email = f"{uuid4().hex[:10]}@example.com"
    page.get_by_role("button", name="Create account").or_(page.get_by_role("link", name="Create account")).or_(
        page.get_by_role("tab", name="Create account")
    ).first.click()
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Create account").last.click()
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()
    return email


def ask(page: Page, question: str) -> None:
    page.get_by_role("textbox", name="Message").fill(question)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("button", name="Stop")).to_be_hidden(timeout=ANSWER_MILLISECONDS)
    expect(page.get_by_role("button", name="Send")).to_be_visible(timeout=ANSWER_MILLISECONDS)


def kill_and_restart(product: EmbeddedStack, *services: str) -> None:
    """SIGKILL each and wait until it is back. In a thread of its own: Playwright has an event loop in this one."""

    def crash(service: str) -> None:
        asyncio.run(product.crash(service))

    with ThreadPoolExecutor(1) as pool:
        list(pool.map(crash, services))


def conversation(page: Page) -> Locator:
    return page.get_by_role("region", name="Conversation")


class TestMainJob:
    def test_sign_up_upload_ask_see_the_chart_restart_everything_and_go_on(
        self, page: Page, product: EmbeddedStack, sales: Path
    ) -> None:
        sign_up(page)
        page.locator("input[type=file]").first.set_input_files(str(sales))
        expect(page.get_by_text("sales.csv").first).to_be_visible()
        ask(page, "chart revenue by month")
        cards = conversation(page).get_by_role("article")
        expect(cards.filter(has_text=re.compile(r"\.png|\.vl\.json")).first).to_be_visible()
        preview = page.get_by_role("region", name="Preview")
        expect(preview.locator("canvas, svg.marks, img").first).to_be_visible()

        kill_and_restart(product, "backend", "runtime", "executor")
        page.reload()
        expect(conversation(page).get_by_text("chart revenue by month").first).to_be_visible()
        ask(page, "total revenue by region")
        answer = conversation(page).inner_text()
        # 24 months of 30, 20 and 10: numbers that are only in the file which was uploaded before the restart.
        for total in ("720", "480", "240"):
            assert total in answer


class TestSignIn:
    def test_a_wrong_password_is_told_and_the_right_one_opens_the_page(self, page: Page) -> None:
        email = sign_up(page)
        page.context.clear_cookies()
        page.reload()
        page.get_by_label("Email").fill(email)
        page.get_by_label("Password", exact=True).fill("not the password")
        page.get_by_role("button", name="Sign in").last.click()
        expect(page.get_by_text(re.compile("wrong", re.I)).first).to_be_visible()
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in").last.click()
        expect(page.get_by_role("textbox", name="Message")).to_be_visible()


class TestFirstVisit:
    def test_the_sample_is_one_click_and_has_questions(self, page: Page) -> None:
        sign_up(page)
        page.get_by_role("button", name=re.compile("sample", re.I)).first.click()
        expect(page.get_by_role("region", name="Files").get_by_text(re.compile(r"\.csv")).first).to_be_visible()


class TestTable:
    def test_a_file_opens_as_a_table(self, page: Page, sales: Path) -> None:
        sign_up(page)
        page.locator("input[type=file]").first.set_input_files(str(sales))
        page.get_by_role("region", name="Files").get_by_text("sales.csv").first.click()
        grid = page.get_by_role("region", name="Preview").get_by_role("grid")
        expect(grid).to_be_visible()
        expect(grid.get_by_text("2023-01-15").first).to_be_visible()


class TestUntrustedContent:
    def test_a_report_runs_in_a_frame_without_the_pages_rights(self, page: Page, tmp_path: Path) -> None:
        sign_up(page)
        report = tmp_path / "report.html"
        report.write_text(
            "<h1 id=t>Report</h1><script>try { parent.document.title = 'taken'; } catch (e) { "
            "document.getElementById('t').textContent = 'kept out'; }</script>"
        )
        page.locator("input[type=file]").first.set_input_files(str(report))
        page.get_by_role("region", name="Files").get_by_text("report.html").first.click()
        frame = page.frame_locator("[aria-label='Preview'] iframe, section iframe").first
        expect(frame.get_by_text(re.compile("kept out|Report")).first).to_be_visible()
        assert page.title() != "taken"
