"""Texts to try things on: words in many scripts, with everything that joins, splits or decorates them."""

from __future__ import annotations

import functools
import unicodedata
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from firstlight.lexical import Indexable

if TYPE_CHECKING:
    from pathlib import Path

LANGUAGES = ("en", "de", "fr", "tr", "xx")
_ENGLISH = """
    drain draining drained node nodes Node NODE pool pools the a is use using used useful dying die dyes
    skies sky generously general rate it It IT don't node's I'll we've YouTube youtube getUserNames HTTPServer
    node_id __init__ v1.2.3 3.14 20455 E1234 0xFF C++ C# .NET .env IDs e.g. g++ h100s sha256 9f86d081884c7d65
"""
_FOREIGN = """
    l'avion d’État résumé naïve Straße STRASSE Häuser häuser größer Knoten geleert été école écoles İstanbul
    ısı ёлка елка узлами узлы άνθρωπος हिन्दी किताबें नमस्ते कि العربية كتاب ﬁle Ｆｕｌｌ １２３ ½ ㎏ ™ x² Ⅷ 𝐀𝐁
    東京都 東京 機器學習 がく ガク ｶﾞｸ ภาษาไทย ๑๒ ລາວ ខ្មែរ မြန်မာ 한국어 한 々 ＣＰＵ ﬀ
"""
ENGLISH, FOREIGN = _ENGLISH.split(), [unicodedata.normalize("NFC", word) for word in _FOREIGN.split()]
SIGNS = [" ", " ", " ", "\n", ".", "'", "’", "+", "++", "#", "_", "-", ",", ":", "(", ")", '"', "“", "”", "*"]
SIGNS += [
    "\u0301",
    "\u3099",
    "\u200d",
    "\u200b",
    "\u00ad",
    "👩\u200d👩\u200d👧",
    "🇩🇪",
    "1\ufe0f\u20e3",
    "´",
    "\x00",
]

WORDS = [*ENGLISH, *FOREIGN, *(unicodedata.normalize("NFD", word) for word in FOREIGN)]
# Lone surrogates included: they come from file names, and from JSON.
any_text = st.text(st.characters(), max_size=40)
glued = st.lists(st.sampled_from([*WORDS, *SIGNS]), max_size=30).map("".join)
spaced = st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)
english = st.lists(st.sampled_from(ENGLISH), max_size=30).map(" ".join)
text = spaced | glued | any_text


def items(body: st.SearchStrategy[str] = spaced) -> st.SearchStrategy[Indexable]:
    """Chunks with all of their fields."""
    short = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
    few: Any = st.lists(short, max_size=2).map(tuple)
    return st.builds(
        Indexable, body, title=short, headings=few, name=short, tags=few, language=st.sampled_from(LANGUAGES)
    )


@functools.cache
def pack_texts(folder: Path) -> tuple[str, ...]:
    """Return a few hundred thousand characters of real text: prose, code, tables, Chinese, Thai."""
    files = [*sorted((folder / "md/kubeflow-website/content/en/docs").rglob("*.md"))[::12]]
    files += [*sorted((folder / "md/rust-book/src").glob("ch1*.md"))[::4]]
    files += [*sorted((folder / "md/eips/EIPS").glob("*.md"))[::60]]
    files += [*sorted((folder / "adversarial/synthetic/unicode").iterdir())]
    files += [folder / "ir" / name / "corpus.jsonl" for name in ("xquad_zh", "xquad_th")]
    texts = [file.read_text("utf-8", errors="replace") for file in files if file.is_file()]
    pieces = [
        text[start : start + 2500] for text in texts for start in range(0, min(len(text), 25_000), 2500)
    ]
    return tuple(pieces)
