"""One writer at a time: who holds a run directory, and that nobody else does.

Locally the lock is the operating system's and goes with the process, however that ends.

An object store has no such thing. There the lock is an object that only one process can create,
and beside it its holder's *sign of life*, renewed every `BEAT` seconds. A process that has not
shown one for `LEASE` seconds may not commit before it has made sure that the lock is still its own;
a lock whose holder has not shown one for `STALE` seconds, longer than that, is taken over. The lock
itself is never renewed, so a process that comes back late cannot overwrite its successor's.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from nongrata.errors import NongrataError
from nongrata.run_files import (
    create,
    creates_exclusively,
    disk_error,
    read_bytes,
    remove,
    write_atomically,
)
from nongrata.run_path import is_memory, is_remote
from nongrata.terminal import visible

LOCK = ".nongrata.lock"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited for what, in seconds.

    Parameters
    ----------
    beat
        Between two signs of life of a holder.
    lease
        Without one for so long, a holder asks before it commits.
    stale
        Without one for so long, a holder is taken to be gone; well above `lease`.
    watch
        How long a stale lock is watched for a sign of life before it is taken over, whatever the
        clocks of two machines say.
    settle
        How long a lock is left alone before it is read back, in stores without a conditional put.
    """

    beat: float = 20.0
    lease: float = 120.0
    stale: float = 240.0
    watch: float = 30.0
    settle: float = 2.0


class Hold(Protocol):
    """A run directory held for writing."""

    def check(self) -> None:
        """Raise if the directory is not held any more."""
        ...


class LocalHold:
    """Held by the operating system, as long as this process lives."""

    def check(self) -> None:
        """Nothing can have taken it."""


@contextmanager
def exclusive(
    folder: Path,
    note: Callable[[str], None] = lambda _: None,
    patience: Patience | None = None,
) -> Iterator[Hold]:
    """Hold a run directory for writing; a second process is told who holds it.

    Parameters
    ----------
    folder
        The run directory, made already.
    note
        Told if another process's lock is taken over.
    patience
        Times to wait; only for stores without locks.

    Raises
    ------
    NongrataError
        If another process holds it.
    """
    if not is_remote(folder):
        with _flock(folder):
            yield LocalHold()
        return
    hold = StoreHold(folder, note, patience or Patience())
    hold.acquire()
    try:
        yield hold
    finally:
        hold.release()


@contextmanager
def _flock(folder: Path) -> Iterator[None]:
    path = folder / LOCK
    try:
        opened = path.open("a+")
    except OSError as error:
        raise disk_error(error, path) from None
    with opened as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            handle.seek(0)
            raise _held(folder, handle.read().strip() or "another process") from None
        handle.seek(0)
        handle.truncate()
        handle.write(f"process {os.getpid()}\n")
        handle.flush()
        yield


