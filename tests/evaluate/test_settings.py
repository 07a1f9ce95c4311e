from __future__ import annotations

import os
import tomllib
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from firstlight.corpus.trust import is_trusted, trust
from firstlight.errors import ConfigError
from firstlight.evaluate import save_weight
from firstlight.evaluate.settings import with_weight

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRSTLIGHT_CONFIG", str(tmp_path / "config" / "config.toml"))


TRAPS = [
    "# [hybrid]",
    "# weight = 0.9",
    'exclude = ["[hybrid]", "weight = 0.1"]',
    'note = """\n[hybrid]\nweight = 0.1\n"""',
    "other = '''\nhybrid.weight = 0.1\nhybrid = { weight = 0.2 }\n'''",
    "nested = [\n  [1, 2],  # ]\n]",
    "n = nan",
    "when = 2026-01-31",
]
TABLES = [
    "[chunks]\nweight = 7\noverlap = 0.1 # [hybrid]",
    "[lexical.hybrid]\nweight = 0.3",
    "[[alerts]]\nweight = 1\n[[alerts]]\nhybrid = { weight = 0.1 }",
    "[ 'a.b' ]\nhybrid.weight = 2",
]
ROOTS = [
    "",
    "hybrid.weight = 0.5",
    "  hybrid . 'weight' = 5e-1",
    "hybrid.floor = 0.2  # kept",
    "hybrid = { floor = 0.2, weight = 1 }  # kept",
    '"hybrid" = {}',
    "hybrid = { floor = 0.2 }",
]
HEADED = [
    "",
    "[hybrid]",
    "[hybrid]  # a comment\nfloor = 0.2\nweight = 0.4_5 # why\n# weight = 0.7",
    "  [ 'hybrid' ]\n  'weight' = 1e-1",
    "[hybrid]\nfloor = 0.2",
    "[hybrid.more]\nweight = 3",
]


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Return settings with traps, and the table in one of the ways that TOML has for it, or not at all."""
    root = draw(st.sampled_from(ROOTS))
    headed = "" if root else draw(st.sampled_from(HEADED))
    above = [root, *draw(st.lists(st.sampled_from(TRAPS), unique=True))]
    below = [headed, *draw(st.lists(st.sampled_from(TABLES), unique=True))]
    lines = [*draw(st.permutations(above)), *draw(st.permutations(below))]
    gap = draw(st.sampled_from(["\n", "\n\n", "\n# weight = 1\n"]))
    text = gap.join(line for line in lines if line) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def common(one: str, other: str) -> int:
    """Return how many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


weights = st.sampled_from([0.0, 0.05, 0.35, 1.0, 1e-05])


@settings(max_examples=300)
@given(documents(), weights)
@example("# [hybrid]\r\nhybrid.floor = 0.2", 0.35)
def test_one_key_changes_and_every_other_byte_stays(text: str, weight: float) -> None:
    before = tomllib.loads(text)
    after = with_weight(text, weight)
    found = tomllib.loads(after)
    assert found["hybrid"].pop("weight") == weight
    had = "weight" in before.get("hybrid", {})
    before.setdefault("hybrid", {}).pop("weight", None)
    assert repr(found.pop("hybrid")) == repr(before.pop("hybrid"))
    assert repr(found) == repr(before)
    start = common(text, after)
    end = common(text[start:][::-1], after[start:][::-1])
    gone, came = text[start : len(text) - end], after[start : len(after) - end]
    assert (len(gone) <= 5) if had else (gone == "")
    assert len(came) <= len("\r\n\r\n[hybrid]\r\nweight = 1e-05\r\n")
    if "\r\n" in text:
        assert "\n" not in after.replace("\r\n", "")
    assert with_weight(after, weight) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[hybrid]\nweight = 0.35\n"),
        ("a = 1", "a = 1\n\n[hybrid]\nweight = 0.35\n"),
        ("a = 1\r\n", "a = 1\r\n\r\n[hybrid]\r\nweight = 0.35\r\n"),
        ("a = 1\n\n", "a = 1\n\n[hybrid]\nweight = 0.35\n"),
        ("[hybrid]", "[hybrid]\nweight = 0.35"),
        ("[hybrid] # x\nb = 1\n", "[hybrid] # x\nweight = 0.35\nb = 1\n"),
        ("hybrid.b = 1\n[c]\n", "hybrid.weight = 0.35\nhybrid.b = 1\n[c]\n"),
        ("hybrid = {}\n", "hybrid = {weight = 0.35 }\n"),
        ("hybrid = { b = 1 }\n", "hybrid = { weight = 0.35, b = 1 }\n"),
        ("[hybrid]\nweight = 0.350\n", "[hybrid]\nweight = 0.350\n"),
        ("[hybrid]\nweight = 1\n", "[hybrid]\nweight = 0.35\n"),
    ],
)
def test_the_key_goes_where_it_belongs(before: str, after: str) -> None:
    assert with_weight(before, 0.35) == after


