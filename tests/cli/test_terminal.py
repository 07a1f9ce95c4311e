from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstlight.cli.terminal import Style, columns, printable, show, style_for, talk, width

if TYPE_CHECKING:
    from .conftest import Run


@given(st.text(alphabet=st.characters()))
def test_nothing_printable_acts_on_a_terminal(text: str) -> None:
    shown = printable(text)
    assert not any(
        character < " "
        or "\x7f" <= character < "\xa0"
        or character in "\u061c\u200e\u200f\u2028\u2029\ufeff"
        or "\u202a" <= character <= "\u202e"
        or "\u2066" <= character <= "\u2069"
        or "\ud800" <= character <= "\udfff"
        for character in shown
    )


def test_plain_text_in_any_script_is_left_alone() -> None:
    text = "Grüße, 漢字, สวัสดี, 👩‍🚀 and क्षि"
    assert printable(text) == text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("a\tb\r\n", r"a\tb\r\n"),
        ("\x9b31m", r"\x9b31m"),
        ("file\udcff.md", r"file\xff.md"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("\ud83d", r"\ud83d"),
    ],
)
def test_control_characters_are_written_out(raw: str, shown: str) -> None:
    assert printable(raw) == shown


def test_wide_and_combining_characters_take_their_columns() -> None:
    assert width("abc") == 3
    assert width("漢字") == 4
    assert width("e\u0301") == 1


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError(25, "Inappropriate ioctl for device")


def test_colour_is_for_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert style_for(Screen()).colour
    assert not style_for(io.StringIO()).colour


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_person_can_do_without_colour(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    assert not style_for(Screen()).colour


def test_a_style_without_colour_changes_nothing() -> None:
    plain, bright = Style(colour=False), Style(colour=True)
    assert plain.lit("x") == "x"
    assert bright.lit("x") == "\x1b[1;33mx\x1b[0m"
    assert bright.strong("") == ""


def test_a_stream_that_is_no_terminal_has_a_fixed_width() -> None:
    assert columns(io.StringIO()) == columns(Screen()) == 100


def test_what_an_encoding_lacks_is_written_as_an_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    monkeypatch.setattr("sys.stdout", stream)
    show("漢")
    stream.flush()
    assert raw.getvalue() == b"\\u6f22\n"


def test_talk_cannot_act_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    talk("a\x1b[2Jb\nsecond line")
    assert capsys.readouterr() == ("", "a\\x1b[2Jb\nsecond line\n")


def test_a_stderr_that_takes_nothing_does_not_stop_a_command(process: Run, docs: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = process("search", docs, "drain", stderr=full)
    assert done.code == 0
    assert "drain.md" in done.out


def test_a_stdout_that_takes_nothing_is_an_error(process: Run, docs: Path) -> None:
    with Path("/dev/full").open("w") as full:
        for args in (("search", docs, "drain"), ("search", docs, "drain", "--json"), ("--help",)):
            done = process(*args, stdout=full)
            assert done.code == 2
            assert "No space left" in done.err


def test_a_strange_locale_changes_no_names(process: Run, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (docs / "\xfcber \u6f22.md").write_text("Of the machine: \xfcberall.\n", encoding="utf-8")
    assert process("search", docs, "\xfcberall").code == 0
    for name, value in {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}.items():
        monkeypatch.setenv(name, value)
    plan = process("sync", docs, "--plan", "--json")
    assert '"unchanged": 3' in plan.out
    found = process("search", docs, "machine", "-k", "1")
    assert (found.code, found.out.isascii()) == (0, True)
    assert "\\xfcber \\u6f22.md:1" in process("search", docs, "\xfcberall").out
    code = f"import firstlight; firstlight.Corpus.open({str(docs)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "set PYTHONUTF8=1" in done.stderr
