"""A question to the newest snapshot; a reader that meets a merge tries again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firstlight.corpus.legs import CHANGED, Leg
from firstlight.corpus.search import answer
from firstlight.errors import StoreError
from firstlight.store.segments import SegmentGoneError

if TYPE_CHECKING:
    from firstlight.corpus.search import Answer, Question
    from firstlight.corpus.site import Site
    from firstlight.corpus.snapshot import Snapshots

# A reader whose segments were merged away while it read begins again; twice in a row is rare already.
_READER_TRIES = 5


def ask(site: Site, snapshots: Snapshots, question: Question, leg: Leg | str) -> Answer:
    """Answer from one commit.

    Args:
        site: The corpus.
        snapshots: What is kept in memory of it.
        question: What is asked.
        leg: The leg of vectors, of the embedder that `snapshots` are about, or the reason why there is none.

    Raises:
        StoreError: The index cannot be read, or changes all the time.
    """
    for attempt in range(_READER_TRIES):
        with site.database.read() as connection:
            try:
                snapshot = snapshots.get(connection, site)
            except SegmentGoneError:
                if attempt == _READER_TRIES - 1:
                    raise
                continue
            found = snapshots.embedded(connection, site, load=isinstance(leg, Leg))
            if isinstance(leg, Leg) and (found.recorded is None or found.recorded.id != leg.recorded.id):
                leg = CHANGED
            return answer(connection, snapshot, found, question, leg)
    raise StoreError(f"{site.database.path}: changes faster than it can be read; try again")
