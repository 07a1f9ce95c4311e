from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.lexical.texts import text

from firstlight.lexical.characters import classify, code_points
from firstlight.lexical.hashing import HashTable, SpanHasher
from firstlight.lexical.kernels import word_spans

# Few top bits, so that many want the same slot; 0 is the empty slot and never a hash.
crowded = st.builds(lambda top, low: (top << 60) | low, st.integers(0, 15), st.integers(1, 300))
hashes = st.lists(crowded | st.integers(1, 2**64 - 1), unique=True, max_size=200)


def hasher(seed: int = 0) -> SpanHasher:
    random = np.random.default_rng(seed)
    return SpanHasher(random.integers(0, 2**64, 4, np.uint64), longest=20)


@given(st.lists(hashes, max_size=4))
def test_a_hash_table_is_a_dictionary(batches: list[list[int]]) -> None:
    table, twin = HashTable(capacity=8), dict[int, int]()
    for batch in batches:
        new = [key for key in batch if key not in twin]
        values = range(len(twin), len(twin) + len(new))
        table.insert(np.array(new, np.uint64), np.array(values, np.int64))
        twin.update(zip(new, values, strict=True))
        asked = [key for known in batches for key in known] + [3, 2**64 - 1]
        found = table.lookup(np.array(asked, np.uint64)).tolist()
        assert found == [twin.get(key, -1) for key in asked]


def test_a_hash_table_grows() -> None:
    keys = np.random.default_rng(1).integers(1, 2**64 - 1, 50_000, np.uint64)
    keys = np.unique(keys)
    table = HashTable(capacity=2)
    for start in range(0, len(keys), 7001):
        batch = keys[start : start + 7001]
        table.insert(batch, np.arange(start, start + len(batch)))
    assert table.lookup(keys).tolist() == list(range(len(keys)))


@given(text, st.integers(0, 5))
def test_spans_hash_alike_if_and_only_if_they_are_written_alike(written: str, seed: int) -> None:
    written = f"{written} {written} x"
    codes = code_points(written)
    starts, ends = word_spans(classify(codes))
    found = hasher(seed).hash(codes, starts, ends).tolist()
    cuts = [written[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    assert 0 not in found
    assert len(set(found)) == len(set(cuts)) == len(set(zip(found, cuts, strict=True)))


def test_hashes_do_not_depend_on_the_place_or_on_what_was_hashed_before() -> None:
    one = hasher()
    short = one.hash(code_points("node"), np.array([0]), np.array([4]))
    long = one.hash(code_points("-" * 10_000 + "node"), np.array([10_000]), np.array([10_004]))
    other = hasher(1).hash(code_points("node"), np.array([0]), np.array([4]))
    assert short == long
    assert short != other


def test_many_short_words_do_not_collide() -> None:
    written = " ".join(
        f"{a}{b}{c}" for a in "abcdefghijklmn0" for b in "abcdefghijklmnopqrst9" for c in "xyz日𝐀語"
    )
    codes = code_points(written)
    edges = np.flatnonzero(codes == ord(" "))
    starts, ends = np.concatenate([[0], edges + 1]), np.append(edges, len(codes))
    assert len(np.unique(hasher(2).hash(codes, starts, ends))) == len(starts)


# Characters whose bytes are alike, or zero: a hash by bytes must tell them apart, and from their places.
alike = st.text(alphabet="aNPāĀ乎偐一𐀀𐄀𐄁𝐀", min_size=1, max_size=19)


@given(st.lists(alike, min_size=1, max_size=30, unique=True))
def test_words_of_characters_with_the_same_bytes_do_not_collide(words: list[str]) -> None:
    codes = code_points(" ".join(words))
    ends = np.cumsum([len(word) + 1 for word in words]) - 1
    starts = ends - [len(word) for word in words]
    assert len(np.unique(hasher().hash(codes, starts, ends))) == len(words)


def test_the_end_of_a_very_long_word_is_not_looked_at() -> None:
    words = ["a" * 24, "a" * 23 + "b", "a" * 25, "a" * 24 + "b", "é" * 9 + "語" * 16, "é" * 9 + "語" * 17]
    found = [hasher().hash(code_points(word), np.array([0]), np.array([len(word)]))[0] for word in words]
    assert found[0] == found[2] == found[3] != found[1]
    assert found[4] == found[5]
