"""Fields before the body: three formats, every line ending, no bombs, and errors that name their line."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from firstlight.errors import DocumentError
from firstlight.text.front_matter import MAX_CHARS, split_front_matter
from firstlight.text.read import decode

if TYPE_CHECKING:
    from pathlib import Path

KEYS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=12)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.dates()
    | st.datetimes()
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=30)
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
)
MAPPINGS = st.dictionaries(KEYS, VALUES, min_size=1, max_size=5)
NEWLINES = st.sampled_from(["\n", "\r\n", "\r"])


def refusal(text: str) -> DocumentError:
    with pytest.raises(DocumentError) as caught:
        split_front_matter(text)
    return caught.value


def in_utc(value: Any) -> Any:
    """Bring what `yaml.safe_load` returns to the types of a field."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, list):
        return [in_utc(item) for item in value]
    if isinstance(value, dict):
        return {key: in_utc(item) for key, item in value.items()}
    return value


def same(left: Any, right: Any) -> bool:
    return repr(left) == repr(right)  # True is not 1, and a date is not a date-time


@given(MAPPINGS, NEWLINES, st.booleans(), st.booleans(), st.sampled_from(["---", "..."]))
def test_yaml_reads_as_the_safe_loader_does(
    fields: dict[str, Any], newline: str, flow: bool, unicode: bool, fence: str
) -> None:
    source = yaml.safe_dump(fields, allow_unicode=unicode, default_flow_style=flow, sort_keys=False)
    if "\n..." in source or "\n---" in source:
        return
    text = f"---\n{source}{fence}\nbody".replace("\n", newline)
    matter = split_front_matter(text)
    assert same(matter.fields, in_utc(yaml.safe_load(source.replace("\n", newline))))
    assert text[matter.end :] == "body"


# YAML counts the Unicode line separators as lines; editors do not agree on it.
ONE_LINE_KEYS = KEYS.filter(lambda key: not {"\u2028", "\u2029"}.intersection(key))


@given(st.dictionaries(ONE_LINE_KEYS, st.integers(), min_size=1, max_size=8), NEWLINES)
def test_every_field_knows_its_line(fields: dict[str, int], newline: str) -> None:
    lines = [json.dumps(name, ensure_ascii=False) + f": {value}" for name, value in fields.items()]
    matter = split_front_matter(newline.join(["---", *lines, "---", ""]))
    assert list(matter.lines.items()) == [(name, line) for line, name in enumerate(fields, start=2)]


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
)


@given(st.dictionaries(KEYS, JSON_VALUES, min_size=1, max_size=5), NEWLINES)
def test_json_round_trips(fields: dict[str, Any], newline: str) -> None:
    text = newline.join([*json.dumps(fields, indent=1).split("\n"), "", "body"])
    matter = split_front_matter(text)
    assert same(matter.fields, fields)
    assert text[matter.end :].strip() == "body"
    for name, line in matter.lines.items():
        assert text.replace(newline, "\n").split("\n")[line - 1].startswith(f" {json.dumps(name)}:")


@given(
    st.text(alphabet="-+{}[]\"':#&*!|>?%@` \t\r\n.ab1,~<=", max_size=60),
    st.sampled_from(["---\n", "+++\n", "{\n"]),
)
def test_whatever_follows_a_fence_is_read_or_refused_with_a_line(text: str, fence: str) -> None:
    lines = len((fence + text).splitlines())
    try:
        end, line = split_front_matter(fence + text).end, 1
    except DocumentError as error:
        end, line = 0, error.line or 0
    assert 0 <= end <= len(fence + text)
    assert 1 <= line <= lines + 1


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("opening", "closing"),
    [("---", "---"), ("---", "..."), ("--- \t", "---  "), ("+++", "+++"), ("+++ ", "+++\t")],
)
def test_every_line_ending_and_a_missing_last_one_are_read(newline: str, opening: str, closing: str) -> None:
    field = 'title = "x"' if opening.startswith("+") else "title: x"
    for rest in ("", newline, newline + "body"):
        text = newline.join([opening, field, closing]) + rest
        matter = split_front_matter(text)
        assert (matter.fields, matter.lines) == ({"title": "x"}, {"title": 2})
        assert text[matter.end :] == rest.removeprefix(newline)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "---",
        "---\n",
        "---\ntitle: never closed\n\n# Heading\n",
        "---\n\n# A heading\n\ntext\n\n---\n\nmore\n",
        "---\n- a\n- b\n---\n",
        "---\njust a string\n---\n",
        "---\n\nSome prose: with a colon: twice\n\n---\n",
        "---\n\n> quoted: text\n\n---\n",
        "---\n![image](x): and more: text\n---\n",
        "---\n   \n---\n",
        "----\ntitle: x\n----\n",
        " ---\ntitle: x\n ---\n",
        "\n---\ntitle: x\n---\n",
        "--- title\n---\n",
        "Title\n---\nkey: value\n---\n",
        "***\n",
        "+++ a\nb = 1\n+++\n",
        "{% raw %}\n{% endraw %}\n",
        "{{< shortcode >}}\n",
        "{}\n\nbody",
        '{"a": 1}\n\nbody',
        '{\n  "the": "whole file"\n}\n',
        "{\n  not json\n}\nbody",
    ],
)
def test_what_is_no_front_matter_is_body(text: str) -> None:
    matter = split_front_matter(text)
    assert (matter.fields, matter.end) == ({}, 0)


