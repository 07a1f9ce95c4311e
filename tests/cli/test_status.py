from __future__ import annotations

import json
from typing import TYPE_CHECKING

from firstlight.corpus.reports import Status

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from .conftest import Run


def test_before_the_first_sync_status_says_how_to_begin(run: Run, docs: Path, home: Path) -> None:
    outcome = run("status", docs)
    assert outcome.code == 0
    assert "synced      never" in outcome.out
    assert outcome.err == f"nothing is indexed yet: firstlight sync {docs}\n"
    assert not (home / "state").exists()


def test_a_first_sync_that_was_interrupted_is_said_to_be_unfinished(
    run: Run, docs: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("sync", docs)
    half = Status(state=str(home), root=str(docs), documents=1, chunks=1, generation=1)
    monkeypatch.setattr("firstlight.corpus.Corpus.status", lambda _: half)
    assert run("status", docs).err == f"the first sync is not finished: firstlight sync {docs}\n"


def test_status_says_what_is_indexed_and_where(run: Run, docs: Path, home: Path) -> None:
    run("sync", docs)
    outcome = run("status", docs)
    assert outcome.code == 0
    assert f"folder      {docs}" in outcome.out
    assert f"index       {home / 'state'}" in outcome.out
    assert "documents   2\n" in outcome.out
    assert "errors      none\n" in outcome.out
    assert outcome.err == ""


def test_status_names_what_could_not_be_indexed(run: Run, docs: Path) -> None:
    (docs / "bad\x1b[2J.md").write_bytes(b"\x00\x01 not text")
    run("sync", docs)
    outcome = run("status", docs)
    assert "errors      1\n" in outcome.out
    assert r"  bad\x1b[2J.md: " in outcome.out
    assert json.loads(run("status", docs, "--json").out)["errors"][0]["path"] == "bad\x1b[2J.md"
