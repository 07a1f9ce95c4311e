from __future__ import annotations

import pytest

from firstlight.embed.limits import MAX_ANSWER, MODELS, PROVIDERS, Model, Prefixes, model_facts


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("nomic-embed-text:latest", "nomic-embed-text"),
        ("nomic-ai/nomic-embed-text-v1.5", "nomic-embed-text-v1.5"),
        ("text-embedding-nomic-embed-text-v1.5", "nomic-embed-text-v1.5"),
        ("sentence-transformers/all-MiniLM-L6-v2", "all-minilm-l6-v2"),
        ("BAAI/bge-large-en-v1.5", "bge-large-en-v1.5"),
        ("Qwen/Qwen3-Embedding-0.6B", "qwen3-embedding-0.6b"),
        ("openai/text-embedding-3-small", "text-embedding-3-small"),
    ],
)
def test_a_model_is_known_by_all_its_names(name: str, same: str) -> None:
    assert model_facts(name) == MODELS[same]


def test_of_a_build_that_nobody_listed_the_dimension_is_not_assumed() -> None:
    listed = MODELS["snowflake-arctic-embed"]
    assert model_facts("snowflake-arctic-embed:22m-m-fp16") == listed._replace(dimensions=0)


@pytest.mark.parametrize("name", ["", "my-own", "bge-m3-retuned", "nomic", "text-embedding-4"])
def test_of_an_unknown_model_nothing_is_assumed(name: str) -> None:
    assert model_facts(name) == Model(512, 0, None, Prefixes("", ""))


@pytest.mark.parametrize(
    "name",
    [
        "all-minilm",
        "nomic-embed-text:v1.5",
        "BAAI/bge-base-en-v1.5",
        "snowflake-arctic-embed-m",
        "mxbai-embed-large",
    ],
)
def test_english_models_are_known_as_such(name: str) -> None:
    assert model_facts(name).languages == frozenset({"en"})


@pytest.mark.parametrize(
    "name", ["bge-m3", "multilingual-e5-small", "text-embedding-3-small", "embeddinggemma"]
)
def test_models_of_many_languages_are_not_narrowed(name: str) -> None:
    assert model_facts(name).languages is None


def test_every_name_in_the_table_can_be_found() -> None:
    for name, facts in MODELS.items():
        assert model_facts(name) == facts
        assert facts.max_tokens >= 128
        assert facts.dimensions


def test_the_longest_answer_fits() -> None:
    """22 characters are what a float takes at most in JSON, and 4,096 numbers the longest listed vector."""
    longest = max(facts.dimensions for facts in MODELS.values())
    assert max(provider.texts for provider in PROVIDERS.values()) * longest * 22 < MAX_ANSWER / 3
