"""The process in which a local model runs: `python -m turnkeeper.models.local_server MODEL CONTEXT_TOKENS`.

The first line of its input is the key it will ask for, since any page in a browser can reach the loopback. It says on
its output where it listens, as one line of JSON, and ends when its input does.
"""

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

THREADS_MAX = 4


def main(model: str, context_tokens: str) -> None:
    xllamacpp: Any = importlib.import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.n_ctx = int(context_tokens)
    parameters.n_parallel = 1
    parameters.api_keys = [sys.stdin.buffer.readline().decode().strip()]
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.cpuparams.n_threads = min(THREADS_MAX, os.cpu_count() or 1)
    parameters.warmup = False
    parameters.ui = False
    name = Path(model).stem
    parameters.model_alias = {name}
    server = xllamacpp.Server(parameters)
    sys.stdout.write("\n" + json.dumps({"url": server.listening_address, "model": name}) + "\n")
    sys.stdout.flush()
    sys.stdin.buffer.read()
    # The library's threads would take their time to notice; nothing here needs to be saved.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
