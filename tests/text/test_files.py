"""One walk: what is found, what is passed over and why, and what a link may do."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.errors import DocumentError
from firstlight.text.files import Walk, walk


def build(root: Path, *names: str) -> Path:
    for name in names:
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    return root


def paths(found: Walk) -> list[str]:
    return [entry.path for entry in found.files]


def reasons(found: Walk) -> dict[str, str]:
    return {entry.path: entry.reason for entry in found.skipped}


def test_documents_are_found_by_extension_in_any_case_and_sorted_by_path(tmp_path: Path) -> None:
    build(
        tmp_path,
        "b.md",
        "a/z.MD",
        "a.md",
        "a-b/c.txt",
        "x.markdown",
        "y.Mdx",
        "z.html",
        "README",
        "a.md.bak",
        "md",
    )
    found = walk(tmp_path)
    assert paths(found) == ["a-b/c.txt", "a.md", "a/z.MD", "b.md", "x.markdown", "y.Mdx"]
    assert found.other == {"": 2, ".bak": 1, ".html": 1}
    assert (found.skipped, found.errors) == ([], [])


def test_entries_carry_size_and_time(tmp_path: Path) -> None:
    build(tmp_path, "a.md")
    os.utime(tmp_path / "a.md", ns=(1, 1_700_000_000_123_456_789))
    (entry,) = walk(tmp_path).files
    assert (entry.size, entry.mtime_ns) == (4, 1_700_000_000_123_456_789)


@pytest.mark.parametrize("extensions", [["html"], [".HTML"], (".html",)])
def test_other_extensions_by_configuration(tmp_path: Path, extensions: list[str]) -> None:
    build(tmp_path, "a.md", "b.html")
    assert paths(walk(tmp_path, extensions=extensions)) == ["b.html"]


def test_hidden_and_vendor_folders_are_skipped_once_by_reason(tmp_path: Path) -> None:
    build(
        tmp_path,
        "a.md",
        ".b.md",
        ".c/d.md",
        "node_modules/e/f.md",
        "x/vendor/g.md",
        "x/__pycache__/h.md",
        ".DS_Store",
    )
    build(
        tmp_path,
        "cache/CACHEDIR.TAG",
        "cache/i.md",
        "py/pyvenv.cfg",
        "py/lib/j.md",
        "build/k.md",
        "dist/l.md",
    )
    found = walk(tmp_path)
    assert paths(found) == ["a.md", "build/k.md", "dist/l.md"]
    why = reasons(found)
    assert list(why) == [".b.md", ".c", "cache", "node_modules", "py", "x/__pycache__", "x/vendor"]
    assert "vendor folder" in why["x/vendor"]
    assert why[".c"] == why[".b.md"] == "hidden"


def test_a_root_may_be_whatever_it_is(tmp_path: Path) -> None:
    root = build(tmp_path / ".hidden" / "node_modules", "a.md", "CACHEDIR.TAG")
    assert paths(walk(root)) == ["a.md"]


def test_files_over_the_cap_and_things_that_are_no_files_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(tmp_path, "a.md", "larger.md")
    os.mkfifo(tmp_path / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # the name of a socket must be short
        server.bind("socket.md")
    found = walk(tmp_path, max_bytes=4)
    assert paths(found) == ["a.md"]
    why = reasons(found)
    assert "over the cap of 4" in why["larger.md"]
    assert why["pipe.md"] == why["socket.md"] == "not a regular file"


def test_gitignore_files_count_at_every_level(tmp_path: Path) -> None:
    build(
        tmp_path,
        "a.md",
        "keep.md",
        "sub/a.md",
        "sub/keep.md",
        "sub/out/b.md",
        "out/c.md",
        "gone/keep.md",
        "sub/x.txt",
    )
    (tmp_path / ".gitignore").write_bytes(b"\xef\xbb\xbfa.md\r\nout/\r\ngone\r\n")
    (tmp_path / "sub" / ".gitignore").write_text("!a.md\n!out/\nkeep.md\n/x.txt")
    (tmp_path / "gone" / ".gitignore").write_text("!keep.md\n")
    found = walk(tmp_path)
    assert paths(found) == ["keep.md", "sub/a.md", "sub/out/b.md"]
    assert reasons(found)["gone"] == "ignored by .gitignore"


def test_a_folder_taken_in_again_still_obeys_the_rules_above(tmp_path: Path) -> None:
    build(tmp_path, "sub/docs/a.md", "sub/docs/b.tmp.md")
    (tmp_path / ".gitignore").write_text("*.tmp.md\n")
    (tmp_path / "sub" / ".gitignore").write_text("!docs/\n")
    assert paths(walk(tmp_path)) == ["sub/docs/a.md"]


def test_the_enclosing_repository_is_heard_and_no_other_folder(tmp_path: Path) -> None:
    root = build(tmp_path / "team" / "docs", "a.md", "draft.md", "old/b.md", "docs/c.md").resolve()
    (tmp_path / ".gitignore").write_text("draft.md\n/team/docs/old/\ndocs/\n")
    assert len(paths(walk(root))) == 4
    (tmp_path / ".git").mkdir()
    assert paths(walk(root)) == ["a.md"]  # "docs/" is asked of what is below the root, never of the root
    assert paths(walk(tmp_path)) == []


def test_excluded_patterns_have_the_last_word(tmp_path: Path) -> None:
    build(tmp_path, "a.md", "drafts/b.md", "vendor/c.md", ".hidden/d.md", "ignored.md")
    (tmp_path / ".gitignore").write_text("ignored.md\n")
    found = walk(tmp_path, exclude=["drafts/", "!vendor/", "!.hidden/", "!ignored.md"])
    assert paths(found) == [".hidden/d.md", "a.md", "ignored.md", "vendor/c.md"]
    assert reasons(found) == {"drafts": "excluded by the configuration"}


def test_an_ignore_file_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    build(tmp_path, "a.md")
    (tmp_path / ".gitignore").write_text("x\n" * 200_000)
    found = walk(tmp_path)
    assert paths(found) == ["a.md"]
    assert [entry.path for entry in found.errors] == [".gitignore"]


def test_links_lead_to_each_file_once_and_never_out(tmp_path: Path) -> None:
    root = build(tmp_path / "root", "real/a.md", "real/b.md", ".versions/1/c.md")
    build(tmp_path / "outside", "secret.md")
    links = {
        "0-first.md": "real/a.md",  # sorts before the real file, and yields to it
        "current": ".versions/1",
        "later.md": ".versions/1/c.md",
        "again": "real",
        "dangling.md": "nothing.md",
        "gone": "nothing",
        "library.so": "nothing.so",
        "loop": ".",
        "real/up": "..",
        "round.md": "round.md",
        "out.md": "../outside/secret.md",
        "out": "../outside",
        "absolute.md": str(tmp_path / "outside" / "secret.md"),
        "zero.md": "/dev/zero",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    found = walk(root)
    assert paths(found) == ["current/c.md", "real/a.md", "real/b.md"]
    why = reasons(found)
    assert why["0-first.md"] == "a link to real/a.md, which is read there"
    assert why["later.md"] == "a link to current/c.md, which is read there"
    assert why["again"] == "a link to real/, which is read there"
    assert why["loop"] == why["real/up"] == "a link to ./, which is read there"
    assert why["dangling.md"] == why["gone"] == "a link to nothing"
    assert why["round.md"] == "a link that leads in a circle"
    assert {why[name] for name in ("out.md", "out", "absolute.md", "zero.md")} == {"a link out of the folder"}
    assert "library.so" not in why


def test_of_two_links_the_first_in_order_names_the_file(tmp_path: Path) -> None:
    build(tmp_path, ".data/v1/x.md")
    for name in ("b.md", "a.md", "z/c.md"):
        link = tmp_path / name
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(tmp_path / ".data" / "v1" / "x.md")
    found = walk(tmp_path)
    assert paths(found) == ["a.md"]
    assert found.files[0].size == len(".data/v1/x.md")


def test_links_obey_the_rules_under_their_own_name(tmp_path: Path) -> None:
    build(tmp_path, ".data/x.md", ".data/y/z.md")
    (tmp_path / ".gitignore").write_text("draft*\n")
    (tmp_path / "draft.md").symlink_to(".data/x.md")
    (tmp_path / "drafts").symlink_to(".data/y")
    (tmp_path / "vendor").symlink_to(".data/y")
    (tmp_path / "picture.png").symlink_to(".data/x.md")
    found = walk(tmp_path)
    assert paths(found) == []
    assert found.other == {".png": 1}


def test_the_root_may_be_a_link(tmp_path: Path) -> None:
    build(tmp_path / "real", "a.md")
    (tmp_path / "root").symlink_to("real")
    assert paths(walk(tmp_path / "root")) == ["a.md"]


def test_odd_names_are_found_as_they_are(tmp_path: Path) -> None:
    names = [
        "a b.md",
        "per%cent.md",
        "quo'te\".md",
        "new\nline.md",
        "back\\slash.md",
        "x" * 200 + ".md",
        "Case.md",
    ]
    names += [
        "case.md",
        unicodedata.normalize("NFC", "é.md"),
        unicodedata.normalize("NFD", "é.md"),
        "日本.md",
        "*.md",
    ]
    build(tmp_path, *names)
    assert paths(walk(tmp_path)) == sorted(names)


def test_names_that_are_not_utf8_are_skipped_printably(tmp_path: Path) -> None:
    build(tmp_path, "a.md")
    raw = os.fsencode(tmp_path)
    Path(os.fsdecode(raw + b"/caf\xe9.md")).write_text("x")
    Path(os.fsdecode(raw + b"/d\xff")).mkdir()
    Path(os.fsdecode(raw + b"/l\xfe.md")).symlink_to("nothing")
    found = walk(tmp_path)
    assert paths(found) == ["a.md"]
    for entry in found.skipped:
        entry.path.encode()
        entry.reason.encode()
    assert {path: why for path, why in reasons(found).items() if "UTF-8" in why}.keys() == {
        "caf\\xe9.md",
        "d\\xff",
    }


def test_deep_folders_do_not_exhaust_the_stack(tmp_path: Path) -> None:
    folders = [f"{tmp_path}{'/d' * depth}" for depth in range(1, 1031)]
    for folder in folders:
        Path(folder).mkdir()
    Path(folders[-1], "a.md").write_text("deep")
    found = walk(tmp_path)
    Path(folders[-1], "a.md").unlink()
    for folder in reversed(folders):  # pytest's own cleaning recurses
        Path(folder).rmdir()
    assert len(found.files) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_folder_is_an_error_not_a_deletion(tmp_path: Path) -> None:
    build(tmp_path, "a.md", "closed/b.md")
    (tmp_path / "closed").chmod(0)
    try:
        found = walk(tmp_path)
    finally:
        (tmp_path / "closed").chmod(0o700)
    assert paths(found) == ["a.md"]
    assert [entry.path for entry in found.errors] == ["closed"]


def test_what_the_system_refuses_to_list_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path, "a.md", "closed/b.md", "vanished/c.md")
    scandir = os.scandir

    def refusing(path: str) -> object:
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        if path.endswith("vanished"):
            raise FileNotFoundError(2, "No such file or directory", path)
        return scandir(path)

    monkeypatch.setattr("firstlight.text.folders.os.scandir", refusing)
    found = walk(tmp_path)
    assert paths(found) == ["a.md"]
    assert [(entry.path, entry.reason) for entry in found.errors] == [
        ("closed", "cannot be read: Permission denied")
    ]


def test_a_root_that_cannot_be_walked_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path, "a.md")
    for name in ("missing", "a.md"):
        with pytest.raises(DocumentError, match="no such folder"):
            walk(tmp_path / name)

    def refusing(path: str) -> object:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("firstlight.text.folders.os.scandir", refusing)
    with pytest.raises(DocumentError, match="Permission denied"):
        walk(tmp_path)


NAMES = st.sampled_from(["a", "b.md", "c.txt", "d.py", ".e", ".f.md", "venv", "g.MD"])
TREES = st.recursive(st.just(None), lambda inner: st.dictionaries(NAMES, inner, max_size=5), max_leaves=20)


def plant(folder: Path, tree: dict[str, object] | None) -> None:
    folder.mkdir()
    for name, below in (tree or {}).items():
        if isinstance(below, dict):
            plant(folder / name, below)
        else:
            (folder / name).write_text(name)


def slow_walk(root: Path) -> list[str]:
    found = []
    for file in root.rglob("*"):
        parts = file.relative_to(root).parts
        visible = not any(part.startswith(".") for part in parts) and "venv" not in parts[:-1]
        if file.is_file() and visible and file.suffix.lower() in (".md", ".txt"):
            found.append("/".join(parts))
    return sorted(found)


@settings(max_examples=60)
@given(TREES)
def test_any_tree_is_walked_like_the_slow_way(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, object]
) -> None:
    root = tmp_path_factory.mktemp("tree") / "root"
    plant(root, tree)
    assert paths(walk(root)) == slow_walk(root)


def test_a_walk_is_deterministic(data_pack: Path) -> None:
    first, second = walk(data_pack / "md"), walk(data_pack / "md")
    assert first == second
    assert len(first.files) > 1400


def test_walking_imports_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom firstlight.text import walk\nwalk(sys.argv[1])\n"
        "sys.exit(bool({'yaml', 'pathspec', 'pyromark', 'selectolax', 'numpy'} & set(sys.modules)))\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == 0
