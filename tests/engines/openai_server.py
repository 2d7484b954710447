"""A small server with OpenAI's API, run as a process of its own: ``python openai_server.py``.

Its model has a few dozen tokens and probabilities that follow from the prompt's text alone, so that
two runs against it must agree. Asked to, it fails in every way that servers fail; which requests
fail follows from the request and a seed, not from the order in which requests come.
"""

from __future__ import annotations

import argparse
import contextlib
import email.utils
import hashlib
import json
import math
import random
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

MODEL = "tiny"
END = "<end>"
TOKENS = (
    *(letter for letter in "ABCDE"),
    *(f" {letter}" for letter in "ABCDE"),
    *("(", "The", " answer", " is", " because", " I", " think", ".", ",", "\n", " caf\u00e9"),
    END,
)
FAULTS = ("429", "429-date", "500", "503", "reset", "stall", "truncated", "wrong")

WRONG = ("count", "positive", "mass", "order", "place", "nan", "none")


def logits(text: str) -> list[float]:
    """Scores of all tokens after a text."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    noise = [digest[i % 32] / 128 + digest[(i * 7 + 3) % 32] / 256 for i in range(len(TOKENS))]
    spoken = text.endswith(tuple("ABCDE"))
    bonus = [1.5 if token.strip() in "ABCDE" else 0.5 for token in TOKENS]
    if spoken:  # go on with words, or end
        bonus = [0.0 if token.strip() in "ABCDE" else 2.0 for token in TOKENS]
    bonus[TOKENS.index(END)] = 2.5 if spoken else 0.0
    return [a + b for a, b in zip(noise, bonus, strict=True)]


def softmax(scores: list[float]) -> list[float]:
    top = max(scores)
    weights = [math.exp(score - top) for score in scores]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def truncated(probabilities: list[float], top_k: int, top_p: float, min_p: float) -> list[float]:
    """The distribution after top-k, top-p and min-p, in this order."""
    order = sorted(range(len(probabilities)), key=lambda i: -probabilities[i])
    kept = order[:top_k] if top_k > 0 else order
    total, nucleus = 0.0, []
    for i in kept:
        if nucleus and total >= top_p:
            break
        nucleus.append(i)
        total += probabilities[i]
    floor = min_p * probabilities[order[0]]
    allowed = {i for i in nucleus if probabilities[i] >= floor}
    mass = math.fsum(probabilities[i] for i in allowed)
    return [p / mass if i in allowed else 0.0 for i, p in enumerate(probabilities)]


def next_token(text: str, body: dict[str, Any], luck: random.Random) -> str:
    heat = body["temperature"]
    scores = logits(text)
    if heat == 0:
        return TOKENS[scores.index(max(scores))]
    probabilities = truncated(
        softmax([score / heat for score in scores]),
        max(body.get("top_k", 0), 0),
        body.get("top_p", 1.0),
        body.get("min_p", 0.0),
    )
    return luck.choices(TOKENS, probabilities)[0]


def pieces(text: str) -> list[str]:
    """Tokens of a text: from the left the longest there is, and characters for the rest."""
    known = sorted((token for token in TOKENS if token != END), key=len, reverse=True)
    return re.findall("|".join([*map(re.escape, known), "."]), text, flags=re.DOTALL)


def prompt_text(body: dict[str, Any]) -> str:
    if "prompt" in body:
        return str(body["prompt"])
    turns = body["messages"]
    text = "".join(f"<{turn['role']}>{turn['content']}" for turn in turns)
    return text if body.get("continue_final_message") else f"{text}<assistant>"


@dataclass
class State:
    """What the server is told to be, and what it has seen."""

    log: Path
    key: str
    owner: str
    flaky: float
    seed: int
    stall: float
    always: str
    delay: float
    seen: Counter[str] = field(default_factory=Counter)
    under_way: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def fault(self, digest: str) -> str | None:
        with self.lock:
            self.seen[digest] += 1
            attempt = self.seen[digest]
        if self.always:
            return self.always
        luck = random.Random(f"{self.seed}/{digest}/{attempt}")
        return luck.choice(FAULTS) if luck.random() < self.flaky else None

    def write(self, **entry: Any) -> None:
        with self.lock, self.log.open("a") as file:
            file.write(json.dumps(entry) + "\n")


def complete(body: dict[str, Any], wrong: random.Random | None) -> dict[str, Any]:
    """The answer to a request; a wrong one if there is luck for it."""
    prompt = prompt_text(body)
    limit = body.get("max_completion_tokens", body.get("max_tokens", 16))
    luck = random.Random(f"{body.get('seed')}/{prompt}/{body['temperature']}")
    said: list[str] = []
    positions = []
    reason = "length"
    while len(said) < limit:
        here = prompt + "".join(said)
        token = next_token(here, body, luck)
        positions.append((here, token))
        if token == END:
            reason = "stop"
            break
        said.append(token)
        cut = min(
            ("".join(said).find(stop) for stop in body.get("stop") or [] if stop in "".join(said)),
            default=-1,
        )
        if cut >= 0:
            said, reason = ["".join(said)[:cut]], "stop"
            break
    text = "".join(said)
    chat = "messages" in body
    top = body.get("top_logprobs") if chat else body.get("logprobs")
    choice: dict[str, Any] = {"index": 0, "finish_reason": reason, "logprobs": None}
    choice |= {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
    if top:
        choice["logprobs"] = told(positions, top, chat, wrong)
    elif wrong is not None:
        choice["finish_reason"] = None
    generated = len(positions)
    if body.get("echo"):
        choice["logprobs"] = echoed(prompt, positions)
        choice["text"] = prompt + text
        if wrong is not None:
            choice["logprobs"]["token_logprobs"].pop()
    special = {
        "SAY-NOTHING": {"content": None},
        "REFUSE": {"content": None, "refusal": "I cannot answer that."},
        "CALL-TOOL": {"content": None, "tool_calls": [{"type": "function"}]},
        "SURROGATE": {"content": "half \ud800 pair"},
    }
    for word, message in special.items():
        if chat and word in prompt:
            choice["message"] = {"role": "assistant"} | message
            choice["finish_reason"] = "stop"
    if "FILTER" in prompt:
        choice["finish_reason"] = "content_filter"
    return {
        "id": f"r-{time.monotonic_ns()}",
        "object": "chat.completion",
        "model": "tiny-other" if "OTHER-MODEL" in prompt else MODEL,
        "system_fingerprint": "fp-1",
        "choices": [choice],
        "usage": {
            "prompt_tokens": len(pieces(prompt)),
            "completion_tokens": generated,
            "prompt_tokens_details": {"cached_tokens": 1},
        },
    }


def told(
    positions: list[tuple[str, str]], top: int, chat: bool, wrong: random.Random | None
) -> dict[str, Any]:
    """Log-probabilities of each position, in the API's form."""
    kind = (
        wrong.choice(("count", "positive", "mass", "order", "place", "nan", "none"))
        if wrong
        else ""
    )
    if kind == "none":
        return {"content": None}
    places = []
    for here, said in positions:
        token = said
        if kind == "place" and (token == END or not token.strip()):
            kind = "count"  # from an empty text nobody could tell
        probabilities = softmax(logits(here + "!" if kind == "place" else here))
        pairs = sorted(zip(TOKENS, map(math.log, probabilities), strict=True), key=lambda e: -e[1])
        if kind == "place":
            token = next(text for text, _ in pairs if text.strip() not in (said.strip(), ""))
        drawn = dict(pairs)[token]
        listed = pairs[:top]
        if kind == "count":
            listed = listed[:-1]
        if kind == "positive":
            listed = [(listed[0][0], 0.5), *listed[1:]]
        if kind == "mass":
            listed = [(text, value + 0.7) for text, value in listed]
        if kind == "order":
            listed = listed[::-1]
        if kind == "nan":
            listed = [*listed[:-1], (listed[-1][0], math.nan)]
        places.append((token, drawn, listed))
    if not chat:
        return {
            "tokens": [token for token, _, _ in places],
            "token_logprobs": [value for _, value, _ in places],
            "top_logprobs": [dict(listed) for _, _, listed in places],
            "text_offset": [0 for _ in places],
        }

    def entry(token: str, value: float) -> dict[str, Any]:
        return {"token": token, "logprob": value, "bytes": list(token.encode())}

    return {
        "content": [
            entry(token, value) | {"top_logprobs": [entry(*pair) for pair in listed]}
            for token, value, listed in places
        ]
    }


