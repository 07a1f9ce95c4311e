"""What providers take in one call, and what is known of their models: one table of each.

Models are listed by the names that their makers, Ollama and LM Studio give them. Where a name is not listed
nothing is assumed but a short text. Figures are those of the models' cards and the providers' documentation.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# What a model that nobody listed is trusted to take: what the smallest common ones do.
CAREFUL_TOKENS = 512
# However many texts a server takes: a batch is what is lost when it fails.
MAX_TEXTS = 128
# A longer answer is not read: no call that keeps to the limits below needs a third of it.
MAX_ANSWER = 64 * 2**20


class Provider(NamedTuple):
    """What one call of a provider takes, and how its user gets in.

    Attributes:
        texts: How many texts.
        tokens: How many tokens all together, as `est_tokens` counts.
        bytes: How long the request may be.
        key_variable: Where its key is looked for.
        start: What to do where nobody answers.
    """

    texts: int
    tokens: int
    bytes: int
    key_variable: str
    start: str


PROVIDERS = {
    # It takes 2,048 texts and 300,000 tokens (their own count, up to 1.18 times ours). The answer to 128
    # texts is at most 10 MB.
    "openai": Provider(MAX_TEXTS, 250_000, 8_000_000, "OPENAI_API_KEY", "check base_url and the network"),
    # It works through a call's texts before it looks at a question that came later: short calls.
    "ollama": Provider(
        16, 32_000, 8_000_000, "OLLAMA_API_KEY", "start it with `ollama serve`, or check base_url"
    ),
    # Its own defaults: --max-client-batch-size, --max-batch-tokens, --payload-limit.
    "tei": Provider(32, 16_384, 2_000_000, "TEI_API_KEY", "start the server, or check base_url"),
}


class Prefixes(NamedTuple):
    """What a model was trained to see before each kind of text."""

    document: str = ""
    query: str = ""


class Model(NamedTuple):
    """What is known of a model; `dimensions` 0 and `languages` None where it is not."""

    max_tokens: int = CAREFUL_TOKENS
    dimensions: int = 0
    languages: frozenset[str] | None = None
    prefixes: Prefixes = Prefixes()


_EN = frozenset({"en"})
_NOMIC = Prefixes("search_document: ", "search_query: ")
_E5 = Prefixes("passage: ", "query: ")
_SEARCHING = Prefixes("", "Represent this sentence for searching relevant passages: ")
_GEMMA = Prefixes("title: none | text: ", "task: search result | query: ")
_QUESTION = "Given a web search query, retrieve relevant passages that answer the query"
_QWEN = Prefixes("", f"Instruct: {_QUESTION}\nQuery:")
_E5_INSTRUCT = Prefixes("", f"Instruct: {_QUESTION}\nQuery: ")

MODELS = {
    "text-embedding-3-small": Model(8191, 1536),
    "text-embedding-3-large": Model(8191, 3072),
    "text-embedding-ada-002": Model(8191, 1536),
    "mistral-embed": Model(8192, 1024),
    "all-minilm": Model(256, 384, _EN),
    "all-minilm:22m": Model(256, 384, _EN),
    "all-minilm:33m": Model(128, 384, _EN),
    "all-minilm-l6-v2": Model(256, 384, _EN),
    "all-minilm-l12-v2": Model(128, 384, _EN),
    "all-mpnet-base-v2": Model(384, 768, _EN),
    "paraphrase-multilingual": Model(128, 768),
    # 8,192 for some builds, and 2,048 for what Ollama serves: the lower holds for all.
    "nomic-embed-text": Model(2048, 768, _EN, _NOMIC),
    "nomic-embed-text:v1.5": Model(2048, 768, _EN, _NOMIC),
    "nomic-embed-text-v1": Model(2048, 768, _EN, _NOMIC),
    "nomic-embed-text-v1.5": Model(2048, 768, _EN, _NOMIC),
    "nomic-embed-text-v2-moe": Model(512, 768, None, _NOMIC),
    "mxbai-embed-large": Model(512, 1024, _EN, _SEARCHING),
    "mxbai-embed-large-v1": Model(512, 1024, _EN, _SEARCHING),
    "bge-small-en-v1.5": Model(512, 384, _EN, _SEARCHING),
    "bge-base-en-v1.5": Model(512, 768, _EN, _SEARCHING),
    "bge-large-en-v1.5": Model(512, 1024, _EN, _SEARCHING),
    "bge-large": Model(512, 1024, _EN, _SEARCHING),
    "bge-m3": Model(8192, 1024),
    "e5-small-v2": Model(512, 384, _EN, _E5),
    "e5-base-v2": Model(512, 768, _EN, _E5),
    "e5-large-v2": Model(512, 1024, _EN, _E5),
    "multilingual-e5-small": Model(512, 384, None, _E5),
    "multilingual-e5-base": Model(512, 768, None, _E5),
    "multilingual-e5-large": Model(512, 1024, None, _E5),
    "multilingual-e5-large-instruct": Model(512, 1024, None, _E5_INSTRUCT),
    "snowflake-arctic-embed": Model(512, 1024, _EN, _SEARCHING),
    "snowflake-arctic-embed:22m": Model(512, 384, _EN, _SEARCHING),
    "snowflake-arctic-embed:33m": Model(512, 384, _EN, _SEARCHING),
    "snowflake-arctic-embed:110m": Model(512, 768, _EN, _SEARCHING),
    "snowflake-arctic-embed:137m": Model(2048, 768, _EN, _SEARCHING),
    "snowflake-arctic-embed:335m": Model(512, 1024, _EN, _SEARCHING),
    "snowflake-arctic-embed-xs": Model(512, 384, _EN, _SEARCHING),
    "snowflake-arctic-embed-s": Model(512, 384, _EN, _SEARCHING),
    "snowflake-arctic-embed-m": Model(512, 768, _EN, _SEARCHING),
    "snowflake-arctic-embed-m-v1.5": Model(512, 768, _EN, _SEARCHING),
    "snowflake-arctic-embed-m-long": Model(2048, 768, _EN, _SEARCHING),
    "snowflake-arctic-embed-l": Model(512, 1024, _EN, _SEARCHING),
    "snowflake-arctic-embed2": Model(8192, 1024, None, Prefixes("", "query: ")),
    "snowflake-arctic-embed-m-v2.0": Model(8192, 768, None, Prefixes("", "query: ")),
    "snowflake-arctic-embed-l-v2.0": Model(8192, 1024, None, Prefixes("", "query: ")),
    "gte-small": Model(512, 384, _EN),
    "gte-base": Model(512, 768, _EN),
    "gte-large": Model(512, 1024, _EN),
    "gte-multilingual-base": Model(8192, 768),
    "embeddinggemma": Model(2048, 768, None, _GEMMA),
    "embeddinggemma-300m": Model(2048, 768, None, _GEMMA),
    "qwen3-embedding": Model(8192, 4096, None, _QWEN),
    "qwen3-embedding:0.6b": Model(8192, 1024, None, _QWEN),
    "qwen3-embedding:4b": Model(8192, 2560, None, _QWEN),
    "qwen3-embedding:8b": Model(8192, 4096, None, _QWEN),
    "qwen3-embedding-0.6b": Model(8192, 1024, None, _QWEN),
    "qwen3-embedding-4b": Model(8192, 2560, None, _QWEN),
    "qwen3-embedding-8b": Model(8192, 4096, None, _QWEN),
}

_MAKER = re.compile(r"^.*/|^text-embedding-(?=[a-z]+-embed|bge|e5)")


def model_facts(name: str) -> Model:
    """Return what is known of a model; of an unlisted build of a listed one, all but its dimension.

    Example:
        >>> model_facts("BAAI/bge-small-en-v1.5").dimensions
        384
        >>> model_facts("nomic-embed-text:latest").prefixes
        Prefixes(document='search_document: ', query='search_query: ')
        >>> model_facts("nomic-embed-text:137m-v1.5-q8_0").dimensions
        0
        >>> model_facts("my-own")
        Model(max_tokens=512, dimensions=0, languages=None, prefixes=Prefixes(document='', query=''))
    """
    known = _MAKER.sub("", name.lower()).removesuffix(":latest")
    if known in MODELS:
        return MODELS[known]
    base, tagged, _ = known.partition(":")
    return MODELS[base]._replace(dimensions=0) if tagged and base in MODELS else Model()
