"""Chats with the offline analyst in a real sandbox."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from conversation_driver import Chat, new_chat
from sandbox import BWRAP, GUEST_PACKAGES


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    """A new thread with an empty sandbox."""
    if not (GUEST_PACKAGES / "pandas").is_dir():
        pytest.skip("the sandbox's data-science environment is not installed (`make` installs it)")
    if not BWRAP.is_file():
        pytest.skip("bubblewrap is not installed")
    return new_chat(tmp_path)
