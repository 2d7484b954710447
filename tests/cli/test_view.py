"""The command view, in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from nongrata.runner import run_study
from studies import Silent, loaded, small_study


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("view") / "run"
    run_study(loaded(small_study()), folder, Silent())
    return folder


def view(*arguments: object, browser: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "nongrata", "view", *map(str, arguments)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"BROWSER": browser},
    )


def test_it_says_where_it_is_serves_and_ends_quietly(run: Path) -> None:
    with view(run, "--no-browser", "--port", 0) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.fullmatch(r"viewing (http://127\.0\.0\.1:\d+/) \(Ctrl-C ends it\)\n", line)
        assert found is not None, line
        with urlopen(f"{found[1]}api/overview", timeout=30) as response:
            assert response.status == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert (out, err.strip()) == ("", "")


def test_it_opens_the_browser_and_serves_it_while_it_is_open(run: Path) -> None:
    fetch = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).status, sys.argv[1])"
    with view(run, "--port", 0, browser=f"{sys.executable} -c '{fetch}' %s") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = process.stderr.readline().split()[1]
        assert process.stdout.readline() == f"200 {address}\n"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("where", "said"),
    [("nowhere", "this is no run directory"), ("memory://a/b", "on this machine only")],
)
def test_what_cannot_be_viewed_is_one_sentence(where: str, said: str) -> None:
    with view(where, "--no-browser", "--port", 0) as process:
        _, err = process.communicate(timeout=30)
    assert process.returncode == 2
    assert said in err
    assert err.count("\n") == 1
