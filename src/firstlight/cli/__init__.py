"""The command line: verbs over `Corpus`. Data goes to stdout, talk to stderr.

A shell waits for this module, so it imports nothing: `firstlight.cli.app` has the table of commands, and each
command imports what it needs when it runs.
"""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main(args: list[str] | None = None) -> int:
    """Run one command and return its exit code.

    0: done, for `search`: found. 1: nothing found, or findings. 2: usage, settings, a missing folder or
    another error. 130: interrupted. 141: whoever read the output left.

    Args:
        args: The arguments after the program's name; by default the process's own.
    """
    # OpenBLAS starts a thread per core when NumPy is imported, a third of a warm search; words need no BLAS.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from firstlight.cli.app import run

        return run(sys.argv[1:] if args is None else args)
    except KeyboardInterrupt:
        # A second Ctrl-C while this one is being reported would only add a traceback.
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stderr.write("\ninterrupted; what is indexed stays usable\n")
        return 130
