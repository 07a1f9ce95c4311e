from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from firstlight.corpus.trust import is_trusted, trust
from firstlight.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Docs


def test_a_folder_is_not_trusted_until_the_user_says_so(docs: Docs) -> None:
    docs.write("firstlight.toml", 'embedder = "local"\n')
    assert not is_trusted(docs.root)
    assert trust(docs.root) == str(docs.root.resolve())
    assert is_trusted(docs.root)


def test_a_changed_configuration_needs_trust_again(docs: Docs) -> None:
    docs.write("firstlight.toml", 'embedder = "local"\n')
    trust(docs.root)
    docs.write("firstlight.toml", 'embedder = "openai:x"\n')
    assert not is_trusted(docs.root)


def test_trust_is_for_the_real_folder_and_no_other(docs: Docs, tmp_path: Path) -> None:
    docs.write("firstlight.toml", "")
    link = tmp_path / "link"
    link.symlink_to(docs.root)
    trust(link)
    assert is_trusted(docs.root)
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "firstlight.toml").write_text("")
    assert not is_trusted(copy)


def test_a_folder_without_configuration_needs_no_trust(docs: Docs) -> None:
    assert is_trusted(docs.root)
    with pytest.raises(ConfigError, match=r"no firstlight\.toml to trust"):
        trust(docs.root)


def test_trust_is_recorded_in_the_users_own_configuration(docs: Docs, tmp_path: Path) -> None:
    docs.write("firstlight.toml", "")
    trust(docs.root)
    assert [file.name for file in (tmp_path / "config").iterdir()] == ["trusted.json"]
    assert [file.name for file in docs.root.iterdir()] == ["firstlight.toml"]


def test_a_damaged_record_is_an_error_with_the_way_out(docs: Docs, tmp_path: Path) -> None:
    docs.write("firstlight.toml", "")
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "trusted.json").write_text("{")
    with pytest.raises(ConfigError, match=r"trusted\.json: cannot be read; delete it"):
        is_trusted(docs.root)
