from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Run


def test_a_folder_is_trusted_until_its_settings_change_or_trust_is_taken_back(run: Run, docs: Path) -> None:
    config = docs / "firstlight.toml"
    config.write_text('embedder = "openai:some-model"\n')
    assert "not trusted" in run("status", docs).err
    assert run("trust", docs).out == f"trusted: {docs}\n"
    assert "not trusted" not in run("status", docs).err
    config.write_text('embedder = "openai:other-model"\n')
    assert "not trusted" in run("status", docs).err
    run("trust", docs)
    assert run("trust", docs, "--revoke").out == f"no longer trusted: {docs}\n"
    assert "not trusted" in run("status", docs).err


def test_a_folder_without_settings_has_nothing_to_trust(run: Run, docs: Path) -> None:
    outcome = run("trust", docs)
    assert outcome.code == 2
    assert "firstlight.toml" in outcome.err
