"""A headless Chromium for tests of pages, if one is installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser; without one, the test is skipped."""
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as play:
        try:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        except Error:
            pytest.skip("no Chromium here; Debian's package `chromium` is one")
        yield browser
        browser.close()


# Not every violation is a line of the console.
_TELL_OF_POLICY = """addEventListener("securitypolicyviolation", (event) =>
  console.error(`Content Security Policy: ${event.violatedDirective} ${event.blockedURI}`))"""


class Visit:
    """One page of a site, opened from disk, and what went wrong in it.

    Attributes:
        complaints: console errors, script errors, what the content security policy stopped, and requests that left the disk.
    """

    def __init__(self, browser: Any, site: Path, name: str, width: int = 1280, **context: Any) -> None:
        self.page = browser.new_context(viewport={"width": width, "height": 900}, **context).new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self._note(message.type in ("error", "warning"), message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self._note(not request.url.startswith("file://"), request.url))
        self.page.on("dialog", lambda dialog: (self.complaints.append("a dialog"), dialog.dismiss()))
        self.page.add_init_script(_TELL_OF_POLICY)
        self.page.goto(f"{(site / name.partition('#')[0]).as_uri()}#{name.partition('#')[2]}")

    def _note(self, wrong: bool, text: str) -> None:
        if wrong:
            self.complaints.append(text)
