"""How long `deft run` of one compute block takes, from start to exit: alone, and beside a daemon.

    cold.py PATH_TO_DEFT [ROUNDS]

Alone, a sandbox is started for the run (bar: p50 under 60 ms). Beside a daemon its warm sandbox is used
(bar: 20 ms). A run of one built-in tool, which needs no sandbox, shows what the rest takes.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

BLOCK = """name: {name}
description: One compute block
steps:
  - id: one
    compute: |
{code}
"""
BLOCKS = {
    "plain": "result = sum(range(10))",
    "json_and_dates": "import json, re\nfrom datetime import datetime\n"
                      "result = json.dumps([datetime.now().isoformat(), re.sub('a', 'b', 'abc')])",
}
TOOL = """name: tool
description: One tool
steps:
  - id: one
    tool: time.now
"""


def add(home, name, text):
    folder = home / "skills"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.yaml").write_text(text)


def main():
    deft, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 25
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder) / "home"
        environment = {**os.environ, "DEFT_HOME": str(home)}
        add(home, "tool", TOOL)
        for name, code in BLOCKS.items():
            lines = "".join(f"      {line}\n" for line in code.splitlines()).rstrip("\n")
            add(home, name, BLOCK.format(name=name, code=lines))

        def run(name):
            begun = time.perf_counter()
            done = subprocess.run([deft, "run", name, "--quiet"], env=environment, capture_output=True)
            took = (time.perf_counter() - begun) * 1e3
            if done.returncode:
                sys.exit(done.stderr.decode())
            return took

        def row(how):
            for name in ("tool", *BLOCKS):
                run(name)
                took = sorted(run(name) for _ in range(rounds))
                print(f"{how:16} {name:16} p50 {statistics.median(took):7.1f} ms   fastest {took[0]:7.1f} ms")

        row("alone")
        daemon = subprocess.Popen([deft, "up", "--quiet"], env=environment,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not (home / "data" / "compute").exists():
                time.sleep(0.05)
            row("beside a daemon")
        finally:
            daemon.terminate()
            daemon.wait()


if __name__ == "__main__":
    main()
