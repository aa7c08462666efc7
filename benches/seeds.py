"""What the examples of the seeds cost: questions to the model, tokens, and deft's own time.

    seeds.py PATH_TO_DEFT

A scripted server stands in for the model and answers at once, so that the time is deft's alone; tokens
are counted as four characters each. Beside it stands what the seeds expect of a real model (S0.54).
"""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

STORE = {
    "name": "Drink water",
    "trigger_config": {"in_minutes": 5},
    "instructions": "Send a reminder to drink water",
    "execution_plan": [{"id": "s", "toolName": "notify", "parameters": {"message": "Drink water!"}}],
}
NEWS = {
    "name": "AI news",
    "trigger_config": {"schedule": "0 */3 * * *"},
    "instructions": "Search the latest AI news and summarize them.",
    "required_tools": ["time.now", "notify"],
}
BRIEFING = """---
name: briefing
description: A morning briefing
metadata:
  required_tools: [time.now, notify]
  max_steps: 15
---
Look what time it is, summarize what is known, and send a briefing.
"""


def call(name, args):
    return {"calls": [(name, args)]}


# What is said or run, what the model answers, and what the seeds expect in tokens.
EXAMPLES = [
    ("remind me in 5 minutes to drink water", ["chat", "-p", "Remind me in 5 minutes to drink water"],
     [call("memory_store_skill", STORE), {"text": "Done! In 5 minutes."}], "-"),
    ("search AI news every 3 hours, summarize", ["chat", "-p", "Search AI news every 3 hours and summarize them"],
     [call("get_tool_catalog", {}), call("memory_store_skill", NEWS), {"text": "Done! Every 3 hours."}], "-"),
    ("what is the capital of France?", ["chat", "-p", "What is the capital of France?"],
     [{"text": "Paris."}], "500 to 2,000"),
    ("what do you know about me?", ["chat", "-p", "What do you know about me?"],
     [{"text": "Nothing yet."}], "500 to 2,000"),
    ("a fired briefing of three steps", ["run", "briefing"],
     [call("time_now", {}), call("notify", {"message": "Good morning"}), {"text": "Sent."}], "2,000 to 5,000"),
]


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        body = json.loads(asked)
        state = self.server.state
        state["chars"] += len(json.dumps(body["messages"])) + len(json.dumps(body.get("tools", [])))
        state["questions"] += 1
        answer = state["script"].pop(0)
        message = {"role": "assistant", "content": answer.get("text")}
        if "calls" in answer:
            message["tool_calls"] = [
                {"id": f"c{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
                for i, (name, args) in enumerate(answer["calls"])
            ]
        reason = "tool_calls" if "calls" in answer else "stop"
        usage = {"prompt_tokens": len(asked) // 4, "completion_tokens": 20, "total_tokens": 0}
        out = {"id": "x", "object": "chat.completion", "model": "double", "usage": usage,
               "choices": [{"index": 0, "message": message, "finish_reason": reason}]}
        if body.get("stream"):
            delta = dict(message)
            for i, one in enumerate(delta.get("tool_calls", [])):
                one["index"] = i
            chunk = {"id": "x", "object": "chat.completion.chunk", "model": "double",
                     "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], "usage": usage}
            data = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
            kind = "text/event-stream"
        else:
            data, kind = json.dumps(out).encode(), "application/json"
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def main():
    deft = sys.argv[1]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("| example | questions | tokens in | deft's own time | S0.54 expects |")
    print("| --- | --- | --- | --- | --- |")
    for name, args, script, expected in EXAMPLES:
        best, state = None, None
        for _ in range(5):
            with tempfile.TemporaryDirectory() as home:
                home = pathlib.Path(home)
                url = f"http://127.0.0.1:{server.server_port}/v1"
                (home / "config.toml").write_text(
                    f'[llm.double]\nprovider = "openai"\nmodel = "double"\nbase_url = "{url}"\n')
                env = {**os.environ, "DEFT_HOME": str(home), "NO_COLOR": "1"}
                subprocess.run([deft, "init", "--yes"], env=env, check=True, capture_output=True)
                skill = home / "skills" / "briefing"
                skill.mkdir(parents=True)
                (skill / "SKILL.md").write_text(BRIEFING)
                server.state = {"chars": 0, "questions": 0, "script": list(script)}
                begun = time.monotonic()
                done = subprocess.run([deft, *args], env=env, capture_output=True, text=True)
                took = time.monotonic() - begun
                if done.returncode:
                    sys.exit(f"{name}: {done.stderr}")
                if best is None or took < best:
                    best, state = took, dict(server.state)
        print(f"| {name} | {state['questions']} | {state['chars'] // 4:,} | {best * 1000:.0f} ms | {expected} |")


main()
