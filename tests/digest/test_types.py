from __future__ import annotations

import json

from firstlight.digest import Citation, Digest, Passage


def test_a_digest_has_one_json_shape() -> None:
    digest = Digest(
        text="Red [1].",
        retrieval="hybrid",
        embedded=1,
        total=2,
        passages=(Passage(1, 0, 3, 1, 1, 2, "red", 1 / 3, 3),),
        citations=(Citation(1, 0, 3, 4, 7),),
        provisional=False,
        timings={"total": 1 / 3},
        reason="why",
        model="embedder",
        llm="writer",
        removed=1,
    )
    assert json.loads(json.dumps(digest.to_dict(), allow_nan=False)) == {
        "text": "Red [1].",
        "retrieval": "hybrid",
        "embedded": 1,
        "total": 2,
        "model": "embedder",
        "llm": "writer",
        "reason": "why",
        "provisional": False,
        "passages": [
            {
                "number": 1,
                "start": 0,
                "end": 3,
                "line_start": 1,
                "line_end": 1,
                "page": 2,
                "text": "red",
                "score": 0.333333,
                "page_end": 3,
            }
        ],
        "citations": [{"number": 1, "start": 0, "end": 3, "answer_start": 4, "answer_end": 7}],
        "removed": 1,
        "timings": {"total": 0.333333},
    }
