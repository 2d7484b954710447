"""Who may ask, what may be asked, and what a browser is told."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from nongrata.errors import NongrataError
from nongrata.viewer import Api, RunOnDisk, open_server
from nongrata.viewer.server import HOST, PORT

EVERYWHERE = ("/", "/question?id=x", "/assets/page.css", "/assets/main.js", "/api/overview", "/no")


def test_it_listens_on_loopback_only(reader: Any) -> None:
    assert reader.server.server_address[0] == "127.0.0.1"
    assert reader.server.address == f"http://127.0.0.1:{reader.server.server_port}/"


@pytest.mark.parametrize("path", EVERYWHERE)
def test_every_answer_keeps_the_browser_on_this_server(reader: Any, path: str) -> None:
    _, headers, _ = reader.ask(path)
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in headers
    assert "Python" not in headers["Server"]


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "127.0.0.1:1",
     "127.0.0.1", "[::1]:{port}", "0.0.0.0:{port}", "localhost.:{port}", ""],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/api/overview"])
def test_a_request_that_names_another_host_gets_nothing(reader: Any, host: str, path: str) -> None:
    named = host.format(port=reader.server.server_port)
    status, _, body = reader.ask(path, headers={"Host": named})
    assert status == 421
    assert body == b"this server answers only as 127.0.0.1\n"


def test_localhost_is_this_host(reader: Any) -> None:
    headers = {"Host": f"LocalHost:{reader.server.server_port}"}
    assert reader.ask("/api/overview", headers=headers)[0] == 200


def raw(reader: Any, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", reader.server.server_port), timeout=10) as line:
        line.sendall(request)
        line.shutdown(socket.SHUT_WR)
        parts = []
        while part := line.recv(65536):
            parts.append(part)
    return b"".join(parts)


def test_a_request_without_or_with_two_hosts_gets_nothing(reader: Any) -> None:
    port = reader.server.server_port
    own = f"Host: 127.0.0.1:{port}\r\n".encode()
    assert raw(reader, b"GET / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 421")
    assert raw(reader, b"GET / HTTP/1.1\r\n" + own + own + b"\r\n").startswith(b"HTTP/1.1 421")
    assert raw(reader, b"GET / HTTP/1.1\r\n" + own + b"\r\n").startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "X"])
def test_only_get_and_head_are_answered(reader: Any, method: str) -> None:
    status, headers, body = reader.ask("/api/overview", method=method)
    assert status == 405
    assert headers["Allow"] == "GET, HEAD"
    assert b"<" not in body


def test_head_says_what_get_would_without_its_body(reader: Any) -> None:
    status, headers, body = reader.ask("/assets/main.js", method="HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["Content-Length"]) == len(reader.ask("/assets/main.js")[2])


@pytest.mark.parametrize(
    "path",
    ["/assets/../server.py", "/assets/%2e%2e/server.py", "/assets/..%2fserver.py", "//etc/passwd",
     "/etc/passwd", "/assets//page.css", "/assets/page.css/", "/assets/", "/api/", "/api/../",
     "/api/overview/", "/assets/index.html", "/assets/page.css%00.js", "/.git/config"],
)  # fmt: skip
def test_no_path_leads_elsewhere(reader: Any, path: str) -> None:
    status, _, body = reader.ask(path)
    assert status in {400, 404}
    assert body in {b"there is no such page\n", b"this server is no proxy\n"}


def test_it_is_no_proxy(reader: Any) -> None:
    own = f"Host: 127.0.0.1:{reader.server.server_port}\r\n".encode()
    said = raw(reader, b"GET http://evil.example/ HTTP/1.1\r\n" + own + b"\r\n")
    assert said.startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_reads_no_answers(reader: Any, site: str) -> None:
    headers = {"Sec-Fetch-Site": site}
    assert reader.ask("/api/overview", headers=headers)[0] == 403
    assert reader.ask("/", headers=headers)[0] == 200  # but may link to the page


@pytest.mark.parametrize(
    ("path", "values", "said"),
    [
        ("/api/question", {}, "the run has no question ''"),
        ("/api/question", {"id": "no/such"}, "the run has no question 'no/such'"),
        ("/api/questions", {"model": "gpt"}, "there is no model 'gpt'; one of: sim, other"),
        ("/api/questions", {"sort": "magic"}, "there is no sort 'magic'"),
        ("/api/questions", {"page": "0"}, "'page' is no number from 1"),
        ("/api/questions", {"page": "٣"}, "'page' is no number from 1"),
        ("/api/question", {"id": "starter/knowledge/01", "replicate": "9"}, "replicate '9'"),
    ],
)
def test_a_mistake_is_one_sentence(
    reader: Any, path: str, values: dict[str, str], said: str
) -> None:
    if "id" in values and values["id"].startswith("starter"):
        values = values | {"id": reader.json("/api/questions")["questions"][0]["id"]}
    status, _, body = reader.ask(path, values)
    assert status == 404
    assert said in json.loads(body)["error"]


def test_too_many_parameters_are_refused(reader: Any) -> None:
    assert reader.ask("/api/questions?" + "&".join("a=b" for _ in range(101)))[0] == 400
    assert reader.ask("/api/questions?search=" + "a" * 9000)[0] == 414


def test_the_page_holds_no_script_and_no_style_of_its_own(reader: Any) -> None:
    page = reader.ask("/")[2].decode()
    assert "<style" not in page
    assert " style=" not in page
    assert page.count("<script") == page.count('<script type="module" src="/assets/')
    assert " on" not in "".join(part.split(">")[0] for part in page.split("<"))


def test_no_file_of_the_page_writes_markup_or_names_another_server(reader: Any) -> None:
    for path, (_, content) in reader.server.files.items():
        text = content.decode()
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in text, path
        assert "https://" not in text, path
        assert text.count("http://") == text.count("http://www.w3.org/2000/svg"), path


def test_the_usual_port_is_kept_if_it_is_free_and_another_taken_if_not(run: Path) -> None:
    api = Api(RunOnDisk(run))
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind((HOST, PORT))
        except OSError:
            pytest.skip("the usual port is in use on this machine")
        taken.listen()
        other = open_server(api)
        assert other.server_port != PORT
        with pytest.raises(NongrataError, match=f"port {PORT} of this machine cannot be used"):
            open_server(api, PORT)
        other.server_close()
    usual = open_server(api)
    assert usual.server_port == PORT
    usual.server_close()


def test_reading_ends_without_traces(run: Path, open_viewer: Any) -> None:
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    with open_viewer(run) as reader:
        reader.json("/api/questions")
        reader.server.api.counting.wait("sim")
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*")} == before