@pytest.mark.parametrize("text", ["a = ", "hybrid = 3\n", "[[hybrid]]\n", "[hybrid]\nweight = 'much'\n"])
def test_what_is_not_understood_is_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "firstlight.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"write it by hand: weight = 0\.35 under \[hybrid\]"):
        save_weight(tmp_path, 0.35)
    assert file.read_text() == text


def test_the_file_is_made_where_there_is_none(tmp_path: Path) -> None:
    assert save_weight(tmp_path, 0.35) == tmp_path / "firstlight.toml"
    assert (tmp_path / "firstlight.toml").read_bytes() == b"[hybrid]\nweight = 0.35\n"
    assert [path.name for path in tmp_path.iterdir()] == ["firstlight.toml"]


def test_mark_and_permissions_stay(tmp_path: Path) -> None:
    file = tmp_path / "firstlight.toml"
    file.write_bytes(b"\xef\xbb\xbf[hybrid]\r\nweight = 0.5\r\n")
    file.chmod(0o640)
    save_weight(tmp_path, 0.35)
    assert file.read_bytes() == b"\xef\xbb\xbf[hybrid]\r\nweight = 0.35\r\n"
    assert file.stat().st_mode & 0o777 == 0o640


def test_nothing_is_written_where_the_weight_is_there_already(tmp_path: Path) -> None:
    save_weight(tmp_path, 0.35)
    before = (tmp_path / "firstlight.toml").stat()
    save_weight(tmp_path, 0.35)
    after = (tmp_path / "firstlight.toml").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize("trusted", [True, False])
def test_a_trusted_folder_stays_so_and_another_does_not_become_it(tmp_path: Path, trusted: bool) -> None:
    (tmp_path / "firstlight.toml").write_text('embedder = "openai:m"\n')
    if trusted:
        trust(tmp_path)
    save_weight(tmp_path, 0.35)
    assert is_trusted(tmp_path) is trusted


def test_links_other_encodings_and_wrong_weights_are_refused(tmp_path: Path) -> None:
    file, elsewhere = tmp_path / "firstlight.toml", tmp_path / "shared.toml"
    with pytest.raises(ConfigError, match=r"from 0 to 1, not 1\.5"):
        save_weight(tmp_path, 1.5)
    file.write_bytes(b'a = "\xff"\n')
    with pytest.raises(ConfigError, match="is not UTF-8"):
        save_weight(tmp_path, 0.35)
    file.unlink()
    elsewhere.write_text("a = 1\n")
    file.symlink_to(elsewhere)
    with pytest.raises(ConfigError, match="is a link"):
        save_weight(tmp_path, 0.35)
    assert elsewhere.read_text() == "a = 1\n"


def test_a_change_by_somebody_else_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "firstlight.toml"
    file.write_text("a = 1\n")
    sync = os.fsync

    def edited_meanwhile(number: int) -> None:
        sync(number)
        file.write_text("a = 2\n")

    monkeypatch.setattr(os, "fsync", edited_meanwhile)
    with pytest.raises(ConfigError, match="changed by somebody else"):
        save_weight(tmp_path, 0.35)
    assert file.read_text() == "a = 2\n"
    assert [path.name for path in tmp_path.iterdir()] == ["firstlight.toml"]
