"""A page in the browser, and everything that it says and asks for while a test looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Dialog, Page, Request

INSIDE = {"data", "blob", "about"}
"""Schemes of addresses that hold what they name."""

ACTED = "Object.defineProperty(window, 'pwned', {set() { console.error('text was executed'); }});"
"""Makes it an error of the console when hostile text of ``tests/hostile.py`` acts."""


class Watched:
    """A page with its complaints: whatever no page of this project may ever do.

    Parameters
    ----------
    page
        A page that has not gone anywhere yet.
    home
        Where it will go: a file, which may ask for nothing else, or a server on loopback, which
        may be asked for anything.
    """

    def __init__(self, page: Page, home: str) -> None:
        self.page = page
        self.home = home
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.add_init_script(ACTED)
        page.context.on("request", self._request)
        page.context.on("page", lambda _: self.complaints.append("opened a window"))
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"page error: {error}"))
        page.on("dialog", self._dialog)
        page.on("crash", lambda _: self.complaints.append("crashed"))
        page.on("websocket", lambda socket: self.complaints.append(f"asked for {socket.url}"))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(f"console {message.type}: {message.text}")

    def _dialog(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)
        if not self._may_ask_for(request.url):
            self.complaints.append(f"asked for {request.url}")

    def _may_ask_for(self, url: str) -> bool:
        asked, home = urlsplit(url), urlsplit(self.home)
        if asked.scheme in INSIDE:
            return True
        if home.scheme == "file":
            return urldefrag(url)[0] == urldefrag(self.home)[0]
        return (asked.scheme, asked.netloc) == (home.scheme, home.netloc)

    def forgive(self) -> list[str]:
        """Complaints so far, which then do not count: a test wanted them."""
        said, self.complaints = self.complaints, []
        return said
