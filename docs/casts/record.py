#!/usr/bin/env python3
"""Records the cast files of the README: real sessions in a real terminal, in asciinema's format (v2).

    python3 docs/casts/record.py target/fast/deft

Each scene starts in an empty home and types its lines as a person would. Long pauses are shortened, so
that a viewer does not wait for a schedule.
"""

import json
import os
import pty
import re
import select
import shutil
import struct
import sys
import tempfile
import termios
import time
from fcntl import ioctl
from pathlib import Path

COLUMNS, ROWS = 80, 24
PROMPT = "$ "
LONGEST_PAUSE = 2.0
KEY_SECONDS = 0.035

# What is typed, and how long at most it may take until the prompt is back.
SCENES = {
    "first-reminder": [
        ("deft init", 20),
        ("deft remind drink water in 5m", 10),
        ("deft remind stand up every weekday 11:00", 10),
        ("deft schedule list", 10),
        ("deft status", 10),
    ],
    "crash": [("deft demo crash", 60)],
    "undo": [
        ("deft init", 20),
        ("deft run countdown", 30),
        ("deft runs show last", 10),
        ("deft skills delete countdown --yes", 10),
        ("deft undo", 10),
    ],
}


class Session:
    """A shell in a terminal, and everything it writes with the time."""

    def __init__(self, deft: Path, home: Path):
        self.events, self.clock, self.last = [], 0.0, None
        self.screen = ""
        child, self.terminal = pty.fork()
        if child == 0:
            environment = {
                "HOME": str(home),
                "PATH": f"{deft.parent}:/usr/local/bin:/usr/bin:/bin",
                "PS1": PROMPT,
                "TERM": "xterm-256color",
                "TZ": "Europe/Berlin",
                "LANG": "C.UTF-8",
            }
            os.chdir(home)
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile"], environment)
        ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def read(self, seconds: float) -> bool:
        """Takes what is written within so many seconds; False if that is nothing."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return False
        text = os.read(self.terminal, 65536).decode("utf-8", "replace")
        now = time.monotonic()
        self.clock += min(now - (self.last or now), LONGEST_PAUSE)
        self.last = now
        self.screen += text
        self.events.append([round(self.clock, 3), "o", text])
        return True

    def wait_for_prompt(self, seconds: float):
        end = time.monotonic() + seconds
        plain = lambda: re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.screen)
        while not plain().endswith(PROMPT):
            if time.monotonic() > end:
                sys.exit(f"no prompt after {seconds} s:\n{self.screen}")
            self.read(0.2)

    def type(self, line: str, seconds: float):
        self.wait_for_prompt(10)
        self.screen = ""
        for key in line:
            os.write(self.terminal, key.encode())
            self.read(KEY_SECONDS)
            time.sleep(KEY_SECONDS)
        os.write(self.terminal, b"\r")
        self.read(0.5)
        self.wait_for_prompt(seconds)
        self.clock += 1.2


def record(name: str, lines, deft: Path, folder: Path):
    home = Path(tempfile.mkdtemp(prefix="deft-cast-"))
    try:
        session = Session(deft, home)
        for line, seconds in lines:
            session.type(line, seconds)
        # Viewers see a usual home, not the temporary one.
        events = json.dumps(session.events).replace(str(home), "/home/ada")
    finally:
        shutil.rmtree(home, ignore_errors=True)
    head = {"version": 2, "width": COLUMNS, "height": ROWS, "title": f"deft: {name}"}
    path = folder / f"{name}.cast"
    lines = [json.dumps(head)] + [json.dumps(event) for event in json.loads(events)]
    path.write_text("\n".join(lines) + "\n")
    print(f"{path.name}: {session.clock:.0f} s, {len(session.events)} events")


def main():
    deft = Path(sys.argv[1]).resolve()
    folder = Path(__file__).parent
    for name, lines in SCENES.items():
        record(name, lines, deft, folder)


main()
