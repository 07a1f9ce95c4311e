"""The command line: verbs over `Corpus`. Data goes to stdout, talk to stderr.

A shell waits for this module, so it imports nothing: `firstlight.cli.app` has the table of commands, and each
command imports what it needs when it runs.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["main"]

# Imports make tens of thousands of objects and hardly any garbage; looking for it costs a warm search 4 %.
_GARBAGE_THRESHOLD = 100_000


def main(args: list[str] | None = None) -> int:
    """Run one command and return its exit code.

    0: done, for `search`: found. 1: nothing found, or findings. 2: usage, settings, a missing folder or
    another error. 130: interrupted. 141: whoever read the output left.

    Args:
        args: The arguments after the program's name. By default this is the whole process: it takes its own,
            and ends here, unless FIRSTLIGHT_DEBUG is set.
    """
    if args is not None:
        return _run(args)
    if sys.getfilesystemencoding() != "utf-8" and not sys.flags.utf8_mode:
        _begin_again()
    _start()
    code = _run(sys.argv[1:])
    if not os.environ.get("FIRSTLIGHT_DEBUG"):
        _leave(code)
    return code


def _run(args: list[str]) -> int:
    try:
        from firstlight.cli.app import run

        return run(args)
    except KeyboardInterrupt:
        # A second Ctrl-C while this one is being reported would only add a traceback.
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stderr.write("\ninterrupted; what is indexed stays usable\n")
        return 130


def _begin_again() -> NoReturn:
    """Run this very command in Python's UTF-8 mode: another locale would take files' names for others."""
    shown = getattr(sys.stdout, "encoding", None) or "ascii"
    os.environ.setdefault("PYTHONIOENCODING", f"{shown}:backslashreplace")
    os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606  # ourselves


def _start() -> None:
    import gc

    # A closed stream leaves its number to the next file that is opened, which may be the index.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115

    gc.set_threshold(_GARBAGE_THRESHOLD, 50, 50)
    # OpenBLAS starts a thread per core when NumPy is imported, a third of a warm search; words need no BLAS.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _leave(code: int) -> None:
    """End the process without taking it apart object by object, which costs a warm search 6 %."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # its reader left; the exit code says so already
            continue
    os._exit(code)
