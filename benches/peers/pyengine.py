#!/usr/bin/env python3
"""A plain Python engine in the style of the seeds: PyYAML, Jinja2, exec, sqlite3.

It runs the same workflow of five steps as deft does, durably: WAL, synchronous FULL, one commit for
the start, one for each step, one for the end. Templates and code are compiled once. Prints one JSON
line with the figures.

    pyengine.py [RUNS]
"""

import json
import os
import sqlite3
import sys
import tempfile
import time
import uuid

import jinja2
import yaml

SKILL = """
name: five
inputs: [{name: who}]
steps:
  - {id: s0, tool: act, args: {n: "{{ inputs.who }}"}}
  - {id: s1, tool: act, args: {n: "{{ s0.n }}"}}
  - {id: s2, tool: act, args: {n: "{{ s1.n }}"}}
  - {id: s3, tool: act, args: {n: "{{ s2.n }}"}}
  - {id: s4, tool: act, args: {n: "{{ s3.n }}"}}
outputs: {n: "{{ s4.n }}"}
"""


class Engine:
    def __init__(self, path):
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute("PRAGMA journal_mode=WAL")
        self.db.execute("PRAGMA synchronous=FULL")
        self.db.execute("CREATE TABLE run (id TEXT PRIMARY KEY, skill TEXT, status TEXT, inputs TEXT, outputs TEXT)")
        self.db.execute("CREATE TABLE event (seq INTEGER PRIMARY KEY, run TEXT, at REAL, kind TEXT, body TEXT)")
        self.skill = yaml.load(SKILL, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        env = jinja2.Environment(undefined=jinja2.StrictUndefined)
        self.steps = [
            (step["id"], {key: env.from_string(text) for key, text in step["args"].items()})
            for step in self.skill["steps"]
        ]
        self.outputs = {key: env.from_string(text) for key, text in self.skill["outputs"].items()}
        self.tools = {"act": lambda **args: args}

    def commit(self, run, kind, body, extra=None):
        self.db.execute("BEGIN IMMEDIATE")
        if extra:
            self.db.execute(*extra)
        self.db.execute(
            "INSERT INTO event (run, at, kind, body) VALUES (?, ?, ?, ?)",
            (run, time.time(), kind, json.dumps(body)),
        )
        self.db.execute("COMMIT")

    def run(self, inputs):
        run = "run_" + uuid.uuid4().hex
        scope = {"inputs": inputs}
        insert = ("INSERT INTO run VALUES (?, ?, 'running', ?, NULL)", (run, "five", json.dumps(inputs)))
        self.commit(run, "started", inputs, insert)
        for step, args in self.steps:
            rendered = {key: template.render(scope) for key, template in args.items()}
            scope[step] = self.tools["act"](**rendered)
            self.commit(run, "ended", {"step": step, "args": rendered, "value": scope[step]})
        outputs = {key: template.render(scope) for key, template in self.outputs.items()}
        update = ("UPDATE run SET status = 'done', outputs = ? WHERE id = ?", (json.dumps(outputs), run))
        self.commit(run, "finished", outputs, update)
        return outputs


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(os.path.join(folder, "runs.db"))
        for _ in range(50):
            assert engine.run({"who": "Ada"}) == {"n": "Ada"}
        times, begun, cpu = [], time.perf_counter(), time.process_time()
        for _ in range(runs):
            start = time.perf_counter()
            engine.run({"who": "Ada"})
            times.append(time.perf_counter() - start)
        wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    times.sort()
    print(json.dumps({
        "p50_ms": times[len(times) // 2] * 1000,
        "p99_ms": times[int(len(times) * 0.99)] * 1000,
        "steps_per_s": runs * 5 / wall,
        "cpu_ms": cpu * 1000 / runs,
    }))


if __name__ == "__main__":
    main()
