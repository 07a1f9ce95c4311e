from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Docs

DRIVER = Path(__file__).with_name("kill_driver.py")


@pytest.mark.parametrize("seed", [1, 2])
def test_a_process_killed_at_any_moment_leaves_a_whole_index(docs: Docs, seed: int) -> None:
    done = subprocess.run(
        [sys.executable, str(DRIVER), str(docs.root), "30", str(seed)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["ok"]
    assert report["syncs"] > 10
    with docs.open() as corpus:
        connection = sqlite3.connect(corpus.state / "corpus.db")
        named = [name for (name,) in connection.execute("SELECT file FROM segments WHERE file IS NOT NULL")]
        connection.close()
        assert sorted(named) == report["files"]
        fresh = [hit.to_dict() for hit in corpus.search("common words", top_k=50)]
    with docs.open(state=docs.root.with_name("fresh")) as corpus:
        corpus.sync()
        assert fresh == [hit.to_dict() for hit in corpus.search("common words", top_k=50)]
