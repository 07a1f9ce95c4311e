from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

import pytest

from firstlight.errors import StoreError
from firstlight.store.lock import BusyError, writer_lock

if TYPE_CHECKING:
    from pathlib import Path


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    mine = f"process {os.getpid()} since"
    with (
        writer_lock(tmp_path, wait=0),
        pytest.raises(BusyError, match=mine),
        writer_lock(tmp_path, wait=0.05),
    ):
        pass
    with writer_lock(tmp_path, wait=0):
        pass


def test_who_waits_gets_it_next(tmp_path: Path) -> None:
    order: list[str] = []

    def second() -> None:
        with writer_lock(tmp_path, wait=20):
            order.append("second")

    with writer_lock(tmp_path, wait=0):
        thread = threading.Thread(target=second)
        thread.start()
        time.sleep(0.1)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_an_error_inside_lets_go(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), writer_lock(tmp_path, wait=0):
        _ = 1 / 0
    with writer_lock(tmp_path, wait=0):
        pass


def test_nothing_of_a_holder_is_left_behind(tmp_path: Path) -> None:
    with writer_lock(tmp_path, wait=0):
        assert (tmp_path / "writer.txt").exists()
    assert [file.name for file in tmp_path.iterdir()] == ["writer.lock"]
    assert (tmp_path / "writer.lock").stat().st_size == 0


def test_a_missing_folder_is_a_plain_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="nowhere"), writer_lock(tmp_path / "nowhere", wait=0):
        pass
