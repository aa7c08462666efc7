#!/usr/bin/env python3
"""The servers of `deft up` under load, beside their peers: MCP, HTTP and WebSocket.

    servers.py DEFT LOAD ENGINE_BENCH CACHE [PART...]      (`make bench-servers` calls it)

LOAD is the bench `load` of the crate `deft-server`, which puts load on deft and on the peers in the same way.
Everything listens on loopback, on free ports, in a temporary folder. Parts: start, mcp, relay, trigger, feed, reads.
"""

import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "peers"))
from run import Restate, free_port, line, restate_service, wait_for  # noqa: E402
from web import Peers, store_runs  # noqa: E402

ROUNDS = 3
STORED_RUNS = 100_000
# The limits of a token are not what is measured.
CONFIG = """[server]
listen = "127.0.0.1:0"
reads_per_second = 1000000
changes_per_second = 1000000
"""
ONE = """name: one
description: One step
steps:
  - id: now
    tool: time.now
"""
FIVE = "name: five\ndescription: Five steps, each with an effect\nsteps:\n" + "".join(
    f"  - id: s{number}\n    tool: time.now\n    effects: once\n" for number in range(5)
)


class Deft:
    """A running `deft up` with its own home."""

    def __init__(self, deft, folder, config=""):
        self.home = pathlib.Path(folder) / "home"
        (self.home / "skills").mkdir(parents=True)
        for name, text in (("one", ONE), ("five", FIVE)):
            (self.home / "skills" / f"{name}.yaml").write_text(text)
        (self.home / "config.toml").write_text(CONFIG + config)
        environment = {**os.environ, "DEFT_HOME": str(self.home)}
        self.begun = time.perf_counter()
        log = open(pathlib.Path(folder) / "deft.log", "wb")
        self.process = subprocess.Popen([deft, "up"], env=environment, stdout=log, stderr=log)
        self.address = self.wait_for_address()
        self.token = (self.home / "token").read_text().strip()

    def stored_events(self):
        """The number of events in the store."""
        with sqlite3.connect(f"file:{self.home / 'data' / 'deft.db'}?mode=ro", uri=True) as store:
            return store.execute("SELECT count(*) FROM event").fetchone()[0]

    def wait_for_address(self):
        state = self.home / "server.json"
        while True:
            try:
                url = json.loads(state.read_text())["url"]
                return url.removeprefix("http://")
            except (OSError, ValueError, KeyError):
                time.sleep(0.002)
                if self.process.poll() is not None or time.perf_counter() - self.begun > 30:
                    sys.exit("deft up did not start")

    def cpu(self):
        return cpu(self.process.pid)

    def memory_mb(self):
        return memory_mb(self.process.pid)

    def close(self):
        self.process.terminate()
        self.process.wait()


