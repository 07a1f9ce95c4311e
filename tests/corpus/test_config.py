from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from firstlight.corpus.trust import trust
from firstlight.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import Docs


def synced_paths(docs: Docs, **options: Any) -> set[str]:
    with docs.open(**options) as corpus:
        return set(corpus.plan().added)


@pytest.fixture
def tree(docs: Docs) -> Docs:
    for path in ("readme.md", "docs/a.md", "docs/deep/b.md", "docs2/c.md", "notes/d.rst", "notes/e.txt"):
        docs.write(path, "words\n")
    return docs


def test_everything_is_a_source_by_default(tree: Docs) -> None:
    assert synced_paths(tree) == {"readme.md", "docs/a.md", "docs/deep/b.md", "docs2/c.md", "notes/e.txt"}


@pytest.mark.parametrize(
    ("toml", "expected"),
    [
        ('sources = ["docs"]', {"docs/a.md", "docs/deep/b.md"}),
        ('sources = ["./docs/", "readme.md"]', {"docs/a.md", "docs/deep/b.md", "readme.md"}),
        ('sources = ["."]\nexclude = ["docs*/"]', {"readme.md", "notes/e.txt"}),
        ('include = ["docs/*.md", "*.txt"]', {"docs/a.md", "notes/e.txt"}),
        ('extensions = ["rst", ".TXT"]', {"notes/d.rst", "notes/e.txt"}),
        ('max_file_size = 3\nextensions = ["md"]', set()),
        ('max_file_size = "1 kB"\nsources = ["docs2"]', {"docs2/c.md"}),
    ],
)
def test_a_folders_settings_narrow_its_files(tree: Docs, toml: str, expected: set[str]) -> None:
    tree.write("firstlight.toml", toml)
    assert synced_paths(tree) == expected


@pytest.mark.parametrize(
    ("toml", "line", "message"),
    [
        ('\nsuorces = ["docs"]', 2, "unknown key; did you mean 'sources'?"),
        ("# note\n[chunks]\nmin_token = 5", 3, "did you mean 'chunks.min_tokens'?"),
        ("[lexical]\nk1 = 99", 2, "from 0 to 10, not 99"),
        ("lexical.b = 1.5", 1, "from 0 to 1"),
        ("[chunks]\noverlap = 1.5", 2, "from 0 to 0.49"),
        ("[chunks]\nmax_tokens = 0", 2, "from 16"),
        ('sources = ["../secrets"]', 1, "not below this folder"),
        ('sources = ["/etc"]', 1, "not below this folder"),
        ("extensions = 5", 1, "a list of texts"),
        ('extensions = ["*.md"]', 1, "not a file extension"),
        ('max_file_size = "big"', 1, "must be a size"),
        ('encoding = "klingon"', 1, "not an encoding"),
        ('language = "english"', 1, "ISO 639-1"),
        ('language = "xx"', 1, "neither 'auto' nor one of the ISO 639-1 codes ca, da, de, en,"),
        ("min_tokens = 5", 1, "did you mean 'chunks.min_tokens'?"),
        ("[chunk]\nmin_tokens = 5", 1, "did you mean '[chunks]'?"),
        (
            "\n[chunks]\nmin_tokens = 500\nmax_tokens = 100",
            3,
            "chunks.min_tokens: 500 is above max_tokens = 100",
        ),
        ("[chunks]\nmax_tokens = 100", 2, "chunks.max_tokens: 100 is below min_tokens = 400"),
        ("[lexical]\nfts5 = 1", 2, "true or false"),
        ("chunks = 5", 1, "unknown key"),
    ],
)
def test_a_wrong_setting_names_its_file_line_and_key(docs: Docs, toml: str, line: int, message: str) -> None:
    file = docs.write("firstlight.toml", toml)
    with pytest.raises(ConfigError) as caught:
        docs.open()
    assert str(caught.value).startswith(f"{file}:{line}: ")
    assert message in str(caught.value)


