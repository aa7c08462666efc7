"""Compares deft's fires with those of croniter (PyPI) and croner (npm).

usage: compare.py FIRES CRONER
FIRES is the example `fires` of deft-schedule, CRONER a folder with node_modules/croner.

Asked are the fires around every clock change of two years in twelve zones, and three calm years of
rarer syntax. A difference must be one that a rule in `explained.py` explains, and a rule that
explains nothing any more is reported too, so that the list stays true.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

# Only the pinned package, never the host's files; and nothing is left in the working tree.
os.environ["PYTHONTZPATH"] = ""
sys.dont_write_bytecode = True

from datetime import datetime, timezone  # noqa: E402
from zoneinfo import ZoneInfo  # noqa: E402

from croniter import CroniterError, croniter  # noqa: E402

from explained import REFUSED, RULES, Case, croniter_spelling  # noqa: E402

HERE = pathlib.Path(__file__).parent
HOUR = 3600

# Zones, and the years in which something happens there.
ZONES = {
    "Africa/Cairo": (2025, 2027),
    "Africa/Casablanca": (2025, 2027),
    "America/New_York": (2025, 2027),
    "America/Santiago": (2025, 2027),
    "America/St_Johns": (2025, 2027),
    "Asia/Beirut": (2025, 2027),
    "Asia/Kathmandu": (1985, 1987),
    "Australia/Lord_Howe": (2025, 2027),
    "Europe/Berlin": (2025, 2027),
    "Europe/Dublin": (2025, 2027),
    "Pacific/Apia": (2010, 2013),
    "Pacific/Chatham": (2025, 2027),
}

AROUND_CHANGES = [
    "30 2 * * *", "0 2,14 * * *", "0 0 * * *", "30 0 * * *", "45 1 * * *", "59 23 * * *",
    "*/20 2 * * *", "0,15,30,45 1-3 * * *", "0 12 30 12 *", "15 0 * * 1-5", "0 * * * *",
    "*/30 * * * *", "*/7 * * * *", "15 */2 * * *", "0 0-23 * * *", "45 * * * SUN",
]  # fmt: skip

CALM = [
    "0 9 L * *", "0 9 LW * *", "0 9 15W * *", "0 9 1W * *", "0 9 31W * *", "0 9 * * 5L",
    "0 9 * * 0L", "0 9 * * FRI#2", "0 9 * * MON#5", "0 9 * * 1-5#1", "0 9 * * MON,WED#2",
    "0 9 1,15 * FRI", "0 9 1-7 * MON", "0 9 L * FRI#1", "0 9 29 2 *", "0 9 31 * *", "0 9 * * 0",
    "0 9 * * 7", "0 9 * * 5-7", "0 9 * * SAT-SUN", "0 9 * JAN-MAR,DEC MON-FRI", "0 9 ? * MON",
    "0 8-18/5 * * *", "5-59/30 4 * * *", "0 9 */10 * *", "0 9 * */5 *", "0 9 * * */2",
    "30 0 9 * * 1", "15,45 30 9 1 * *", "0 0 9 1 1 * 2027", "0 0 9 * 2 MON 2026-2028/2",
    "@weekly", "@monthly", "@yearly",
]  # fmt: skip


def offset(zone: str, at: int) -> int:
    delta = datetime.fromtimestamp(at, ZoneInfo(zone)).utcoffset()
    return int(delta.total_seconds()) if delta else 0


def start_of(year: int) -> int:
    return int(datetime(year, 1, 1, tzinfo=timezone.utc).timestamp())


def changes(zone: str, years: tuple[int, int]) -> list[int]:
    """The instants at which the zone's clock changes."""
    found = []
    for at in range(start_of(years[0]), start_of(years[1]), 6 * HOUR):
        low, high = at, at + 6 * HOUR
        if offset(zone, low) == offset(zone, high):
            continue
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if offset(zone, middle) == offset(zone, low) else (low, middle)
        found.append(high)
    return found


