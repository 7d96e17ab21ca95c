"""Fixtures for every suite: the embedded stack, started once and only as far as a test asks."""

pytest_plugins = ["stack.testing"]
