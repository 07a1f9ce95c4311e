"""Files, folders and globs of a layer."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstlight import DocumentError
from firstlight.context import ContextLayer


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "docs" / "ops").mkdir(parents=True)
    (tmp_path / "docs" / "ops" / "drain.md").write_text("# Drain\n\nCordon the node.\n")
    (tmp_path / "docs" / "about.txt").write_text("We drain swamps.\n")
    (tmp_path / "docs" / "page.html").write_text("<title>Page</title><p>A node of the net.</p>")
    (tmp_path / "docs" / "logo.png").write_bytes(b"\x89PNG\0\0")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def origins(*paths: str | Path) -> list[str]:
    return [document.origin for document in ContextLayer.from_files(paths).docs]


@pytest.mark.usefixtures("folder")
def test_paths_are_origins_and_in_order() -> None:
    assert origins("docs/ops/drain.md", "docs/about.txt") == ["docs/about.txt", "docs/ops/drain.md"]
    assert origins("docs") == origins("docs/", Path("docs")) == ["docs/about.txt", "docs/ops/drain.md"]
    assert origins("docs/*") == ["docs/about.txt", "docs/ops/drain.md", "docs/page.html"]
    assert origins("docs/**/*.md") == ["docs/ops/drain.md"]
    assert origins("./docs/page.html") == ["docs/page.html"]


@pytest.mark.usefixtures("folder")
def test_the_current_folder_adds_nothing_to_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("docs")
    assert origins(".") == ["about.txt", "ops/drain.md"]


def test_a_file_named_twice_is_there_once(folder: Path) -> None:
    assert len(origins("docs", "docs/ops/*.md", folder / "docs" / "about.txt")) == 2


@pytest.mark.usefixtures("folder")
def test_hits_have_paths_and_lines() -> None:
    layer = ContextLayer.from_files(["docs", "docs/page.html"])
    assert [(hit.path, hit.title, hit.line_start, hit.line_end) for hit in layer.search("node")] == [
        ("docs/ops/drain.md", "Drain", 1, 3),
        ("docs/page.html", "Page", 1, 1),
    ]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["gone.md", "gone/*.md", "docs/logo.png", "docs/*.png"])
def test_what_cannot_be_read_is_an_error_by_name(name: str) -> None:
    with pytest.raises(DocumentError) as caught:
        ContextLayer.from_files(["docs", name])
    assert caught.value.path == name.replace("*.png", "logo.png")


@pytest.mark.usefixtures("folder")
def test_a_name_with_brackets_is_no_glob_where_it_is_there() -> None:
    Path("notes[1].md").write_text("Notes.")
    assert origins("notes[1].md") == ["notes[1].md"]


@pytest.mark.parametrize("given", ["docs", Path("docs"), b"docs", {"docs": 1}, 7, [7], [b"docs"], [None]])
def test_what_is_no_list_of_paths_is_refused(given: object) -> None:
    with pytest.raises(TypeError):
        ContextLayer.from_files(given)  # type: ignore[arg-type]
