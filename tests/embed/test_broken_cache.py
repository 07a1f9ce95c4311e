"""A cache whose bytes are not as they were written, or are an earlier format's."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import numpy as np
import pytest

from firstlight.embed.cache import VectorCache

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEYS = [bytes([number]) * 32 for number in range(50)]


def filled(path: Path, warn: Callable[[str], object] = print) -> VectorCache:
    cache = VectorCache(path, warn=warn)
    rows = np.random.default_rng(3).standard_normal((len(KEYS), 1, 16)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=2, keepdims=True)
    cache.put_many("model", dict(zip(KEYS, rows, strict=True)))
    return cache


@pytest.mark.parametrize("place", [0, 3, 7, 63])
def test_a_vector_with_one_wrong_bit_is_dropped_though_it_is_of_unit_length(
    tmp_path: Path, place: int
) -> None:
    cache = filled(tmp_path / "vectors.db")
    connection = sqlite3.connect(tmp_path / "vectors.db")
    number, vector = connection.execute("SELECT id, vector FROM vectors LIMIT 1").fetchone()
    spoilt = bytearray(vector)
    spoilt[place] ^= 0x80 if place % 4 == 3 else 1
    connection.execute("UPDATE vectors SET vector = ? WHERE id = ?", (bytes(spoilt), number))
    connection.commit()
    connection.close()
    assert len(cache.get_many("model", KEYS)) == len(KEYS) - 1
    assert cache.stats().entries == len(KEYS) - 1
    cache.close()


def test_a_cache_of_the_first_format_keeps_its_vectors(tmp_path: Path) -> None:
    cache = filled(tmp_path / "vectors.db")
    before = cache.get_many("model", KEYS)
    cache.close()
    connection = sqlite3.connect(tmp_path / "vectors.db")
    connection.execute("ALTER TABLE vectors DROP COLUMN checksum")
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    said: list[str] = []
    for _ in range(2):
        again = VectorCache(tmp_path / "vectors.db", warn=said.append)
        after = again.get_many("model", KEYS)
        assert after.keys() == before.keys()
        assert all((after[key] == before[key]).all() for key in KEYS)
        again.close()
    assert not said