def _held(folder: Path, holder: str) -> NongrataError:
    return NongrataError(
        f"this run is being written by {holder}",
        where=folder,
        fix="wait for it to end, or give another --out",
    )


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock.

    Parameters
    ----------
    token
        Known to nobody else.
    process, host
        Who.
    machine
        Tells this boot of this machine (and container) from all others; empty if unknown.
    started
        When the process began, in the machine's own ticks; 0 if unknown.
    since
        When it took the lock, in UTC.
    """

    token: str
    process: int
    host: str
    machine: str
    started: int
    since: str

    def __str__(self) -> str:
        return visible(f"process {self.process} on {self.host} since {self.since[:19]} UTC")[:300]

    def is_dead(self) -> bool:
        """Whether the process ran on this machine and does not any more."""
        here = bool(self.machine) and self.machine == _machine()
        return here and bool(self.started) and self.started != _started(self.process)


class StoreHold:
    """A run directory in an object store, held by a lock object and signs of life.

    Parameters
    ----------
    folder
        The run directory.
    note
        Told what is worth a line.
    patience
        Times to wait.
    """

    def __init__(self, folder: Path, note: Callable[[str], None], patience: Patience) -> None:
        self.folder = folder
        self.patience = patience
        self._note = note
        self._lock = folder / LOCK
        self._own = Holder(
            uuid.uuid4().hex, os.getpid(), socket.gethostname(), _machine(),
            _started(os.getpid()), _clock(),
        )  # fmt: skip
        # what is in this process's memory is seen by its threads only
        self._settling = min(patience.settle, 0.05) if is_memory(folder) else patience.settle
        self._last = time.monotonic()
        self._lost: str | None = None
        self._guard = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def acquire(self) -> None:
        """Take the lock, or say who has it."""
        content = json.dumps(asdict(self._own)).encode()
        if not create(self._lock, content):
            self._take_over(content)
        elif not self._alone(content):
            self._settle()
        self._last = time.monotonic()
        self._beat()
        self._thread = threading.Thread(target=self._live, name="lock", daemon=True)
        self._thread.start()

    def _alone(self, content: bytes) -> bool:
        """Whether the store lets only one process create an object: it must refuse a second."""
        return creates_exclusively(self._lock) and not create(self._lock, content)

    def _settle(self) -> None:
        """Without a conditional put the last of several writers has the lock: see who that is."""
        time.sleep(self._settling)
        holder = self._holder()
        if holder is None or holder.token != self._own.token:
            raise _held(self.folder, str(holder or "another process"))

    def _take_over(self, content: bytes) -> None:
        holder = self._holder()
        if holder is None:
            raise NongrataError(
                "the lock of this run cannot be read",
                where=self._lock,
                fix="try again; if it stays so and no process writes the run, delete this file",
            )
        seen = self._sign_of(holder)
        if not holder.is_dead():
            age = _age(seen or holder.since)
            if age < self.patience.stale:
                raise _held(self.folder, str(holder))
            self._note(f"the run was held by {holder}, silent for {_span(age)}: making sure")
            time.sleep(self.patience.watch)
        # only one process at a time may replace this very lock
        ticket = self.folder / f"{LOCK}.{holder.token}.next"
        if not create(ticket, content):
            raise NongrataError(
                "another process is just taking over this run",
                where=self.folder,
                fix=f"wait for it to end; if there is none, delete {ticket}",
            )
        try:
            if not creates_exclusively(ticket):
                time.sleep(self._settling)
                if read_bytes(ticket) != content:
                    raise _held(self.folder, "another process")
            now = self._holder()
            if now != holder or self._sign_of(holder) != seen:
                raise _held(self.folder, str(now or "another process"))
            write_atomically(self._lock, content)
            remove(self._sign(holder))
        finally:
            with suppress(NongrataError, FileNotFoundError):
                if read_bytes(ticket) == content:
                    remove(ticket)
        self._note(f"the run was held by {holder}, which is gone: taken over")

    def check(self) -> None:
        """Raise unless the directory is surely still held: asked before every commit."""
        if time.monotonic() - self._last > self.patience.lease:
            self._renew()
        if self._lost is not None:
            raise NongrataError(
                self._lost, where=self.folder, fix="run the same command again to go on"
            )

    def _renew(self) -> None:
        with self._guard:
            holder = self._holder()
            if holder is None or holder.token != self._own.token:
                self._lost = (
                    "the lock of this run was removed"
                    if holder is None
                    else f"this run was taken over by {holder}, as no sign of life was seen of "
                    "this process"
                )
                return
            began = time.monotonic()
            self._beat()
            self._last = began

    def _live(self) -> None:
        while not self._stop.wait(self.patience.beat):
            with suppress(NongrataError):  # the store may be away for a while; `check` decides
                self._renew()
            if self._lost is not None:
                return

    def release(self) -> None:
        """Give the lock back, if it is still ours."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        with suppress(NongrataError):  # an error on the way here matters more; the lock ages
            self.check()
            holder = self._holder()
            if holder is not None and holder.token == self._own.token:
                remove(self._lock)
        with suppress(NongrataError):
            remove(self._sign(self._own))

    def _beat(self) -> None:
        write_atomically(self._sign(self._own), _clock().encode())

    def _sign(self, holder: Holder) -> Path:
        return self.folder / f"{LOCK}.{holder.token}"

    def _sign_of(self, holder: Holder) -> str | None:
        try:
            return read_bytes(self._sign(holder)).decode("ascii", "replace")
        except FileNotFoundError:
            return None

    def _holder(self) -> Holder | None:
        try:
            found = Holder(**json.loads(read_bytes(self._lock)))
        except (FileNotFoundError, ValueError, TypeError):
            return None
        numbers, texts = (found.process, found.started), (found.token, found.host, found.since)
        return (
            found
            if all(isinstance(n, int) for n in numbers)
            and all(isinstance(t, str) for t in texts)
            and found.token.isalnum()
            else None
        )


def _clock() -> str:
    return datetime.now(UTC).isoformat()


def _age(since: str) -> float:
    try:
        return (datetime.now(UTC) - datetime.fromisoformat(since)).total_seconds()
    except (ValueError, TypeError):
        return float("inf")


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def _machine() -> str:
    """Name the boot of this machine and the container: processes here can be asked about."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        space = os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116
    except OSError:
        return ""
    return f"{boot}-{space}"


def _started(process: int) -> int:
    """When a process of this machine began; 0 if there is none."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text("ascii", "replace")
        return int(fields.rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0
