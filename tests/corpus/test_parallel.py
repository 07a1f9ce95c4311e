"""What two processes prepare is what one prepares; and the second outlives nobody."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from firstlight.corpus import parallel
from firstlight.corpus.config import Config
from firstlight.corpus.parallel import prepare_all
from firstlight.corpus.prepare import Prepared, Refused, prepare

COUNT = 230


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(COUNT):
        text = (
            f"---\ntitle: Page {number}\ntags: [a, é]\nseen: 2026-01-0{number % 9 + 1}\n---\n# Head\n\n"
            + "Words. " * number
        )
        (tmp_path / f"p{number:03}.md").write_text(text, encoding="utf-8")
    (tmp_path / "p007.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "p120.md").write_text("---\ntitle: [\n---\n")
    return tmp_path


@pytest.fixture
def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def comparable(outcome: Prepared | Refused) -> list[object]:
    """JSON makes lists of tuples; nothing else may differ."""
    if isinstance(outcome, Refused):
        return list(outcome)
    chunks = [
        [list(value) if isinstance(value, tuple) else value for value in chunk] for chunk in outcome.chunks
    ]
    return [*outcome[:7], list(outcome.tags), chunks]


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    monkeypatch.setattr(parallel, "_may_fork", lambda: True)


@pytest.mark.usefixtures("two_cores")
def test_two_processes_prepare_what_one_does_in_the_same_order(folder: Path, names: list[str]) -> None:
    alone = [comparable(prepare(str(folder), name, Config())) for name in names]
    assert [comparable(each) for each in prepare_all(str(folder), names, Config())] == alone
    assert sum(isinstance(each, Refused) for each in prepare_all(str(folder), names, Config())) == 2


@pytest.mark.usefixtures("two_cores")
def test_a_second_process_that_dies_leaves_nothing_undone(
    folder: Path, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "_serve", lambda *_: os._exit(1))
    assert len(list(prepare_all(str(folder), names, Config()))) == len(names)


@pytest.mark.usefixtures("two_cores")
def test_stopping_early_ends_the_second_process(folder: Path, names: list[str]) -> None:
    with closing(prepare_all(str(folder), names, Config())) as outcomes:
        next(outcomes)
        children = Path(f"/proc/self/task/{os.getpid()}/children")
        if children.exists():
            assert children.read_text().split()
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_process_with_threads_does_not_fork() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        assert not parallel._may_fork()
    finally:
        stop.set()
        thread.join()


@pytest.mark.skipif(sys.platform != "linux", reason="only there are files prepared in two processes")
def test_the_second_process_does_not_outlive_a_killed_first(folder: Path, names: list[str]) -> None:
    code = (
        "import sys, time\n"
        "from firstlight.corpus import parallel\n"
        "from firstlight.corpus.config import Config\n"
        "parallel._may_fork = lambda: True\n"
        f"outcomes = parallel.prepare_all({str(folder)!r}, {names!r}, Config())\n"
        "next(outcomes)\n"
        "import os\n"
        "print(open(f'/proc/self/task/{os.getpid()}/children').read(), flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        second = int(first.stdout.readline())
        first.kill()
    deadline = time.monotonic() + 20
    while _lives(second) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _lives(second)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "State:\tZ" not in Path(f"/proc/{process}/status").read_text()
