"""Validates the corpus with deft and with the reference, in turn, in one run.

usage: validate.py DEFT [CORPUS]

The reference runs in this process, so its start is not counted; deft is a new
process each time, so its start is.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

from skills_ref.validator import validate

ROUNDS = 5
SHARED = pathlib.Path(os.environ.get("DEFT_SHARED", "../shared"))


def main() -> int:
    deft = sys.argv[1]
    corpus = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else SHARED / "corpus/agentskills")
    if not corpus.exists():
        print(f"skipped: there is no corpus at {corpus}")
        return 0
    folders = sorted(path.parent for path in corpus.rglob("SKILL.md"))
    ours, theirs = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        verdicts = {str(folder): not validate(folder) for folder in folders}
        theirs.append(time.perf_counter() - start)
        command = [deft, "skills", "validate", "--profile", "agentskills", "--format", "json", str(corpus)]
        runs = []
        for _ in range(10):
            start = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL)
            runs.append(time.perf_counter() - start)
        ours.append(statistics.median(runs))
        report = json.loads(subprocess.run(command, capture_output=True).stdout)
        mine = {str(pathlib.Path(file["path"]).parent): file["ok"] for file in report["files"]}
        assert mine == verdicts, "verdicts differ"
    print(f"| validate {len(folders)} SKILL.md, deft as a process | {min(ours) * 1e3:.1f} to {max(ours) * 1e3:.1f} ms |")
    print(f"| the same, reference in-process | {min(theirs) * 1e3:.0f} to {max(theirs) * 1e3:.0f} ms |")
    print(f"| ratio of the medians | {statistics.median(theirs) / statistics.median(ours):.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
