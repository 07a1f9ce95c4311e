"""HTML becomes text that reads like the page, in linear time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from firstlight.text.html import declared_encoding, extract_html
from firstlight.text.read import decode

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("", ""),
        ("plain", "plain\n"),
        ("<p>one<p>two</p>three", "one\n\ntwo\n\nthree\n"),
        ("<h1>A <em>b</em></h1><h3>C\n d</h3>x", "# A b\n\n### C d\n\nx\n"),
        ("<p>a<br>b  c\n d", "a\nb c d\n"),
        ("a&nbsp;b &lt;i&gt; &#65;&#x42; &eacute &bogus;", "a\xa0b <i> AB é &bogus;\n"),
        ("a<b>b</b><span>c</span> <i>d</i>", "abc d\n"),
        ("<script>if (a<b) '<p>'</script><style>p{}</style><!-- c --><p>x", "x\n"),
        ("<nav><nav>a</nav>b</nav>c<nav>never closed", "c\n\nnever closed\n"),
        ("<svg><title>pic</title><text>t</text></svg><noscript>no</noscript>x", "x\n"),
        ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e", "- a\n- b\n    - c\n- d\n\ne\n"),
        ("<ol><li>a</li><li>b</li></ol>", "1. a\n2. b\n"),
        ("<ul><li><p>a</p><p>b</p></ul>", "- a\n\n    b\n"),
        ("<pre>\n a\tb\n\n  c &lt;d&gt;\n</pre>", "```\n a\tb\n\n  c <d>\n```\n"),
        ('<pre><code class="hljs language-py">x = 1\n</code></pre>', "```py\nx = 1\n```\n"),
        ("<pre>```\n````</pre>", "`````\n```\n````\n`````\n"),
        ("<pre>a<br>b", "```\na\nb\n```\n"),
        (
            "<table><caption>C</caption><tr><th>A<th>B|<tr><td>1<br>2<td><p>3</table>x",
            "C\n\n| A | B\\| |\n| --- | --- |\n| 1 2 | 3 |\n\nx\n",
        ),
        (
            "<table><tr><td><h2>T</h2>x<td><table><tr><td>1<td>2</table></table>",
            "## T\n\nx\n\n| 1 | 2 |\n| --- | --- |\n",
        ),
        ("<table></table><p>x", "x\n"),
        ("<img alt='a &amp; b' src=x> c", "a & b c\n"),
        ('<a title="x > y" href=\'">\'>z</a>', "z\n"),
        ("1 < 2 <3 > 2", "1 < 2 <3 > 2\n"),
        ("<p># a<p>``` b<p>&lt;!-- c", "\\# a\n\n\\``` b\n\n\\<!-- c\n"),
        ("<dl><dt>a<dd>b</dl>", "a\n\nb\n"),
        ("x<p", "x\n"),
        ("<textarea><p>a</textarea><title>t</title>b", "b\n"),
        ("<P CLASS=x>A</P><BR/><IMG ALT=b>", "A\n\nb\n"),
    ],
)
def test_pages_read_like_pages(source: str, text: str) -> None:
    assert extract_html(source).text == text


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("<title> A\n&amp; b </title><h1>H</h1>", "A & b"),
        ("<h2>x</h2><h1>H <i>i</i></h1>", "H i"),
        ("<title></title><h1>H</h1>", "H"),
        ("<svg><title>pic</title></svg>", ""),
        ("<p>x", ""),
    ],
)
def test_the_title_is_the_pages_or_its_first_heading(source: str, title: str) -> None:
    assert extract_html(source).title == title


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"<meta charset=utf-8>", None),
        (b"<META CHARSET='ISO-8859-1'>", "cp1252"),
        (b'<meta http-equiv="x" content="text/html; charset=gb2312">', "gb2312"),
        (b"\xef\xbb\xbf<meta charset=latin1>", None),
        (b"<p>no", None),
        (b"x" * 5000 + b"<meta charset=latin1>", None),
    ],
)
def test_the_declared_encoding_is_what_browsers_understand(data: bytes, encoding: str | None) -> None:
    assert declared_encoding(data) == encoding


PIECES = (
    *(
        "<p>",
        "</p>",
        "<div>",
        "</div>",
        "<table>",
        "</table>",
        "<tr>",
        "<td>",
        "</td>",
        "<pre>",
        "</pre>",
        "<ul>",
    ),
    *(
        "</ul>",
        "<li>",
        "<h1>",
        "</h1>",
        "<nav>",
        "</nav>",
        "<svg>",
        "<script>",
        "</script>",
        "<title>",
        "<br>",
    ),
    *(
        "<img alt=x>",
        "<!--",
        "-->",
        "<a",
        "&nbsp;",
        "&#0;",
        "&#xd800;",
        "&#99999999999;",
        "<",
        ">",
        '"',
        "'",
        "=",
    ),
    *("x", "```", "#", "|", "\n", " "),
)
MARKUP = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


@given(MARKUP)
def test_any_markup_becomes_text_that_can_be_encoded(source: str) -> None:
    page = extract_html(source)
    decode(page.text.encode())
    assert page.text == "" or page.text.endswith("\n")


WORDS = st.text(alphabet="abcdefgh", min_size=1, max_size=6)


@given(
    st.lists(
        st.tuples(st.sampled_from(["p", "div", "h2", "li", "td", "pre", "blockquote"]), WORDS), max_size=20
    )
)
def test_no_word_is_lost(parts: list[tuple[str, str]]) -> None:
    text = extract_html("".join(f"<{tag}>{word}</{tag}>" for tag, word in parts)).text
    kept = [word for word in text.replace("|", " ").split() if word.isalpha()]
    assert kept == [word for _, word in parts]


HOSTILE: dict[str, Callable[[int], str]] = {
    "nested div": lambda n: "<div>" * n + "x",
    "nested div with text": lambda n: "<div>x" * n,
    "nested lists": lambda n: "<ul><li>x" * n,
    "nested tables": lambda n: "<table><td>x" * n,
    "attributes": lambda n: "<div " + " ".join(f"a{i}" for i in range(n)) + ">x",
    "options": lambda n: "<select>" + "<option>x" * n,
    "unclosed formatting": lambda n: "<b>" * n + "<p>x" * n,
    "unclosed quotes": lambda n: '<a "' * n,
    "quotes of both kinds": lambda n: "<a '\"" * n,
    "unclosed tags": lambda n: "<a" * n,
    "unclosed comments": lambda n: "<!--" * n,
    "less-than signs": lambda n: "<" * n,
    "ampersands": lambda n: "&amp" * n,
    "digits": lambda n: "&#" + "9" * n,
    "unclosed navigation": lambda n: "<nav>x" * n,
    "headings": lambda n: "<h1>x" * n,
    "rows": lambda n: "<table>" + "<tr><td>x" * n,
}


@pytest.mark.parametrize("kind", sorted(HOSTILE))
def test_hostile_pages_take_linear_time(kind: str) -> None:
    def seconds(size: int) -> float:
        source, best = HOSTILE[kind](size), float("inf")
        for _ in range(2):
            start = time.process_time()
            extract_html(source)
            best = min(best, time.process_time() - start)
        return best

    small, large = seconds(2_000), seconds(32_000)
    assert large < 16 * 6 * max(small, 0.0005)  # quadratic would be 256 times


def test_a_hundred_thousand_levels_keep_their_text() -> None:
    assert extract_html("<div>" * 100_000 + "deep" + "</div>" * 100_000).text == "deep\n"


def test_rendered_markdown_keeps_its_words(data_pack: Path) -> None:
    for file in sorted((data_pack / "md" / "rust-book" / "src").rglob("*.md"))[:20]:
        source = MarkdownIt("commonmark").enable("table").render(file.read_text(encoding="utf-8"))
        text = extract_html(source).text
        headings = [line for line in text.split("\n") if line.startswith("# ")]
        assert len(headings) >= source.count("<h1>")
        assert text.count("\n```") >= 2 * source.count("<pre>") - 1
