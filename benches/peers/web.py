"""The servers that the servers of `deft up` are measured beside: MCP, lists of runs, live feeds.

Their packages come from the registries into the cache folder; the sources are in `servers/`.
"""

import os
import pathlib
import socket
import sqlite3
import subprocess
import sys
import time

from run import free_port

SOURCES = pathlib.Path(__file__).parent / "servers"


class Peer:
    """A server on a free port, until the end of a `with` block."""

    def __init__(self, command, *arguments, folder=None):
        port = free_port()
        begun = time.perf_counter()
        self.process = subprocess.Popen([*map(str, command), str(port), *map(str, arguments)], cwd=folder)
        self.pid, self.address, self.token = self.process.pid, f"127.0.0.1:{port}", ""
        wait_for_port(port)
        self.ready_ms = (time.perf_counter() - begun) * 1e3

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class Peers:
    def __init__(self, cache):
        self.cache = cache

    def tools(self):
        """MCP servers with one tool, each with its name and the function that starts it."""
        return [
            ("FastMCP", lambda: Peer([self.python(), SOURCES / "tools.py"])),
            ("TypeScript SDK", lambda: self.node_peer("tools.mjs")),
        ]

    def relay(self):
        """FastMCP's proxy in front of the server of `upstream`."""
        return Peer([self.python(), SOURCES / "relay.py"], *self.upstream())

    def upstream(self):
        """The command of a server over stdio."""
        node, folder = self.node()
        return [str(node), str(folder / "upstream.mjs")]

    def readers(self, database):
        """HTTP servers that list runs, each with its name and the function that starts it."""
        return [
            ("Starlette and SQLite", lambda: Peer([self.python(), SOURCES / "runs.py"], database)),
            ("Express and SQLite", lambda: self.node_peer("runs.mjs", database, 0)),
        ]

    def feed(self, database):
        """A WebSocket server that sends 200 events a second to each client."""
        return self.node_peer("runs.mjs", database, 200)

    def node_peer(self, script, *arguments):
        node, folder = self.node()
        return Peer([node, script], *arguments, folder=folder)

    def python(self):
        """The interpreter of an environment with the Python packages."""
        folder = self.cache / "peer-fastmcp"
        requirements = SOURCES / "requirements.txt"
        ready, wanted = folder / "ready", requirements.read_text()
        if not ready.exists() or ready.read_text() != wanted:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            subprocess.run([folder / "bin" / "pip", "install", "--quiet", "-r", requirements], check=True)
            ready.write_text(wanted)
        return folder / "bin" / "python"

    def node(self):
        """The Node of the referees, and a folder with the scripts and their packages."""
        referees = self.cache / "referees"
        folder = referees / "peer"
        folder.mkdir(parents=True, exist_ok=True)
        for source in [SOURCES / "package.json", *SOURCES.glob("*.mjs")]:
            (folder / source.name).write_text(source.read_text())
        path = f"{referees / 'bin'}:{os.environ['PATH']}"
        subprocess.run(
            ["npm", "install", "--silent", "--no-audit", "--no-fund"],
            cwd=folder, check=True, env={**os.environ, "PATH": path},
        )
        return referees / "bin" / "node", folder


def store_runs(folder, count):
    """A database with as many runs as deft has stored, with the columns that a list of runs shows."""
    path = pathlib.Path(folder) / "runs.db"
    with sqlite3.connect(path) as store:
        store.execute(
            "CREATE TABLE run (number INTEGER PRIMARY KEY, id TEXT, skill TEXT, revision TEXT, tier TEXT, cause TEXT, "
            "status TEXT, outcome TEXT, inputs TEXT, outputs TEXT, started_at TEXT, finished_at TEXT, duration_ms INTEGER)"
        )
        at = "2026-11-19T12:00:00.000Z"
        rows = (
            (f"0199-{number:012}", "one", "sha256:" + "0" * 64, "workflow", "http", "done", "success", "{}",
             '{"now": "2026-11-19T12:00:00Z"}', at, at, 1)
            for number in range(count)
        )
        store.executemany("INSERT INTO run VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    return path


def wait_for_port(port, seconds=30):
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
