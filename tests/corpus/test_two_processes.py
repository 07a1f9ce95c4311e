"""One process writes, others search: never "database is locked", never half a commit."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from firstlight.store.lock import BusyError, writer_lock

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Docs

# Every round rewrites one document of several chunks, in which every chunk names the round, and a small one
# beside it; each sync is one commit.
WRITER = """
import pathlib, sys
from firstlight import Corpus
from firstlight.lexical import merge
merge.MOST_SEGMENTS = 4  # merges happen all the time
from firstlight.store import segments
segments.FILE_BYTES = 20_000                        # and some segments are files
root = pathlib.Path(sys.argv[1])
with Corpus.open(root) as corpus:
    for number in range(int(sys.argv[2])):
        text = "".join(f"# Part {part}\\n\\n{f'marker round{number} ' * 220}\\n\\n" for part in range(4))
        (root / "big.md").write_text(text)
        (root / f"small{number % 7}.md").write_text(f"small words of round{number}\\n")
        corpus.sync(wait=60)
print("done")
"""
READER = """
import json, pathlib, sys
from firstlight import Corpus
stop = pathlib.Path(sys.argv[2])
answers = wrong = 0
generations = []
while not stop.exists():
    corpus = Corpus.open(sys.argv[1])
    for _ in range(int(sys.argv[3])):
        results = corpus.search("marker", top_k=50)
        generations.append(results.generation)
        rounds = {word for hit in results for word in hit.text.split() if word.startswith("round")}
        parts = {hit.headings for hit in results}
        if results.generation:
            answers += 1
            wrong += len(rounds) != 1 or len(parts) != 4
    corpus.close()
print(json.dumps([answers, wrong, generations == sorted(generations)]))
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_one_process_writes_while_others_search(docs: Docs, tmp_path: Path) -> None:
    stop = tmp_path / "stop"
    readers = [start(READER, docs.root, stop, 50), start(READER, docs.root, stop, 1)]
    writer = start(WRITER, docs.root, 60)
    out, err = writer.communicate(timeout=120)
    stop.touch()
    assert (out, err) == ("done\n", "")
    for reader in readers:
        out, err = reader.communicate(timeout=60)
        assert err == ""
        answers, wrong, in_order = json.loads(out)
        assert answers > 10
        assert (wrong, in_order) == (0, True)
    with docs.open() as corpus:
        assert corpus.verify().findings == ()
        assert corpus.plan().is_empty


def test_two_processes_that_sync_the_same_folder_take_turns(docs: Docs) -> None:
    for number in range(60):
        docs.write(f"{number}.md", f"page {number}\n")
    code = (
        "import sys; from firstlight import Corpus\n"
        "with Corpus.open(sys.argv[1]) as corpus: corpus.sync(wait=60)\n"
    )
    both = [start(code, docs.root) for _ in range(3)]
    assert [process.communicate(timeout=60)[1] for process in both] == ["", "", ""]
    with docs.open() as corpus:
        assert (corpus.status().documents, corpus.status().chunks) == (60, 60)
        assert corpus.verify().findings == ()


def test_a_sync_says_who_holds_the_lock_and_searches_do_not_wait(docs: Docs) -> None:
    docs.write("a.md", "words\n")
    with docs.open() as corpus:
        corpus.sync()
        code = (
            "import sys, time, pathlib\n"
            "from firstlight.store.lock import writer_lock\n"
            "with writer_lock(pathlib.Path(sys.argv[1]), wait=10):\n"
            "    print('held', flush=True); time.sleep(60)\n"
        )
        holder = start(code, corpus.state)
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        try:
            assert corpus.sync(wait=0).unchanged == 1  # nothing to do needs no lock
            docs.write("b.md", "more\n")
            with pytest.raises(BusyError, match=f"process {holder.pid} .*is writing"):
                corpus.sync(wait=0.1)
            assert corpus.search("words")[0].path == "a.md"
        finally:
            holder.kill()
            holder.communicate()
        assert corpus.sync(wait=0).added == 1  # the lock died with its process


def test_a_second_sync_waits_for_the_first(docs: Docs, tmp_path: Path) -> None:
    docs.write("a.md", "words\n")
    with docs.open() as corpus:
        corpus.sync()
        docs.write("b.md", "more\n")
        with writer_lock(corpus.state, wait=0):
            code = (
                "import sys; from firstlight import Corpus\n"
                "with Corpus.open(sys.argv[1]) as corpus: print(corpus.sync(wait=30).added)\n"
            )
            second = start(code, docs.root)
            time.sleep(1.0)
            assert second.poll() is None
        assert second.communicate(timeout=60) == ("1\n", "")