def test_neighbouring_fences_are_empty_front_matter() -> None:
    assert split_front_matter("---\n---\n\nbody").end == 8


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("---\na: 1\ntitle: Foo: bar\n---\n", 3, "quotes"),
        ("---\ntitle:\tx\n\tbad: tab\n---\n", 3, "tab"),
        ("---\ntitle: {{ page.title }}\n---\n", 2, "quotes"),
        ("---\n1: one\n[a, b]: c\n---\n", 3, "key must be plain text"),
        ("---\ntitle: one\nb: 2\ntitle: two\n---\n", 4, "'title' is there twice, first on line 2"),
        ("---\nouter:\n  a: 1\n  a: 2\n---\n", 4, "twice"),
        ("---\ntitle: !secret x\n---\n", 2, "!secret"),
        ("---\na: b\ntitle: !!python/object/apply:os.system [echo]\n---\n", 3, "not allowed"),
        ("---\na: !!set {x, y}\n---\n", 2, "not allowed"),
        ("---\na: !!binary aGk=\n---\n", 2, "not allowed"),
        ("---\na: !!int many\n---\n", 2, "not a YAML int"),
        ("---\na: *nowhere\n---\n", 2, "alias"),
        ("---\na: &a [*a]\n---\n", 2, "alias"),
        ("---\na: 1\n<<: 2\n---\n", 3, "merge"),
        ("---\na: 1\n--- b: 2\n---\n", 3, "one YAML document"),
        ("---\na: 'x\n---\n", 3, "damaged"),
        ("---\na: \x07\n---\n", 2, "control character"),
        ('---\na: "\\0"\n---\n', 2, "NUL"),
        ("---\r\na: 1\r\nb: {\r\n---\r\n", 4, "damaged"),
        ('+++\ntitle = "x"\n\n# H\n', 1, "never closes"),
        ("+++\na = 1\nb = \n+++\n", 3, "TOML"),
        ("+++\na = 1\na = 2\n+++\n", 3, "TOML"),
        ('{\n  "a": 1,\n  "b": tru\n}\nbody', 3, "JSON"),
        ('{\n  "a": 1,\n  "a": 2\n}\nbody', 3, "twice"),
        ('{\n  "a": {"b": 1, "b": 2}\n}\nbody', 2, "twice"),
        ('{\n  "a": 1', 2, "JSON"),
        ('{\n  "a": "\\ud800"\n}\nbody', 2, "surrogate"),
    ],
)
def test_damage_names_its_line(text: str, line: int, words: str) -> None:
    error = refusal(text)
    assert words in error.reason
    assert error.line == line


def test_dates_are_days_and_date_times_are_instants_in_utc() -> None:
    source = (
        "day: 2024-05-01\nnaive: 2024-05-01 10:00:00\n"
        "zoned: 2024-05-01T10:00:00+02:00\nquoted: '2024-05-01'\n"
    )
    fields = {
        "day": date(2024, 5, 1),
        "naive": datetime(2024, 5, 1, 10, tzinfo=UTC),
        "zoned": datetime(2024, 5, 1, 8, tzinfo=UTC),
        "quoted": "2024-05-01",
    }
    assert same(split_front_matter(f"---\n{source}---\n").fields, fields)
    toml = source.replace(": ", " = ")
    assert same(split_front_matter(f"+++\n{toml}+++\n").fields, fields)


def test_what_no_field_can_hold_stays_the_text_it_was() -> None:
    source = (
        "big: 123456789012345678901234567890\nnan: .nan\ninf: -.inf\nday: 2024-13-45\nhex: 0x_\nhuge: "
        + "9" * 5000
    )
    values = dict(line.split(": ") for line in source.split("\n"))
    assert split_front_matter(f"---\n{source}\n---\n").fields == values
    assert split_front_matter("+++\na = inf\nb = 1e999\nc = 07:32:00\n+++\n").fields == {
        "a": "inf",
        "b": "1e999",
        "c": "07:32:00",
    }
    assert split_front_matter('{\n"a": NaN, "b": 1e999, "c": 99999999999999999999\n}\nx').fields == {
        "a": "NaN",
        "b": "1e999",
        "c": "99999999999999999999",
    }