def test_what_is_no_toml_says_where(docs: Docs) -> None:
    docs.write("firstlight.toml", "# note\nsources: docs\n")
    with pytest.raises(ConfigError, match=r"firstlight.toml:2: is not TOML"):
        docs.open()
    docs.write("firstlight.toml", b"a = 1\nb = '\xff'\n")
    with pytest.raises(ConfigError, match=r"firstlight.toml:2: is not UTF-8"):
        docs.open()


def test_sizes_that_contradict_each_other_are_refused(docs: Docs) -> None:
    docs.write("firstlight.toml", "[chunks]\nmin_tokens = 500\nmax_tokens = 100\n")
    with pytest.raises(ConfigError, match="min_tokens"):
        docs.open()


def test_sizes_of_two_files_can_contradict_each_other(docs: Docs, tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.toml").write_text("[chunks]\nmin_tokens = 700\n")
    docs.write("firstlight.toml", "[chunks]\nmax_tokens = 600\n")
    with pytest.raises(ConfigError, match=r"config\.toml:2: chunks\.min_tokens: 700 is above"):
        docs.open()


def test_a_source_that_is_not_there_is_an_error_and_the_last_good_state_serves(tree: Docs) -> None:
    with tree.open() as corpus:
        corpus.sync()
    file = tree.write("firstlight.toml", 'encoding = "utf-8"\nsources = ["docs", "nope"]\n')
    with tree.open() as corpus:
        uses: list[Callable[[], object]] = [corpus.sync, corpus.plan, lambda: corpus.sync(rebuild=True)]
        for use in uses:
            with pytest.raises(ConfigError, match="there is no 'nope' in this folder") as caught:
                use()
            assert str(caught.value).startswith(f"{file}:2: sources: ")
        assert corpus.status().documents == 5
        assert len(corpus.search("words")) > 0
    tree.write("firstlight.toml", 'sources = ["docs"]\n')
    assert synced_paths(tree, state=tree.root / ".other") == {"docs/a.md", "docs/deep/b.md"}


def test_an_argument_replaces_the_file_and_the_users_settings_are_the_default(
    tree: Docs, tmp_path: Path
) -> None:
    tree.write("firstlight.toml", 'sources = ["docs"]\nlanguage = "fr"\n')
    assert synced_paths(tree, config={"sources": ["docs2"]}) == {"docs2/c.md"}
    other = tmp_path / "other.toml"
    other.write_text('sources = ["notes"]\n')
    assert synced_paths(tree, config=other) == {"notes/e.txt"}
    with pytest.raises(ConfigError, match="no such file"):
        tree.open(config=tmp_path / "absent.toml")
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.toml").write_text('extensions = [".rst"]\n')
    assert synced_paths(tree, config={}) == {"notes/d.rst"}
    assert synced_paths(tree, config={"extensions": [".txt"]}) == {"notes/e.txt"}


def test_settings_of_one_folder_do_not_belong_into_the_users(docs: Docs, tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.toml").write_text('state = "/somewhere"\n')
    with pytest.raises(ConfigError, match=r"config\.toml:1: state: belongs into a folder's firstlight\.toml"):
        docs.open()


def test_a_declared_encoding_is_used(docs: Docs) -> None:
    docs.write("a.md", "na\u00efve caf\u00e9\n".encode("latin-1"))
    with docs.open() as corpus:
        assert len(corpus.sync().errors) == 1
    docs.write("firstlight.toml", 'encoding = "latin-1"\n')
    with docs.open() as corpus:
        report = corpus.sync()
        assert (report.added, report.errors) == (1, ())
        assert corpus.search("café")[0].text.startswith("na\u00efve")


def test_settings_of_later_are_known_and_said_to_do_nothing(docs: Docs) -> None:
    docs.write("firstlight.toml", '[schema]\narea = "str"\n[horizons]\ndefault = 180\n')
    with docs.open() as corpus:
        assert corpus.warnings == (
            "'schema' is not supported yet, and ignored",
            "'horizons' is not supported yet, and ignored",
        )


def test_an_untrusted_folder_names_providers_in_vain_and_one_line_says_so(docs: Docs) -> None:
    docs.write("firstlight.toml", 'embedder = "openai:x"\nstore = "https://example.org"\nsources = ["."]\n')
    docs.write("a.md", "words\n")
    with docs.open() as corpus:
        (warning,) = corpus.warnings
        assert "embedder, store: no effect" in warning
        assert f"firstlight trust {docs.root}" in warning
        corpus.sync()
        assert corpus.search("words").reason.startswith("no embedder")
    trust(docs.root)
    with docs.open() as corpus:
        assert corpus.warnings == ("'store' is not supported yet, and ignored",)


def test_neutral_settings_are_no_reason_to_talk(docs: Docs) -> None:
    docs.write("firstlight.toml", 'embedder = "none"\nstore = "sqlite"\n')
    with docs.open() as corpus:
        assert corpus.warnings == ()


def test_an_untrusted_folder_cannot_send_its_state_elsewhere(docs: Docs, tmp_path: Path) -> None:
    docs.write("firstlight.toml", f"state = '{tmp_path / 'victim'}'\n")
    with docs.open() as corpus:
        assert corpus.state.parent == tmp_path / "state"
        assert len(corpus.warnings) == 1
    trust(docs.root)
    with docs.open() as corpus:
        assert corpus.state == tmp_path / "victim"


@pytest.mark.parametrize(
    "text",
    [
        f"sources = {'[' * 5000}",
        f"sources = {'{a=' * 5000}",
        f"max_file_size = {'9' * 5000}",
        f"max_file_size = '{'9' * 400} GB'",
        "include = ['!']",
        "exclude = ['[a']",
        "include = ['# words']",
        'state = "a\\u0000b"',
        "[chunks]\noverlap = 0.5",
    ],
)
def test_settings_that_no_parser_is_made_for_are_errors_that_name_the_file(docs: Docs, text: str) -> None:
    docs.write("firstlight.toml", text)
    with pytest.raises(ConfigError, match=r"firstlight\.toml"):
        docs.open()


def test_a_state_of_an_unknown_user_is_a_folder_of_that_name(docs: Docs) -> None:
    docs.write("firstlight.toml", 'state = "~nobody-of-that-name/index"')
    with docs.open() as corpus:
        assert corpus.state == docs.root / "~nobody-of-that-name" / "index"


def test_settings_in_a_pipe_a_folder_or_a_dump_are_not_read(docs: Docs, tmp_path: Path) -> None:
    file = docs.root / "firstlight.toml"
    (tmp_path / "dump").write_bytes(b"#" * (1 << 21))
    makes: list[Callable[[], None]] = [
        lambda: os.mkfifo(file),
        lambda: file.symlink_to("/dev/zero"),
        lambda: file.symlink_to(tmp_path / "dump"),
    ]
    for make in makes:
        make()
        for use in (docs.open, lambda: trust(docs.root)):
            with pytest.raises(ConfigError, match=r"firstlight\.toml.*(regular|larger)"):
                use()
        file.unlink()


def test_a_trust_file_that_is_a_pipe_is_an_error(docs: Docs, tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    os.mkfifo(tmp_path / "config" / "trusted.json")
    docs.write("firstlight.toml", 'embedder = "openai:x"\n')
    with pytest.raises(ConfigError, match=r"trusted\.json: cannot be read"):
        docs.open()


def test_included_patterns_take_linear_time_and_the_last_one_that_speaks_decides(docs: Docs) -> None:
    name = "a" * 200 + ".md"
    for path in (name, "docs/a.md", "docs/drafts/b.md", "docs/drafts/keep.md"):
        docs.write(path, "words\n")
    config = {"include": ["*a" * 40 + "b", "docs/", "!drafts/", "keep.md"]}
    with docs.open(config=config) as corpus:
        assert corpus.plan().added == ("docs/a.md", "docs/drafts/keep.md")
