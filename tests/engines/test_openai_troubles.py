from __future__ import annotations

import json
import time
from email.utils import formatdate

import pytest

from nongrata.engines.openai_secrets import Key
from nongrata.engines.openai_troubles import Patience, retry_after, said, status_trouble

KEY = Key("sk-0123456789abcdef")


@pytest.mark.parametrize(
    ("status", "body", "again", "busy", "stop"),
    [
        (400, {"error": {"message": "too long"}}, False, False, ""),
        (422, {"detail": [{"msg": "no"}]}, False, False, ""),
        (400, {"error": {"message": "no seed", "code": "unsupported_parameter"}}, False, False,
         "at_first"),
        (401, {}, False, False, "always"),
        (402, {}, False, False, "always"),
        (403, {}, False, False, "at_first"),
        (404, {}, False, False, "at_first"),
        (308, {}, False, False, "always"),
        (408, {}, True, False, ""),
        (429, {}, True, True, ""),
        (429, {"error": {"code": "insufficient_quota"}}, False, False, "always"),
        (500, {}, True, False, ""),
        (503, {}, True, True, ""),
        (529, {}, True, True, ""),
    ],
)  # fmt: skip
def test_what_a_status_means(status: int, body: object, again: bool, busy: bool, stop: str) -> None:
    trouble = status_trouble(status, {}, json.dumps(body), KEY, "MY_KEY")
    assert (trouble.again, trouble.busy, trouble.stop) == (again, busy, stop)
    assert str(status) in trouble.sentence


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b'{"error": {"message": "too long"}}', "too long"),
        (b'{"error": "plain"}', "plain"),
        (b'{"object": "error", "message": "of vLLM"}', "of vLLM"),
        (b'{"detail": "of FastAPI"}', "of FastAPI"),
        (b"<html>Bad Gateway</html>", "<html>Bad Gateway</html>"),
        (b"\xff\x1b[31m", "\ufffd\\x1b[31m"),
        (b'{"error": {"message": "key sk-0123456789abcdef is wrong"}}', "key [key] is wrong"),
        (b"[" * 100_000, "[" * 299 + "\u2026"),
        (b'"' + b"x" * 1000 + b'"', "x" * 299 + "\u2026"),
        (b"", ""),
    ],
)
def test_what_an_error_says_is_short_visible_and_without_the_key(body: bytes, shown: str) -> None:
    assert said(body, KEY) == shown


def test_how_long_a_server_asks_to_wait() -> None:
    assert retry_after({"retry-after": "2.5"}) == 2.5
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    now = time.time()
    assert retry_after({"retry-after": formatdate(now + 30, usegmt=True)}) == pytest.approx(
        30, abs=2
    )
    assert retry_after({"retry-after": formatdate(now - 30, usegmt=True)}) == 0
    for nonsense in ("soon", "-1", "nan", "inf", "", "Fri, 99 Foo 2024", "1e999"):
        assert retry_after({"retry-after": nonsense}) is None
    assert retry_after({}) is None


def test_patience_doubles_and_ends() -> None:
    patience = Patience(attempts=8, first_wait=1.0, seconds=100.0, longest_wait=10.0)
    for attempt, full in enumerate((1, 2, 4, 8, 10, 10), start=1):
        wait = patience.wait(attempt, 0.0, None)
        assert wait is not None
        assert full / 2 <= wait <= full
    assert patience.wait(8, 0.0, None) is None
    assert patience.wait(1, 99.9, None) is None
    asked = patience.wait(1, 0.0, 40.0)
    assert asked is not None
    assert 40 <= asked <= 41
    assert patience.wait(1, 50.0, 60.0) is None
