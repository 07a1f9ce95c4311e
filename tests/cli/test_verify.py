from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run


def test_a_sound_index_is_said_to_be_sound(run: Run, docs: Path) -> None:
    run("sync", docs)
    outcome = run("verify", docs)
    assert outcome.code == 0
    assert outcome.out.startswith("sound: 2 documents and 2 chunks checked in ")
    assert json.loads(run("verify", docs, "--json").out)["ok"] is True


def test_an_index_that_was_never_made_is_sound_and_says_so(run: Run, docs: Path) -> None:
    outcome = run("verify", docs)
    assert outcome.code == 0
    assert outcome.err == f"nothing is indexed yet: firstlight sync {docs}\n"


def test_damage_is_found_and_repaired(run: Run, docs: Path, home: Path) -> None:
    state = home / "index"
    run("sync", docs, "--state", state)
    with sqlite3.connect(state / "corpus.db") as database:
        database.execute("DELETE FROM chunks WHERE rowid = 1")
    database.close()
    found = run("verify", docs, "--state", state)
    assert found.code == 1
    assert found.out
    assert f"firstlight verify {docs} --state {state} --repair" in found.err
    repaired = run("verify", docs, "--state", state, "--repair")
    assert repaired.code == 0
    assert "sound again" in repaired.out
    assert run("verify", docs, "--state", state).code == 0
    assert run("search", docs, "coffee", "--state", state).code == 0