def questions() -> list[Case]:
    cases = []
    for zone, years in ZONES.items():
        for at in changes(zone, years):
            shift = offset(zone, at) - offset(zone, at - 1)
            for expr in AROUND_CHANGES:
                cases.append(Case(zone, at - 40 * HOUR, at + 40 * HOUR, expr, at, shift))
    cases += [Case("UTC", start_of(2026) - 1, start_of(2029), expr, None, 0) for expr in CALM]
    return cases


def ask_deft(program: str, cases: list[Case]) -> list[list[int]]:
    lines = "".join(f"{case.zone}|{case.start}|{case.end}|{case.expr}\n" for case in cases)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    return [[int(word) for word in line.split()] for line in done.stdout.splitlines()]


def ask_croniter(case: Case) -> list[int] | str:
    try:
        start = datetime.fromtimestamp(case.start, ZoneInfo(case.zone))
        fires = croniter(croniter_spelling(case.expr), start, ret_type=float)
        found: list[int] = []
        # An expression with a year ends with an error.
        while True:
            try:
                at = int(fires.get_next())
            except CroniterError:
                return found if found else "failed to find next date"
            if at > case.end:
                return found
            found.append(at)
    except CroniterError as problem:
        return str(problem)


def ask_croner(folder: str, cases: list[Case]) -> list[list[int] | str | None]:
    """`None` where the zone data of this host's Node is older than ours."""
    asked = [{"zone": c.zone, "from": c.start, "to": c.end, "expr": c.expr} for c in cases]
    command = ["node", str(HERE / "croner.mjs"), folder]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True)
    answers: list[list[int] | str | None] = []
    for case, answer in zip(cases, json.loads(done.stdout), strict=True):
        if "error" in answer:
            answers.append(answer["error"])
            continue
        ends = [offset(case.zone, case.start), offset(case.zone, case.end)]
        answers.append(answer["fires"] if answer["offsets"] == ends else None)
    return answers


def judge(library: str, case: Case, ours: list[int], theirs: list[int] | str) -> str | None:
    """The words of the rule that explains the difference, `same`, or nothing."""
    if isinstance(theirs, str):
        return "does not read it" if case.expr in REFUSED[library] else None
    if ours == theirs:
        return "same"
    extra = [at for at in theirs if at not in ours]
    lacking = [at for at in ours if at not in theirs]
    # Doubled or out of order is never explained.
    if theirs != sorted(set(theirs)):
        return None
    for rule in RULES:
        if rule.library == library and rule.explains(case, extra, lacking):
            return rule.words
    return None


def report(library: str, cases: list[Case], ours: list, theirs: list) -> int:
    counts: collections.Counter[str] = collections.Counter()
    failures = 0
    read = set()
    for case, mine, other in zip(cases, ours, theirs, strict=True):
        if other is None:
            counts["other zone data"] += 1
            continue
        if isinstance(other, list):
            read.add(case.expr)
        words = judge(library, case, mine, other)
        if words is None:
            failures += 1
            print(f"{library}: {case}\n  deft {mine}\n  {library} {other}")
        counts[words or "not explained"] += 1
    for rule in RULES:
        if rule.library == library and not counts[rule.words]:
            failures += 1
            print(f"{library}: nothing shows any more that it {rule.words}")
    for expr in sorted(REFUSED[library] & read):
        failures += 1
        print(f"{library}: reads `{expr}` after all")
    print(f"{library}: {counts.pop('same')} of {len(cases)} the same")
    for words, count in counts.most_common():
        print(f"  {count:4} {words}")
    return failures


def main() -> int:
    program, folder = sys.argv[1:]
    cases = questions()
    ours = ask_deft(program, cases)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        croner = pool.submit(ask_croner, folder, cases)
        failures = report("croniter", cases, ours, [ask_croniter(case) for case in cases])
        failures += report("croner", cases, ours, croner.result())
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