def echoed(prompt: str, positions: list[tuple[str, str]]) -> dict[str, Any]:
    """Log-probabilities of the prompt's own tokens; characters have some that were made up."""
    tokens = ["<s>", *pieces(prompt), *(token for _, token in positions)]
    offsets, values, before = [], [], ""
    for token in tokens:
        offsets.append(len(before))
        here = before.removeprefix("<s>")
        known = dict(zip(TOKENS, softmax(logits(here)), strict=True))
        digest = hashlib.sha256(f"{here}|{token}".encode("utf-8", "surrogatepass")).digest()
        values.append(math.log(known[token]) if token in known else -(digest[0] + 1) / 64)
        before += token
    return {
        "tokens": tokens,
        "token_logprobs": [None, *values[1:]],
        "top_logprobs": None,
        "text_offset": offsets,
    }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: State

    def log_message(self, *_: Any) -> None: ...

    def do_GET(self) -> None:
        if not self.path.endswith("/models"):
            self.send(404, {"error": {"message": "not here"}})
        elif self.authorised():
            entry = {"id": MODEL, "created": time.time(), "owned_by": self.state.owner}
            self.send(200, {"object": "list", "data": [entry]})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.authorised():
            return
        state, body = self.state, json.loads(raw)
        digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        fault = state.fault(digest)
        with state.lock:
            state.under_way += 1
            under_way = state.under_way
        try:
            time.sleep(state.delay)
            done = self.answer(body, digest, fault)
        finally:
            with state.lock:
                state.under_way -= 1
        if done is not None:
            state.write(
                digest=digest, fault=fault, answered=done, under_way=under_way, path=self.path,
                prompt=prompt_text(body), body=body,
            )  # fmt: skip

    def answer(self, body: dict[str, Any], digest: str, fault: str | None) -> bool | None:
        """Answer or fail; True if the right answer was sent."""
        if fault in ("429", "429-date", "429-long"):
            date = email.utils.formatdate(time.time() + 1, usegmt=True)
            wait = {"429": "0.1", "429-date": date, "429-long": "100000"}[fault]
            self.send(429, {"error": {"message": "Slow down"}}, {"Retry-After": wait})
        elif fault in ("500", "503"):
            self.send(int(fault), {"error": {"message": "Try later"}})
        elif fault == "quota":
            self.send(429, {"error": {"message": "No money", "code": "insufficient_quota"}})
        elif fault == "moved":
            self.send(308, {}, {"Location": "http://localhost:1/v1"})
        elif fault == "unknown-field":
            error = {"message": "seed?", "code": "unsupported_parameter", "param": "seed"}
            self.send(400, {"error": error})
        elif fault == "200-error":
            self.send(200, {"error": {"message": "Overloaded", "code": 503}})
        elif fault == "reset":
            self.reset()
        elif fault == "stall":
            time.sleep(self.state.stall)
            self.close_connection = True
        elif "TOO-LONG" in prompt_text(body):
            message = "maximum context length exceeded \x1b[31m"
            self.send(400, {"error": {"message": message, "code": "context_length_exceeded"}})
        elif fault == "truncated":
            self.send(200, complete(body, None), cut=True)
        elif fault == "not-json":
            self.send_bytes(200, b"<html>hello", {}, 11)
        else:
            wrong = random.Random(digest) if fault == "wrong" else None
            self.send(200, complete(body, wrong))
        return fault is None

    def authorised(self) -> bool:
        given = self.headers.get("Authorization", "")
        if self.state.key and given != f"Bearer {self.state.key}":
            self.send(401, {"error": {"message": f"Incorrect API key provided: {given}"}})
            return False
        return True

    def reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def send(
        self, status: int, value: Any, headers: dict[str, str] | None = None, cut: bool = False
    ) -> None:
        body = json.dumps(value).encode()
        self.send_bytes(status, body[: len(body) // 2] if cut else body, headers or {}, len(body))
        if cut:
            self.close_connection = True

    def send_bytes(self, status: int, body: bytes, headers: dict[str, str], length: int) -> None:
        given = self.headers.get("Authorization", "none")
        all_headers = {
            "Content-Type": "application/json",
            "Content-Length": str(length),
            "X-Request-Id": given,  # no server should do this
            **headers,
        }
        head = f"HTTP/1.1 {status} Whatever\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in all_headers.items())
        try:
            self.wfile.write(head.encode() + b"\r\n" + body)
        except OSError:
            self.close_connection = True

    def finish(self) -> None:
        with contextlib.suppress(OSError):
            super().finish()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_: Any) -> None: ...


class ServerProcess:
    """The server, started as a process and stopped at the end of a ``with`` block."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.log = folder / "server.jsonl"
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        self._command = [sys.executable, __file__, f"--log={self.log}", *arguments]
        self.process: subprocess.Popen[str] | None = None
        self.url = ""

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def entries(self) -> list[dict[str, Any]]:
        """What it has logged."""
        if not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key", default="")
    parser.add_argument("--owner", default="somebody")
    parser.add_argument("--flaky", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stall", type=float, default=2.0)
    parser.add_argument("--always", default="")
    parser.add_argument("--delay", type=float, default=0.0)
    options = vars(parser.parse_args())
    port = options.pop("port")
    handler = type("Bound", (Handler,), {"state": State(**options)})
    server = Server(("127.0.0.1", port), handler)
    print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)  # noqa: T201
    server.serve_forever()


if __name__ == "__main__":
    main()
