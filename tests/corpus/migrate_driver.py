"""Migrates a folder to the model `new`, tells a log of every text, and holds the third call for ever.

Run as a process of its own, with the folder, the log and a file to make once it is held.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from tests.corpus.embedder import WordEmbedder

from firstlight import Corpus
from firstlight.embed import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

HELD_CALL = 3


class Logged(WordEmbedder):
    """Writes down each text that it has embedded."""

    limits = Limits(texts=4)
    calls = 0

    def embed(self, texts: Sequence[str], kind: str) -> NDArray[np.float32]:
        self.calls += 1
        if self.calls == HELD_CALL:
            Path(sys.argv[3]).touch()
            threading.Event().wait()
        vectors = super().embed(texts, kind)
        with Path(sys.argv[2]).open("a") as log:
            log.writelines(f"{text.split()[-1]}\n" for text in texts)
        return vectors


if __name__ == "__main__":
    with Corpus.open(sys.argv[1], embedder=WordEmbedder("old"), background=False) as corpus:
        corpus.migrate(Logged("new"), yes=True)
