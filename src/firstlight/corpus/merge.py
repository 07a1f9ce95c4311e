"""Keeps segments few: merges neighbours, and rewrites what is mostly dead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from firstlight.lexical import merge_segments, plan_merge
from firstlight.store.segments import (
    delete_segments,
    insert_segment,
    read_parts,
    read_sizes,
    store_segment,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from firstlight.corpus.site import Site
    from firstlight.store.segments import Part, Size, Stored


def merge_due(site: Site) -> None:
    """Merge until there is nothing to merge; only the holder of the write lock may.

    The merged segment says what its parts say, so that the generation stays: who searches the parts goes on.
    """
    while True:
        with site.database.read() as connection:
            chosen = choose(read_sizes(connection))
            if not chosen:
                return
            parts = read_parts(connection, site.state, only=chosen)
        stored = merged(site, parts)
        with site.database.write() as connection:
            delete_segments(connection, chosen)
            insert_segment(connection, stored)


def choose(sizes: Sequence[Size]) -> list[int]:
    """Return the ids of the segments to merge now, which are neighbours; none when all is well."""
    chosen = plan_merge([size.live for size in sizes])
    if chosen is not None:
        return [sizes[place].id for place in chosen]
    return next(([size.id] for size in sizes if size.dead > size.live), [])


def merged(site: Site, parts: Sequence[Part]) -> Stored:
    """Bring the living chunks of neighbouring segments to rest as one segment."""
    segment = merge_segments([(part.segment, part.dead) for part in parts])
    owners = [part.documents if part.dead is None else part.documents[~part.dead] for part in parts]
    return store_segment(site.state, segment, np.concatenate(owners))
