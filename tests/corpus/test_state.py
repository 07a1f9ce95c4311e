from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from firstlight import Corpus
from firstlight.corpus.places import state_root, user_config_file
from firstlight.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from .conftest import Docs


def test_state_lives_in_the_users_data_folder_by_real_path(docs: Docs, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(docs.root)
    with docs.open() as one, Corpus.open(link) as two:
        assert one.state == two.state
        assert one.state.parent == tmp_path / "state"
        assert one.state.name.startswith("docs-")
    other = tmp_path / "other" / "docs"
    other.mkdir(parents=True)
    with Corpus.open(other) as three:
        assert three.state != one.state


def test_the_users_folders_follow_the_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import platformdirs

    monkeypatch.delenv("FIRSTLIGHT_STATE")
    monkeypatch.delenv("FIRSTLIGHT_CONFIG")
    for data, config in (("", ""), (str(tmp_path / "d"), str(tmp_path / "c")), ("relative", "relative")):
        monkeypatch.setenv("XDG_DATA_HOME", data)
        monkeypatch.setenv("XDG_CONFIG_HOME", config)
        assert state_root() == Path(platformdirs.user_data_dir("firstlight"))
        assert user_config_file() == Path(platformdirs.user_config_dir("firstlight")) / "config.toml"


def test_a_state_inside_the_content_folder_hides_from_git_backups_and_itself(docs: Docs) -> None:
    docs.write("a.md", "words\n")
    docs.write("firstlight.toml", 'state = "index of [mine]"\n')
    with docs.open() as corpus:
        corpus.sync()
        assert corpus.state == docs.root.resolve() / "index of [mine]"
        assert (corpus.state / ".gitignore").read_text() == "*\n"
        assert (
            (corpus.state / "CACHEDIR.TAG")
            .read_text()
            .startswith("Signature: 8a477f597d28d172789f06886806bc55")
        )
        (corpus.state / "note.md").write_text("not a document\n")
        assert corpus.sync().unchanged == 1
        assert corpus.plan().is_empty


def test_a_state_elsewhere_gets_no_marks(docs: Docs, tmp_path: Path) -> None:
    docs.write("a.md", "words\n")
    with docs.open(state=tmp_path / "mine") as corpus:
        corpus.sync()
        assert corpus.state == tmp_path / "mine"
        assert not (corpus.state / ".gitignore").exists()


def test_the_content_folder_itself_or_one_above_is_no_state(docs: Docs) -> None:
    for state in (docs.root, docs.root.parent):
        with pytest.raises(ConfigError, match="holds the documents"):
            docs.open(state=state)
    docs.write("firstlight.toml", 'state = "."\n')
    with pytest.raises(ConfigError, match="holds the documents"):
        docs.open()


def test_a_folder_that_holds_something_else_is_no_state(docs: Docs) -> None:
    docs.write("pictures/cat.png", "x")
    with docs.open(state=docs.root / "pictures") as corpus:
        with pytest.raises(StoreError, match=r"holds other files \('cat.png'\)"):
            corpus.sync()
        assert [file.name for file in (docs.root / "pictures").iterdir()] == ["cat.png"]


def test_the_state_of_another_folder_is_refused(docs: Docs, tmp_path: Path) -> None:
    docs.write("a.md", "words\n")
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.md").write_text("elsewhere\n")
    with docs.open(state=tmp_path / "mine") as corpus:
        corpus.sync()
    with Corpus.open(other, state=tmp_path / "mine") as corpus:
        for use in (corpus.sync, corpus.plan, corpus.status, lambda: corpus.search("words")):
            with pytest.raises(ConfigError, match=f"is the index of {docs.root}"):
                use()


def test_a_folder_that_moved_takes_its_state_along(docs: Docs, tmp_path: Path) -> None:
    docs.write("a.md", "words\n")
    docs.write("firstlight.toml", 'state = ".firstlight"\n')
    with docs.open() as corpus:
        corpus.sync()
    moved = tmp_path / "moved"
    shutil.move(docs.root, moved)
    with Corpus.open(moved) as corpus:
        assert corpus.plan().is_empty
        assert corpus.search("words")[0].path == "a.md"


@pytest.fixture
def nobody() -> int:
    if os.geteuid() != 0:
        pytest.skip("needs root, to become somebody without rights")
    return 65534


def run_as(user: int, code: str) -> str:
    # The interpreter may lie where only root can read: everything is imported before the rights are given up.
    become = (
        "import os, encodings.utf_32_le, firstlight.corpus.corpus, firstlight.corpus.writer\n"
        "import firstlight.corpus.status\n"
        f"os.setgid({user}); os.setuid({user})\n"
    )
    done = subprocess.run([sys.executable, "-c", become + code], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def open_up(folder: Path) -> None:
    for above in (folder, *folder.parents):
        if above.owner() == "root" and above != Path("/"):
            above.chmod(above.stat().st_mode | 0o055)


def test_a_state_that_may_only_be_read_is_still_searched(docs: Docs, nobody: int) -> None:
    docs.write("a.md", "words\n", age=100)
    with docs.open() as corpus:
        corpus.sync()
    open_up(corpus.state)
    open_up(docs.root)
    code = (
        "from firstlight import Corpus, FirstlightError\n"
        f"with Corpus.open({str(docs.root)!r}) as corpus:\n"
        "    print(corpus.sync().unchanged, corpus.search('words')[0].path, corpus.status().documents)\n"
    )
    assert run_as(nobody, code).strip() == "1 a.md 1"
    docs.write("b.md", "more\n")
    assert "StoreError" in run_as(nobody, code)
    assert "permissions" in run_as(nobody, code)


def test_a_content_folder_that_may_only_be_read_is_searched(docs: Docs, nobody: int, tmp_path: Path) -> None:
    docs.write("a.md", "words\n")
    open_up(docs.root)
    (tmp_path / "state").mkdir()
    (tmp_path / "state").chmod(0o777)
    code = (
        "from firstlight import Corpus\n"
        f"with Corpus.open({str(docs.root)!r}) as corpus:\n"
        "    print(corpus.sync().added, corpus.search('words')[0].path)\n"
    )
    assert run_as(nobody, code).strip() == "1 a.md"


LINKS = {
    "segments": True,
    "writer.txt": False,
    "writer.lock": False,
    ".gitignore": False,
    "corpus.db.new": False,
}


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("synced", [False, True])
def test_a_state_that_came_with_links_writes_and_sweeps_nothing_elsewhere(
    docs: Docs, tmp_path: Path, name: str, synced: bool
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious.txt").write_text("precious")
    docs.write("firstlight.toml", 'state = ".index"\n')
    docs.write("a.md", "words\n")
    state = docs.root / ".index"
    if synced:
        with docs.open() as corpus:
            corpus.sync()
    state.mkdir(exist_ok=True)
    (state / name).unlink(missing_ok=True)
    (state / name).symlink_to(elsewhere if LINKS[name] else elsewhere / "precious.txt")
    docs.write("b.md", "more words\n")
    with docs.open() as corpus:
        for use in (corpus.sync, lambda: corpus.sync(rebuild=True), lambda: corpus.verify(repair=True)):
            if synced or use == corpus.sync:
                with pytest.raises(StoreError, match=f"{name}: is a link"):
                    use()
        assert (elsewhere / "precious.txt").read_text() == "precious"
        (state / name).unlink()
        corpus.sync(rebuild=True)
        assert corpus.search("more")[0].path == "b.md"


def test_a_sweep_leaves_files_of_others_alone(docs: Docs, tmp_path: Path) -> None:
    docs.write("a.md", "words\n")
    with docs.open() as corpus:
        corpus.sync()
        home = corpus.state / "segments"
        home.mkdir()
        (home / "note.txt").write_text("mine")
        (home / "0123456789abcdef.seg").write_text("left by a crash")
        corpus.sync(rebuild=True)
        assert [file.name for file in home.iterdir()] == ["note.txt"]
