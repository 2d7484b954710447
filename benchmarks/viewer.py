"""How long a reader of a run of the paper's size waits, and how much memory the viewer takes.

Starts `nongrata view`, and asks as a reader's browser does: the first page from the moment the
command is given and again, every answer to questions spread over the run, before and after the
figures of all questions are counted, and single cells.

Run: python benchmarks/viewer.py RUN [questions]   (benchmarks/paper_run.py makes RUN)
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen


class Viewer:
    """A viewer in a process of its own."""

    def __init__(self, run: Path) -> None:
        self.begun = time.perf_counter()
        command = [
            sys.executable,
            "-m",
            "nongrata",
            "view",
            str(run),
            "--no-browser",
            "--port",
            "0",
        ]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        found = re.search(r"http://\S+/", self.process.stderr.readline())
        assert found is not None
        self.address = found[0].rstrip("/")

    def ask(self, path: str, **values: object) -> tuple[float, Any]:
        """Seconds an address took, and what it said."""
        begun = time.perf_counter()
        with urlopen(f"{self.address}{path}?{urlencode(values)}", timeout=120) as response:
            body = response.read()
        took = time.perf_counter() - begun
        return took, json.loads(body) if path.startswith("/api/") else body

    def first_page(self) -> list[dict[str, Any]]:
        """What a browser asks for to show the first page; its questions."""
        page = self.ask("/")[1].decode()
        for asset in re.findall(r'(?:src|href)="(/assets/[^"]+)"', page):
            self.ask(asset)
        self.ask("/api/overview")
        listed: list[dict[str, Any]] = self.ask("/api/questions")[1]["questions"]
        return listed

    def memory(self) -> float:
        """Most memory resident so far, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1]) / 1000

    def end(self) -> None:
        """Press Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)


def answers_of(viewer: Viewer, questions: list[str]) -> list[float]:
    """Seconds that every answer to each question takes."""
    seconds = []
    for question in questions:
        took, page = viewer.ask("/api/question", id=question)
        assert len(page["fates"]) == len(page["personas"]) * len(page["configurations"])
        seconds.append(took)
    return seconds


def told(name: str, seconds: list[float]) -> None:
    print(f"{name:58} median {median(seconds):6.3f} s, most {max(seconds):6.3f} s")


def main(run: Path, number: int) -> None:
    starts = []
    for _ in range(3):
        viewer = Viewer(run)
        listed = viewer.first_page()
        starts.append(time.perf_counter() - viewer.begun)
        first = answers_of(viewer, [listed[0]["id"]])
        viewer.end()
    told("first page, from the command on (three starts)", starts)
    told("answers to one question, straight after the first page", first)

    viewer = Viewer(run)
    viewer.first_page()
    total = viewer.ask("/api/questions", size=1)[1]["total"]
    spread = [1 + i * max(1, total // (2 * number)) for i in range(min(2 * number, total))]
    ids = [
        viewer.ask("/api/questions", size=1, sort="study", page=page)[1]["questions"][0]["id"]
        for page in spread
    ]
    told("answers to a question while the figures are counted", answers_of(viewer, ids[:number]))
    told("the same questions again", answers_of(viewer, ids[:number]))
    while not viewer.ask("/api/progress")[1]["counting"]["current"]:
        time.sleep(0.2)
    print(
        f"{'figures of all questions counted, after':58} {time.perf_counter() - viewer.begun:.1f} s"
    )
    told("answers to a question once they are counted", answers_of(viewer, ids[number:]))
    orders = ("flips", "option_flips", "right", "id", "study")
    sorting = [viewer.ask("/api/questions", sort=order)[0] for order in orders]
    told("a page of the list in another order", sorting)
    told("a search", [viewer.ask("/api/questions", search=word)[0] for word in ("what", "q1 of")])
    page = viewer.ask("/api/question", id=ids[0])[1]
    cells = [
        ",".join((page["personas"][p], *levels))
        for p, levels in enumerate(page["configurations"][: len(page["personas"])])
    ]
    told("one cell", [viewer.ask("/api/cell", id=ids[0], cell=c)[0] for c in cells[:20]])
    began = time.perf_counter()
    viewer.first_page()
    told("first page, asked for again", [time.perf_counter() - began])
    print(f"{'most memory resident':58} {viewer.memory():.0f} MB")
    viewer.end()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20)
