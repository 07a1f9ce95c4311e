from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.embed.spec import KINDS, Access, Spec, make_embedder, parse_spec
from firstlight.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in ("OPENAI", "OLLAMA", "TEI"):
        for name in ("API_KEY", "BASE_URL", "HOST"):
            monkeypatch.delenv(f"{provider}_{name}", raising=False)


@pytest.fixture
def access(tmp_path: Path) -> Access:
    return Access({}, allow_downloads=False, models=tmp_path)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("local", Spec("local", "")),
        ("none", Spec("none", "")),
        ("openai:text-embedding-3-small", Spec("openai", "text-embedding-3-small")),
        ("ollama:nomic-embed-text:v1.5", Spec("ollama", "nomic-embed-text:v1.5")),
        ("tei:", Spec("tei", "")),
        (f"hf:BAAI/bge-small-en-v1.5@{'0' * 40}", Spec("hf", f"BAAI/bge-small-en-v1.5@{'0' * 40}")),
    ],
)
def test_a_name_is_taken_apart_and_put_together(text: str, spec: Spec) -> None:
    assert parse_spec(f" {text} ") == spec
    assert str(spec) == text
    assert spec.is_remote == text.startswith(("openai", "ollama", "tei"))


@pytest.mark.parametrize("text", ["", "minilm", "local:x", "none:", "openai", "openai:", "hf: ", "OpenAI:x"])
def test_what_names_nothing_is_told_what_a_name_looks_like(text: str) -> None:
    with pytest.raises(ValueError, match=r"say 'local', 'none', 'openai:MODEL'"):
        parse_spec(text)


@given(st.sampled_from(KINDS), st.text(max_size=20))
def test_any_text_is_a_name_or_refused(kind: str, model: str) -> None:
    for text in (model, f"{kind}:{model}"):
        try:
            spec = parse_spec(text)
        except ValueError:
            continue
        assert parse_spec(str(spec)) == spec


def test_none_is_no_embedder(access: Access) -> None:
    assert make_embedder(Spec("none", ""), access) is None


def test_a_key_that_is_missing_keeps_nobody_from_searching_by_words(access: Access) -> None:
    made = make_embedder(Spec("openai", "m"), access)
    assert made is not None
    assert made.name == "openai:m"


def test_a_server_that_has_no_place_of_its_own_has_to_be_named(access: Access) -> None:
    with pytest.raises(ConfigError, match=r"set TEI_BASE_URL, or base_url under \[tei\]"):
        make_embedder(Spec("tei", "m"), access)
    assert make_embedder(Spec("tei", "m"), access._replace(base_urls={"tei": "http://127.0.0.1:9"}))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:9", "http://127.0.0.1:9"])
def test_a_host_of_ollama_is_read_as_ollama_reads_it(
    host: str, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", host)
    made = make_embedder(Spec("ollama", "m"), access)
    assert made is not None
    assert made.name == "ollama:m"
