#!/usr/bin/env python3
"""The same workflow of five steps on deft, on Restate and on a plain Python engine, in turn.

Prints a table with ratios. Everything listens on loopback, on free ports, in a temporary folder; the
Restate server comes from the npm registry into the cache folder, without install scripts. Its
durability settings are its defaults.

    run.py CACHE DEFT_BENCH [ROUNDS]      (`make bench-peers` calls it)
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).parent
RESTATE = "1.7.12"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def restate_binary(cache):
    folder = cache / f"restate-{RESTATE}"
    found = sorted(folder.glob("node_modules/@restatedev/restate-server-linux-*/bin/restate-server"))
    if not found:
        folder.mkdir(parents=True, exist_ok=True)
        machine = {"x86_64": "x64", "aarch64": "arm64"}[os.uname().machine]
        package = f"@restatedev/restate-server-linux-{machine}@{RESTATE}"
        subprocess.run(
            ["npm", "install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", package],
            cwd=folder, check=True,
        )
        found = sorted(folder.glob("node_modules/@restatedev/restate-server-linux-*/bin/restate-server"))
    return found[0]


def restate_service(cache):
    """The program with the workflow as a service of Restate, and its load generator."""
    target = cache / "peers"
    subprocess.run(
        ["cargo", "build", "--release", "--quiet", "--manifest-path", HERE / "restate" / "Cargo.toml", "--target-dir", target],
        check=True,
    )
    return str(target / "release" / "peer-restate")


def wait_for(url, seconds=30):
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


class Restate:
    def __init__(self, cache, service, folder):
        self.ingress, self.admin, self.node, self.port = (free_port() for _ in range(4))
        self.service = subprocess.Popen([service, "serve", str(self.port)])
        env = {
            "PATH": os.environ["PATH"],
            "RESTATE_BASE_DIR": folder,
            "RESTATE_NODE_NAME": "peer",
            "RESTATE_BIND_ADDRESS": f"127.0.0.1:{self.node}",
            "RESTATE_ADVERTISED_ADDRESS": f"http://127.0.0.1:{self.node}",
            "RESTATE_ADMIN__BIND_ADDRESS": f"127.0.0.1:{self.admin}",
            "RESTATE_INGRESS__BIND_ADDRESS": f"127.0.0.1:{self.ingress}",
            "RESTATE_DISABLE_TELEMETRY": "true",
            "DO_NOT_TRACK": "1",
            "RESTATE_LOG_FILTER": "warn",
            "RUST_LOG": "warn",
        }
        log = open(os.path.join(folder, "server.log"), "wb")
        self.server = subprocess.Popen([restate_binary(cache)], env=env, cwd=folder, stdout=log, stderr=log)
        wait_for(f"http://127.0.0.1:{self.admin}/health")
        body = json.dumps({"uri": f"http://127.0.0.1:{self.port}"}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.admin}/deployments", body, {"content-type": "application/json"}
        )
        urllib.request.urlopen(request).read()

    def close(self):
        for process in (self.server, self.service):
            process.kill()
            process.wait()


def line(command):
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out.strip().splitlines()[-1])


def main():
    cache, bench = pathlib.Path(sys.argv[1]), sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    service = restate_service(cache)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        restate = Restate(cache, service, folder)
        try:
            for _ in range(rounds):
                ingress = f"http://127.0.0.1:{restate.ingress}"
                rows.append({
                    "deft": line([bench, "--peer"]),
                    "python": line([sys.executable, HERE / "pyengine.py", "500"]),
                    "restate": {
                        **line([service, "load", ingress, "300", "1"]),
                        "steps_per_s": line([service, "load", ingress, "2000", "64"])["steps_per_s"],
                    },
                })
        finally:
            restate.close()
    print(f"five steps, durable; {rounds} rounds, lowest to highest; python runs one at a time, the others 64\n")
    print(f"{'':<10} {'lone p50 ms':>16} {'steps/s':>20} {'deft is quicker':>16} {'more steps':>12}")
    best = {peer: [row[peer] for row in rows] for peer in ("deft", "python", "restate")}
    for peer, figures in best.items():
        p50 = sorted(f["p50_ms"] for f in figures)
        rate = sorted(f["steps_per_s"] for f in figures)
        ratio = sorted(row[peer]["p50_ms"] / row["deft"]["p50_ms"] for row in rows)
        more = sorted(row["deft"]["steps_per_s"] / row[peer]["steps_per_s"] for row in rows)
        print(
            f"{peer:<10} {p50[0]:>7.2f} – {p50[-1]:<6.2f} {rate[0]:>9.0f} – {rate[-1]:<8.0f} "
            f"{ratio[0]:>6.1f} – {ratio[-1]:<6.1f} {more[0]:>5.1f} – {more[-1]:<5.1f}"
        )


if __name__ == "__main__":
    main()
