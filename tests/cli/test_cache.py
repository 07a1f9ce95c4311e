from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import pytest

from firstlight.embed.cache import VectorCache
from firstlight.embed.inputs import input_hash

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run


@pytest.fixture
def path(home: Path) -> Path:
    """A cache with three vectors of one model and one of another."""
    file = home / "state" / "vectors.db"
    row = np.eye(1, 4, dtype=np.float32)
    with closing(VectorCache(file)) as cache:
        cache.put_many("mini@1", {input_hash(text): row for text in "ab"}, name="mini")
        cache.put_many("mini@2", {input_hash("a"): row}, name="mini")
        cache.put_many("large@1", {input_hash("a"): row}, name="large\x1b[2J")
    return file


def test_an_empty_cache_has_nothing_and_is_not_made(run: Run, home: Path) -> None:
    outcome = run("cache", "status")
    assert outcome.code == 0
    assert "vectors  0\n" in outcome.out
    assert run("cache", "clear").out == "dropped 0 vectors\n"
    assert not (home / "state").exists()


@pytest.mark.parametrize("words", [["cache"], ["cache", "status"]])
def test_status_says_what_there_is_of_which_models(run: Run, path: Path, words: list[str]) -> None:
    outcome = run(*words)
    assert outcome.code == 0
    assert f"cache    {path}\n" in outcome.out
    assert "vectors  4\n" in outcome.out
    assert " of 1 GB at most\n" in outcome.out
    assert "  mini: 2 vectors, 32 bytes (mini@1)\n" in outcome.out
    assert "  large\\x1b[2J: 1 vector, 16 bytes (large@1)\n" in outcome.out
    assert outcome.err == ""


def test_status_in_json(run: Run, path: Path) -> None:
    stats = json.loads(run("cache", "status", "--json").out)
    assert stats["path"] == str(path)
    assert stats["entries"] == 4
    assert stats["max_bytes"] == 1_000_000_000
    assert stats["size"] > 0
    assert stats["models"][0] == {"name": "mini", "fingerprint": "mini@1", "entries": 2, "bytes": 32}


def test_the_bound_is_the_users_own(run: Run, path: Path, home: Path) -> None:
    (home / "config.toml").write_text('[cache]\nmax_size = "200 MB"\n')
    assert " of 200 MB at most\n" in run("cache").out


def test_clear_drops_everything(run: Run, path: Path) -> None:
    outcome = run("cache", "clear")
    assert (outcome.code, outcome.out, outcome.err) == (0, "dropped 4 vectors\n", "")
    assert "vectors  0\n" in run("cache").out


@pytest.mark.parametrize(("model", "dropped"), [("mini", 3), ("mini@2", 1)])
def test_clear_drops_one_model_by_name_or_fingerprint(run: Run, path: Path, model: str, dropped: int) -> None:
    outcome = run("cache", "clear", "--model", model, "--json")
    assert json.loads(outcome.out) == {"path": str(path), "dropped": dropped}
    assert f"vectors  {4 - dropped}\n" in run("cache").out


def test_a_model_that_is_not_there_is_an_error_that_names_those_that_are(run: Run, path: Path) -> None:
    outcome = run("cache", "clear", "--model", "maxi")
    assert outcome.code == 2
    assert "nothing of 'maxi'; it has large\\x1b[2J, mini" in outcome.err
    assert "vectors  4\n" in run("cache").out
    run("cache", "clear")
    assert "it is empty" in run("cache", "clear", "--model", "maxi").err


def test_a_damaged_cache_begins_anew_with_a_warning(run: Run, path: Path) -> None:
    path.write_bytes(b"no database")
    outcome = run("cache")
    assert outcome.code == 0
    assert "vectors  0\n" in outcome.out
    assert outcome.err.startswith("warning: ")
    assert outcome.err.count("\n") == 1


def test_a_cache_that_cannot_be_opened_is_a_plain_error(run: Run, home: Path) -> None:
    (home / "state" / "vectors.db").mkdir(parents=True)
    outcome = run("cache")
    assert outcome.code == 2
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
