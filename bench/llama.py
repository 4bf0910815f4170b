"""Serves a GGUF model with llama.cpp's own OpenAI server; runs in an environment that holds `xllamacpp`.

`python llama.py MODEL.gguf` prints the server's address and serves until its standard input closes.
"""

import sys

import xllamacpp


def main(path: str) -> None:
    """Two threads, one slot, the model's own 2k context."""
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = 2
    params.endpoint_slots = True  # `bench real_model` asks there whether a generation goes on
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
