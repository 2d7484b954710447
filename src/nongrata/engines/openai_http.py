"""Requests to a server, one at a time: sent with the `openai` library, errors put into words."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any

from nongrata.engines.openai_secrets import Key
from nongrata.engines.openai_troubles import (
    MalformedError,
    Patience,
    Trouble,
    said,
    status_trouble,
)
from nongrata.errors import MissingExtraError
from nongrata.terminal import shorten

_CONNECT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is and how it is to be treated.

    Parameters
    ----------
    base_url
        Where its API begins.
    key, variable
        The key, and the environment variable that holds it.
    where
        Place in the study that errors name.
    timeout
        Seconds to wait for one response.
    most
        Most requests under way at once.
    patience
        How often and how long a request is tried.
    """

    base_url: str
    key: Key
    variable: str | None
    where: str
    timeout: float
    most: int
    patience: Patience


class HttpClient:
    """A client of the openai library; to be made and used in one event loop.

    Parameters
    ----------
    address
        The server.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._openai = import_openai()
        self._http = _http_library(self._openai)
        self._options: Any = {}
        if not address.key:
            self._options = {"headers": {"Authorization": self._openai.Omit()}}
        self._client = self._make_client()

    async def get(self, path: str) -> Mapping[str, Any]:
        """Fetch JSON; Trouble or MalformedError if there is none."""
        return await self._exchange(
            self._client.get(path, cast_to=self._http.Response, options=self._options)
        )

    async def post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send JSON and return the JSON of the answer; Trouble or MalformedError otherwise."""
        return await self._exchange(
            self._client.post(path, cast_to=self._http.Response, body=body, options=self._options)
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()

    def _make_client(self) -> Any:
        address, openai = self.address, self._openai
        timeout = openai.Timeout(
            address.timeout, connect=min(_CONNECT_SECONDS, address.timeout), pool=None
        )
        omitted = ("OpenAI-Organization", "OpenAI-Project")  # else taken from the environment
        return openai.AsyncOpenAI(
            base_url=address.base_url,
            api_key=address.key.reveal() or "none",
            max_retries=0,  # the lanes must see every refusal
            timeout=timeout,
            default_headers=dict.fromkeys(omitted, openai.Omit()),
            http_client=openai.DefaultAsyncHttpxClient(
                timeout=timeout,
                follow_redirects=False,
                limits=self._http.Limits(
                    max_connections=address.most, max_keepalive_connections=address.most
                ),
            ),
        )

    async def _exchange(self, request: Awaitable[Any]) -> Mapping[str, Any]:
        """Await a response and return its JSON; Trouble or MalformedError otherwise."""
        openai, address = self._openai, self.address
        try:
            async with asyncio.timeout(address.timeout):
                response = await request
        except openai.APIStatusError as error:
            there = error.response
            raise status_trouble(
                there.status_code, there.headers, there.content, address.key, address.variable
            ) from None
        except (openai.APITimeoutError, TimeoutError):
            raise Trouble(
                "timeout", f"no answer within {address.timeout:g} s", again=True, busy=True
            ) from None
        except openai.APIConnectionError as error:
            raise self._broken_connection(error) from None
        except openai.OpenAIError as error:
            name = type(error).__name__
            raise Trouble("client", f"the request failed ({name})", again=True) from None
        except (self._http.InvalidURL, UnicodeError) as error:
            raise Trouble(
                "request", f"the request cannot be sent ({type(error).__name__})"
            ) from None
        try:
            answer = json.loads(address.key.redact_answer(response.content))
        except (ValueError, RecursionError):
            raise MalformedError("the server's answer is not JSON") from None
        if not isinstance(answer, dict):
            raise MalformedError("the server's answer is not a JSON object")
        if answer.get("error"):
            raise self._error_in_answer(answer, response.headers)
        return answer

    def _broken_connection(self, error: BaseException) -> Trouble:
        cause = error.__cause__
        what = shorten(self.address.key.redact(str(cause or error)), 150)
        name = type(cause or error).__name__
        if isinstance(cause, self._http.ConnectError | self._http.ConnectTimeout):
            return Trouble(
                "connect",
                f"there is no server at {self.address.base_url} ({what or name})",
                again=True,
                stop="at_first",
                fix="start it, or correct base_url",
            )
        return Trouble("connection", f"the connection broke ({name}: {what})", again=True)

    def _error_in_answer(self, answer: Mapping[str, Any], headers: Mapping[str, str]) -> Trouble:
        """Some servers say 200 and put the error into the answer."""
        error = answer["error"]
        code = error.get("code") if isinstance(error, Mapping) else None
        body = json.dumps(answer)
        if isinstance(code, int) and 300 <= code < 600:
            return status_trouble(code, headers, body, self.address.key, self.address.variable)
        return Trouble("error", f"the server says: {said(body, self.address.key)}")


def import_openai() -> Any:
    """The openai module, or an error that says how to install it."""
    try:
        import openai
    except ImportError as error:
        raise MissingExtraError("openai", "the engine openai") from error
    return openai


def _http_library(openai: Any) -> Any:
    """The HTTP library that the openai library stands on: httpx, or its successor."""
    lineage = openai.DefaultAsyncHttpxClient.__mro__
    own = next(base for base in lineage if base.__module__.partition(".")[0] != "openai")
    return sys.modules[own.__module__.partition(".")[0]]