def test_keys_are_text_as_written() -> None:
    assert split_front_matter("---\n1: a\nyes: b\nnull: c\n2024-01-01: d\n---\n").fields == {
        "1": "a",
        "yes": "b",
        "null": "c",
        "2024-01-01": "d",
    }


def test_anchors_and_merges_work_within_bounds() -> None:
    matter = split_front_matter("---\nbase: &b {x: 1, y: 2}\nuse: *b\nm:\n  <<: *b\n  y: 3\n---\n")
    assert matter.fields == {"base": {"x": 1, "y": 2}, "use": {"x": 1, "y": 2}, "m": {"x": 1, "y": 3}}
    assert split_front_matter("---\nx: &x {a: 1}\n<<: [{a: 2, b: 3}, *x]\n---\n").fields == {
        "x": {"a": 1},
        "a": 2,
        "b": 3,
    }


@pytest.mark.parametrize("levels", [6, 9, 30])
def test_a_bomb_of_aliases_is_refused(levels: int) -> None:
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    assert "aliases" in refusal("---\n" + "\n".join(lines) + "\n---\n").reason


@pytest.mark.parametrize(
    "text",
    [
        "---\na: " + "[" * 30_000 + "\n---\n",
        "---\na: " + "{b: " * 10_000 + "\n---\n",
        "---\n" + "\n".join(" " * n + f"k{n}:" for n in range(300)) + "\n---\n",
        "---\na: " + "- " * 20_000 + "\n---\n",
        "+++\na = " + "[" * 30_000 + "\n+++\n",
        "+++\n" + ".".join("a" * 20_000) + " = 1\n+++\n",
        "+++\na = " + "[" * 40 + "]" * 40 + "\n+++\n",
        '{\n"a": ' + "[" * 60_000 + "\n}\nx",
        '{\n"a": ' + "[" * 40 + "]" * 40 + "\n}\nx",
        "---\na: x" + " y" * MAX_CHARS + "\n---\n",
        '{\n"a": "' + "x" * MAX_CHARS + '"\n}\nx',
        '{\n"a": ' + "9" * 5000 + "\n}\nx",
        "+++\na = " + "9" * 5000 + "\n+++\n",
    ],
)
def test_depth_and_size_are_bounded_without_a_crash(text: str) -> None:
    assert refusal(text).line is not None


def test_a_hexadecimal_giant_stays_hexadecimal() -> None:
    digits = "f" * 10_000
    assert split_front_matter(f"+++\na = 0x{digits}\n+++\n").fields == {"a": f"0x{digits}"}


def test_toml_fields_know_their_lines() -> None:
    text = '+++\ntitle = "T"\n[params]\nx = 1\ntitle = 2\n[[authors]]\nname = "A"\n+++\nbody'
    assert split_front_matter(text).lines == {"title": 2, "params": 3, "authors": 6}


def test_real_front_matter_reads_as_the_safe_loader_does(data_pack: Path) -> None:
    files = sorted((data_pack / "md").rglob("*.md"))
    seen = 0
    for file in files:
        text = decode(file.read_bytes())
        matter = split_front_matter(text)
        if text.startswith("---\n"):
            source = text[4 : text.index("\n---", 3)]
            assert same(matter.fields, in_utc(yaml.safe_load(source))), file
            seen += 1
    assert seen > 900


@pytest.mark.parametrize(
    "name",
    [
        "billion_laughs",
        "custom_tag",
        "deep_yaml",
        "dup_keys",
        "liquid",
        "nonstring_keys",
        "python_tag",
        "tabs",
    ],
)
def test_adversarial_front_matter_is_refused(data_pack: Path, name: str) -> None:
    file = data_pack / "adversarial" / "synthetic" / "front_matter" / f"{name}.md"
    assert refusal(decode(file.read_bytes())).line is not None


def test_documents_without_front_matter_never_import_yaml() -> None:
    code = (
        "import sys\n"
        "from firstlight.text.document import parse_document\n"
        "parse_document('a.md', '---\\n\\n# Heading\\n\\n---\\n')\n"
        "sys.exit(bool({'yaml', 'tomllib', 'pyromark', 'selectolax', 'numpy'} & set(sys.modules)))\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