def cpu(pid):
    """CPU seconds of a process, user and system."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid):
    """The memory of a process; pages that it shares count in part."""
    rollup = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    return next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) / 1024


class Bench:
    def __init__(self, deft, load, engine, cache):
        self.deft, self.load, self.engine, self.cache = deft, load, engine, pathlib.Path(cache)
        self.peers = Peers(self.cache)

    def http(self, server, method, path, body, count, connections, rate=0):
        arguments = ["http", server.address, server.token, method, path, body, count, connections, rate]
        return line([self.load, *map(str, arguments)])

    def mcp(self, address, token, tool, arguments, count=1000):
        return line([self.load, "mcp", address, token, "/mcp", tool, json.dumps(arguments), str(count)])

    def start(self, server):
        """How soon `deft up` is ready, and what it needs while it waits."""
        ready = []
        for _ in range(9):
            with tempfile.TemporaryDirectory() as folder:
                other = Deft(self.deft, folder)
                wait_for(f"http://{other.address}/readyz")
                ready.append((time.perf_counter() - other.begun) * 1e3)
                other.close()
        show("`deft up` ready, ms (bar 50)", sorted(ready)[len(ready) // 2])
        # A new home has a skill that fires every minute, so one sample may be of a daemon at work.
        time.sleep(10)
        sizes = sorted(self.sample(server) for _ in range(60))
        show("… waiting, MB (bar 25)", sizes[len(sizes) // 2])
        show("… the most within a minute, with a fire, MB", sizes[-1])
        with tempfile.TemporaryDirectory() as folder:
            begun = time.perf_counter()
            restate = Restate(self.cache, restate_service(self.cache), folder)
            show("… Restate ready, with a service, ms", (time.perf_counter() - begun) * 1e3)
            time.sleep(10)
            show("… Restate, without its service, MB", memory_mb(restate.server.pid))
            restate.close()
        for name, start in self.peers.tools():
            with start() as peer:
                show(f"… {name} ready, ms", peer.ready_ms)
                time.sleep(2)
                show(f"… {name}, MB", memory_mb(peer.pid))

    def sample(self, server):
        time.sleep(1)
        return server.memory_mb()

    def trigger(self, server):
        """A run of five `once` steps over HTTP, beside the engine alone and Restate's ingress."""
        service = restate_service(self.cache)
        with tempfile.TemporaryDirectory() as folder:
            restate = Restate(self.cache, service, folder)
            ingress = f"http://127.0.0.1:{restate.ingress}"
            pids = (restate.server.pid, restate.service.pid)
            try:
                for _ in range(ROUNDS):
                    self.trigger_alone(server, service, ingress, pids)
                    for connections in (16, 64):
                        self.trigger_many(server, service, ingress, pids, connections)
            finally:
                restate.close()

    def trigger_alone(self, server, service, ingress, pids):
        lone = line([self.engine, "--peer"])["p50_ms"]
        run, spent = self.fire(server, 1000, 1)
        peer, peer_spent = self.fire_peer(service, ingress, pids, 1000, 1)
        show("run of 5 `once` steps over HTTP, p50 ms", run["p50_ms"])
        show("… in units of the lone run (bar 2)", run["p50_ms"] / lone)
        show("… CPU per run, ms", spent)
        show("… Restate's ingress, p50 ms", peer["p50_ms"])
        show("… Restate, CPU per run, ms", peer_spent)

    def trigger_many(self, server, service, ingress, pids, connections):
        """Runs in flight share their commits, each of which costs about 0.1 ms in the kernel."""
        run, spent = self.fire(server, 10_000, connections)
        peer, peer_spent = self.fire_peer(service, ingress, pids, 2000, connections)
        show(f"{connections} such runs in flight, runs/s", run["per_s"])
        show("… CPU per run, ms (bar 0.45)", spent)
        show("… Restate, runs/s", peer["steps_per_s"] / 5)
        show("… Restate, CPU per run, ms", peer_spent)

    def fire(self, server, count, connections):
        before = server.cpu()
        body = json.dumps({"skill": "five", "inputs": {}})
        run = self.http(server, "POST", "/api/v1/runs?wait=30", body, count, connections)
        return run, (server.cpu() - before) / count * 1e3

    def fire_peer(self, service, ingress, pids, count, connections):
        before = sum(map(cpu, pids))
        peer = line([service, "load", ingress, str(count), str(connections)])
        return peer, (sum(map(cpu, pids)) - before) / count * 1e3

    def tool_calls(self, server):
        """`skill_run` of a skill with one step through `/mcp`, beside two servers whose tool does nothing."""
        (fastmcp, start_fastmcp), (sdk, start_sdk) = self.peers.tools()
        with start_fastmcp() as first, start_sdk() as second:
            for _ in range(ROUNDS):
                own = self.mcp(server.address, server.token, "skill_run", {"skill": "one"})
                show("`skill_run` of one step through /mcp, p50 ms (bar 2)", own["p50_ms"])
                for name, peer in ((fastmcp, first), (sdk, second)):
                    call = self.mcp(peer.address, "", "greet", {"who": "Ada"})
                    show(f"… {name}, a tool that does nothing, p50 ms", call["p50_ms"])

    def relay(self, _):
        """A tool of another server, over stdio behind deft and behind FastMCP's proxy. Both are called over HTTP."""
        command = self.peers.upstream()
        table = f'[mcp_servers.up]\ncommand = "{command[0]}"\nargs = {json.dumps(command[1:])}\nreexport = "plain"\n'
        (sdk, start_sdk) = self.peers.tools()[1]
        with tempfile.TemporaryDirectory() as folder, self.peers.relay() as proxy, start_sdk() as direct:
            deft = Deft(self.deft, folder, table)
            try:
                for _ in range(ROUNDS):
                    own = self.mcp(deft.address, deft.token, "greet", {"who": "Ada"})
                    peer = self.mcp(proxy.address, "", "greet", {"who": "Ada"})
                    near = self.mcp(direct.address, "", "greet", {"who": "Ada"})
                    show("a tool behind deft, p50 ms", own["p50_ms"])
                    show("… behind FastMCP's proxy, p50 ms", peer["p50_ms"])
                    show(f"… {sdk}, the same tool without anything in between, p50 ms", near["p50_ms"])
            finally:
                deft.close()

    def reads(self, server):
        """`GET /api/v1/runs` with many runs stored."""
        body = json.dumps({"skill": "one", "inputs": {}})
        stored = 0
        while stored < STORED_RUNS:
            self.http(server, "POST", "/api/v1/runs?wait=30", body, 10_000, 64)
            stored += 10_000
        for _ in range(ROUNDS):
            before = server.cpu()
            lone = self.http(server, "GET", "/api/v1/runs?limit=20", "", 5_000, 1)
            many = self.http(server, "GET", "/api/v1/runs?limit=20", "", 30_000, 16)
            spent = (server.cpu() - before) / 35_000 * 1e3
            show(f"GET /api/v1/runs of {stored} runs, requests/s (bar 5000)", many["per_s"])
            show("… p99 ms with 16 connections", many["p99_ms"])
            show("… p50 ms with one connection", lone["p50_ms"])
            show("… CPU per request, ms", spent)
            writing = threading.Thread(
                target=self.http, args=(server, "POST", "/api/v1/runs?wait=30", body, 1000, 4, 200)
            )
            writing.start()
            busy = self.http(server, "GET", "/api/v1/runs?limit=20", "", 20_000, 16)
            writing.join()
            show("… requests/s while 200 runs a second are stored", busy["per_s"])
        with tempfile.TemporaryDirectory() as folder:
            database = store_runs(folder, STORED_RUNS)
            for name, start in self.peers.readers(database):
                with start() as peer:
                    self.read_peer(name, peer)

    def read_peer(self, name, peer):
        """The same request to a server that does nothing but this."""
        for _ in range(ROUNDS):
            before = cpu(peer.pid)
            lone = self.http(peer, "GET", "/api/v1/runs?limit=20", "", 5_000, 1)
            many = self.http(peer, "GET", "/api/v1/runs?limit=20", "", 15_000, 16)
            show(f"… {name}, requests/s", many["per_s"])
            show(f"… {name}, p50 ms with one connection", lone["p50_ms"])
            show(f"… {name}, CPU per request, ms", (cpu(peer.pid) - before) / 20_000 * 1e3)

    def feed(self, server):
        """1,000 WebSocket clients that read, and 20 that never do, at 200 events a second."""
        body = json.dumps({"skill": "one", "inputs": {}})
        probe = self.follow(server, 1, 0, 4, body, 10)
        per_run = probe["events_max"] / 40
        rate = round(200 / per_run)
        before = server.memory_mb()
        used = server.cpu()
        stored = server.stored_events()
        figures = self.follow(server, 1_000, 20, 30, body, rate)
        stored = server.stored_events() - stored
        spent = server.cpu() - used
        show("events a run", per_run)
        show("WebSocket clients that read", figures["clients"])
        show("… events stored in 30 s", stored)
        show("… events each received, fewest", figures["events_min"])
        show("… events each received, most", figures["events_max"])
        show("… resyncs", figures["resyncs"])
        show("… delay p50 ms", figures["delay_p50_ms"])
        show("… delay p99 ms", figures["delay_p99_ms"])
        show("… deft, CPU seconds a second", spent / 30)
        show("… memory before, MB", before)
        show("… memory in the middle, MB", figures["middle_mb"])
        show("… memory at the end, MB", figures["end_mb"])
        if not figures["events_min"] == figures["events_max"] == stored:
            sys.exit("not every client received every stored event")
        with tempfile.TemporaryDirectory() as folder, self.peers.feed(store_runs(folder, 20)) as peer:
            used = cpu(peer.pid)
            arguments = [self.load, "feed", peer.address, "", "1000", "20", "30"]
            figures = line(arguments)
            show("… ws on Node, events each received, fewest", figures["events_min"])
            show("… ws on Node, delay p50 ms", figures["delay_p50_ms"])
            show("… ws on Node, delay p99 ms", figures["delay_p99_ms"])
            show("… ws on Node, CPU seconds a second", (cpu(peer.pid) - used) / 30)
            show("… ws on Node, memory at the end, MB", memory_mb(peer.pid))

    def follow(self, server, clients, stalled, seconds, body, rate):
        """Follows the events while runs are started at a rate."""
        arguments = ["feed", server.address, server.token, clients, stalled, seconds]
        reader = subprocess.Popen([self.load, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
        time.sleep(2 if clients > 1 else 0.5)
        middle = []
        timer = threading.Timer(seconds / 2, lambda: middle.append(server.memory_mb()))
        timer.start()
        self.http(server, "POST", "/api/v1/runs?wait=30", body, rate * (seconds - 3 if clients > 1 else seconds), 8, rate)
        end = server.memory_mb()
        out, _ = reader.communicate(timeout=120)
        return {**json.loads(out), "middle_mb": middle[0] if middle else end, "end_mb": end}


def show(name, figure):
    print(f"{name:<64} {figure:>10.2f}", flush=True)


def main():
    bench = Bench(*sys.argv[1:5])
    parts = {
        "start": bench.start, "mcp": bench.tool_calls, "relay": bench.relay, "trigger": bench.trigger,
        "feed": bench.feed, "reads": bench.reads,
    }
    chosen = sys.argv[5:] or list(parts)
    with tempfile.TemporaryDirectory() as folder:
        server = Deft(bench.deft, folder)
        try:
            for name in chosen:
                print(f"\n{parts[name].__doc__}", flush=True)
                parts[name](server)
        finally:
            server.close()


if __name__ == "__main__":
    main()
