"""The viewer's web server: loopback only, GET only, and nothing from elsewhere.

The standard library's server is enough: one reader, small pages, no secrets to encrypt. What it
does not do by itself is done here. It listens on 127.0.0.1 and answers only requests that name it
so, which a page of another site cannot (DNS rebinding); it serves its own files from a fixed list,
so no path can lead elsewhere; and it forbids the browser everything but this server.
"""

from __future__ import annotations

import errno
import json
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from nongrata.errors import NongrataError
from nongrata.viewer.api import Api

HOST = "127.0.0.1"
PORT = 8364
"""Always the same if it is free, so that a link opens the same view another day."""
PAGES = ("/", "/question")
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_LONGEST_ADDRESS = 8192


class ViewerServer(ThreadingHTTPServer):
    """Serves one run's viewer on this machine.

    Parameters
    ----------
    api
        Answers to the page's questions.
    port
        Where; 0 takes any free one.
    """

    daemon_threads = True
    allow_reuse_address = sys.platform != "win32"  # there it would share a port that is in use

    def __init__(self, api: Api, port: int) -> None:
        self.api = api
        self.files = _own_files()
        super().__init__((HOST, port), _Handler)

    @property
    def address(self) -> str:
        """Where the viewer is."""
        return f"http://{HOST}:{self.server_port}/"

    def server_close(self) -> None:
        """Stop, and count no more."""
        self.api.counting.end()
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a reader who has gone away; let everything else be seen."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


def open_server(api: Api, port: int | None = None) -> ViewerServer:
    """Listen on a port of the loopback interface.

    Parameters
    ----------
    api
        Answers to the page's questions.
    port
        Where; left out, `PORT` or, if that is taken, any free one.
    """
    try:
        return ViewerServer(api, PORT if port is None else port)
    except OSError as error:
        if port is None and error.errno in {errno.EADDRINUSE, errno.EACCES}:
            return ViewerServer(api, 0)
        raise NongrataError(
            f"port {port} of this machine cannot be used ({error.strerror or error})",
            fix="give another with --port, or leave it out",
        ) from None


def _own_files() -> dict[str, tuple[str, bytes]]:
    """Kind and content of every file of the page, by its path."""
    found = {}
    for entry in resources.files("nongrata.viewer").joinpath("assets").iterdir():
        kind = _KINDS.get("." + entry.name.rpartition(".")[2])
        if kind is not None:
            found[f"/assets/{entry.name}"] = (kind, entry.read_bytes())
    page = found.pop("/assets/index.html")
    return found | dict.fromkeys(PAGES, page)


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server_version = "nongrata"
    sys_version = ""
    timeout = 60
    wbufsize = -1

    @property
    def _viewer(self) -> ViewerServer:
        return cast("ViewerServer", self.server)

    def do_GET(self) -> None:
        """Answer a request."""
        try:
            status, kind, content = self._answer()
        except NongrataError as error:
            status, kind, content = _json({"error": str(error)}, HTTPStatus.NOT_FOUND)
        except Exception as error:
            # a file that went away or is damaged; the next request may find it again
            sentence = f"the run could not be read: {error}".splitlines()[0]
            status, kind, content = _json({"error": sentence}, HTTPStatus.INTERNAL_SERVER_ERROR)
        self._send(status, kind, content)

    do_HEAD = do_GET  # noqa: N815

    def _answer(self) -> tuple[HTTPStatus, str, bytes]:
        host = self.headers.get_all("Host") or []
        if len(host) != 1 or host[0].lower() not in self._own_names():
            return _text("this server answers only as 127.0.0.1", HTTPStatus.MISDIRECTED_REQUEST)
        if len(self.path) > _LONGEST_ADDRESS:
            return _text("this address is too long", HTTPStatus.REQUEST_URI_TOO_LONG)
        address = urlsplit(self.path)
        if address.scheme or address.netloc:
            return _text("this server is no proxy", HTTPStatus.BAD_REQUEST)
        if address.path in self._viewer.files:
            kind, content = self._viewer.files[address.path]
            return HTTPStatus.OK, kind, content
        if not address.path.startswith("/api/"):
            return _text("there is no such page", HTTPStatus.NOT_FOUND)
        if self.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
            return _text("another site may not read answers", HTTPStatus.FORBIDDEN)
        try:
            values = dict(parse_qsl(address.query, keep_blank_values=True, max_num_fields=100))
        except ValueError:
            return _text("there are too many parameters", HTTPStatus.BAD_REQUEST)
        found = self._viewer.api.get(address.path, values)
        if found is None:
            return _text("there is no such page", HTTPStatus.NOT_FOUND)
        return _json(found, HTTPStatus.OK)

    def _own_names(self) -> set[str]:
        port = self._viewer.server_port
        names = {f"{name}:{port}" for name in (HOST, "localhost")}
        return names | ({HOST, "localhost"} if port == 80 else set())

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def send_error(self, code: int, *_: Any, **__: Any) -> None:
        """Refuse a request that the standard library does not pass on."""
        status = HTTPStatus(code)
        if status is HTTPStatus.NOT_IMPLEMENTED:
            status = HTTPStatus.METHOD_NOT_ALLOWED
        content = f"{status.phrase}\n".encode()
        self.close_connection = True
        self.send_response(status)
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Connection", "close")
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Write nothing: the terminal is the reader's."""


def _json(value: dict[str, Any], status: HTTPStatus) -> tuple[HTTPStatus, str, bytes]:
    content = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return status, "application/json", content.encode()


def _text(sentence: str, status: HTTPStatus) -> tuple[HTTPStatus, str, bytes]:
    return status, "text/plain; charset=utf-8", f"{sentence}\n".encode()
