"""A connection to a server: a client of the `openai` library, living in an event loop of its own.

The engine is called from ordinary code and waits for a whole batch; inside, as many requests are
under way as the server bears. Each request waits for its own response, so none can be mixed up.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nongrata.engines.openai_http import Address, HttpClient
from nongrata.engines.openai_lanes import InFlight, Lanes
from nongrata.engines.openai_troubles import MalformedError, Trouble, WithheldError
from nongrata.engines.openai_usage import Observed
from nongrata.errors import NongrataError
from nongrata.terminal import shorten

_MALFORMED_ATTEMPTS = 4
_AGAIN = "run the same command again; finished answers are kept"


@dataclass(frozen=True, slots=True)
class Call:
    """A request to be sent.

    Parameters
    ----------
    index
        Its place in the batch.
    path
        ``"/chat/completions"``.
    body
        What is sent.
    read
        Makes of the answer's JSON what is wanted of it; raises MalformedError or WithheldError.
    """

    index: int
    path: str
    body: Mapping[str, Any]
    read: Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class Finished:
    """What became of a call: what was read from its answer, or why there is none."""

    index: int
    result: Any = None
    error: str | None = None


class Connection:
    """A server, asked over a pool of connections that is kept from batch to batch.

    Parameters
    ----------
    address
        The server.
    observed
        Told of every answer.
    notify
        Told what a user should know.
    expected
        Name that every answer must carry as its model; None: any.
    """

    def __init__(
        self,
        address: Address,
        observed: Observed,
        notify: Callable[[str], None] | None = None,
        expected: str | None = None,
    ) -> None:
        self.address = address
        self.observed = observed
        self._notify = notify
        self._expected = expected
        self._lanes: dict[str, Lanes] = {}
        self._answered = False  # whether any request of ours was ever answered
        self._last_answer = float("-inf")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._client: HttpClient | None = None
        self._logs = contextlib.ExitStack()

    def open(self) -> None:
        """Start the event loop and the client; nothing is sent yet."""
        self._logs.enter_context(self.address.key.kept_out_of_logs())
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="openai-requests", daemon=True
        )
        self._thread.start()
        try:
            self._client = self._run(self._open_client())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close all connections and end the thread."""
        if self._loop is None or self._thread is None:
            return
        try:
            if self._client is not None:
                self._run(self._client.close())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._loop = self._thread = self._client = None
            self._logs.close()

    def get(self, path: str) -> Mapping[str, Any]:
        """Fetch something that is no answer of the model; Trouble if that fails."""
        found: Mapping[str, Any] = self._run(self._get(path))
        return found

    def ask(self, calls: Sequence[Call], reading: str) -> Generator[Finished]:
        """Send requests, and yield each as it finishes.

        Parameters
        ----------
        calls
            The requests, in the order in which they are best sent.
        reading
            Requests of one reading share a limit of requests under way.

        Raises
        ------
        NongrataError
            If no request can be answered any more.
        """
        loop = self._loop
        if loop is None:
            raise RuntimeError("the engine is used outside its 'with' block")
        results: queue.SimpleQueue[Finished | asyncio.Task[None]] = queue.SimpleQueue()
        started: list[asyncio.Task[None]] = []

        def start() -> None:
            task = loop.create_task(self._send_all(calls, reading, results))
            task.add_done_callback(results.put)
            started.append(task)

        def cancel() -> None:
            started[0].cancel()  # started before this is called, in the same loop

        ended = False
        loop.call_soon_threadsafe(start)
        try:
            while True:
                item = results.get()
                if isinstance(item, asyncio.Task):
                    ended = True
                    _raise_first(item)
                    return
                yield item
        finally:
            # Also after an interrupt: nothing may be under way when the engine is left.
            if not ended:
                loop.call_soon_threadsafe(cancel)
                while not isinstance(results.get(), asyncio.Task):
                    pass

    def report(self) -> dict[str, Any]:
        """What is worth recording of how requests were sent, as JSON values."""
        return {
            "most_in_flight": {
                reading: lanes.limit.highest for reading, lanes in self._lanes.items()
            },
        }

    def _run(self, work: Any) -> Any:
        assert self._loop is not None
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    @property
    def _the_client(self) -> HttpClient:
        assert self._client is not None
        return self._client

    async def _open_client(self) -> HttpClient:
        return HttpClient(self.address)

    async def _get(self, path: str) -> Mapping[str, Any]:
        began = time.monotonic()
        attempt = 1
        while True:
            try:
                return await self._the_client.get(path)
            except (Trouble, MalformedError) as error:
                trouble = (
                    error
                    if isinstance(error, Trouble)
                    else Trouble("malformed", str(error), again=True)
                )
                self.observed.troubles[trouble.kind] += 1
                wait = self.address.patience.wait(attempt, time.monotonic() - began, trouble.wait)
                # a server that is not there at the start is most likely a wrong address
                if not trouble.again or wait is None or (trouble.stop and attempt > 1):
                    raise trouble from None
                await asyncio.sleep(wait)
                attempt += 1

    async def _send_all(
        self, calls: Sequence[Call], reading: str, results: queue.SimpleQueue[Any]
    ) -> None:
        if reading not in self._lanes:
            self._lanes[reading] = Lanes(InFlight(self.address.most))
        lanes = self._lanes[reading]
        self._last_answer = max(self._last_answer, time.monotonic())
        try:
            async with asyncio.TaskGroup() as group:
                for call in calls:
                    await lanes.enter()
                    group.create_task(self._answer(call, lanes, results))
        except BaseException:
            del self._lanes[reading]  # a task that was ended before it began has kept its lane
            raise

    async def _answer(self, call: Call, lanes: Lanes, results: queue.SimpleQueue[Any]) -> None:
        """One request until it is answered or given up; enters with a lane, leaves without."""
        began = time.monotonic()
        attempt = malformed = 0
        while True:
            attempt += 1
            sent = time.monotonic()
            try:
                answer = await self._the_client.post(call.path, call.body)
                self._observe(answer)
                result = call.read(answer)
            except Trouble as error:
                trouble = error
            except WithheldError as error:
                trouble = Trouble("withheld", str(error))
                self._note_answer()
            except MalformedError as error:
                malformed += 1
                trouble = Trouble(
                    "malformed", str(error), again=malformed < _MALFORMED_ATTEMPTS,
                    stop="at_first", fix="check that this server can do it, with this model",
                )  # fmt: skip
            else:
                now = time.monotonic()
                self._note_answer()
                lanes.limit.answered(now - sent, now)
                results.put(Finished(call.index, result))
                return
            finally:
                # an interrupt comes here too
                lanes.leave()
            wait = self._after(trouble, attempt, began, sent, lanes)
            if wait is None:
                sentence = self.address.key.redact(trouble.sentence)
                results.put(Finished(call.index, error=sentence))
                return
            await asyncio.sleep(wait)
            await lanes.enter()

    def _note_answer(self) -> None:
        self._answered = True
        self._last_answer = time.monotonic()

    def _observe(self, answer: Mapping[str, Any]) -> None:
        changed = self.observed.add(answer)
        if changed and self._notify is not None:
            self._notify(self.address.key.redact(changed))
        name = answer.get("model")
        if self._expected is not None and name != self._expected:
            raise Trouble(
                "model",
                f"the server answers as {shorten(str(name), 100)!r}, and answers_as is "
                f"{self._expected!r}",
                stop="always",
                fix="ask for that model by name, or give another --out and another answers_as",
            )

    def _after(
        self, trouble: Trouble, attempt: int, began: float, sent: float, lanes: Lanes
    ) -> float | None:
        """Seconds to wait before the next attempt; None to give the request up.

        Raises
        ------
        NongrataError
            If every further request would end like this one.
        """
        now = time.monotonic()
        self.observed.troubles[trouble.kind] += 1
        if trouble.busy:
            lanes.limit.refused(sent, now)
        if trouble.stop == "always" or (
            trouble.stop == "at_first" and not trouble.again and not self._answered
        ):
            raise self._stopped(trouble)
        wait = self.address.patience.wait(attempt, now - began, trouble.wait)
        if trouble.wait is not None:
            if trouble.wait > self.address.patience.seconds:
                raise self._stopped(trouble, f"the server asks to wait {trouble.wait:,.0f} s")
            lanes.close_for(trouble.wait)
        silent = self._last_answer <= began or not self._answered
        if trouble.kind == "connect" and wait is None and silent:
            # while it was tried nothing else was answered either: the server is gone
            raise self._stopped(trouble)
        return wait if trouble.again else None

    def _stopped(self, trouble: Trouble, why: str = "") -> NongrataError:
        what = self.address.key.redact(why or trouble.sentence)
        return NongrataError(what, where=self.address.where, fix=trouble.fix or _AGAIN)


def _raise_first(task: asyncio.Task[None]) -> None:
    """Raise what ended a task, out of the groups it is wrapped in."""
    if task.cancelled():
        raise RuntimeError("the requests were cancelled")
    error = task.exception()
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if error is not None:
        raise error from None
