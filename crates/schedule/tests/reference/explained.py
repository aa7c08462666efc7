"""Where croniter and croner differ from deft, and why deft does what it does.

deft's rules: a wall time that a clock change skips fires once, at the end of the gap; one that
occurs twice fires once, at the first; an hour of `*` or a step (or all 24 listed) fires at every
instant whose wall clock matches, so it neither makes up for skipped times nor leaves out repeated
ones.
"""

import dataclasses
from collections.abc import Callable
from datetime import datetime, timezone


@dataclasses.dataclass
class Case:
    """One question: the fires of `expr` later than `start` and not later than `end`."""

    zone: str
    start: int
    end: int
    expr: str
    # The instant of the clock change in the middle, and by how much the clock moves.
    change: int | None
    shift: int

    def follows_clock(self) -> bool:
        hour = self.expr.split()[1]
        return "*" in hour or "/" in hour or hour == "0-23"

    def single(self) -> bool:
        """Hour and minute are plain numbers."""
        return all(field.isdigit() for field in self.expr.split()[:2])

    def is_gap(self) -> bool:
        return self.shift > 0

    def repeated(self, at: int) -> bool:
        """The instant is in the second run of a repeated hour."""
        return self.change is not None and self.change <= at < self.change - self.shift


@dataclasses.dataclass
class Rule:
    """A kind of difference: what only the library has, and what it lacks."""

    library: str
    words: str
    explains: Callable[[Case, list[int], list[int]], bool]


def repeats(case: Case, extra: list[int], lacking: list[int]) -> bool:
    return not case.follows_clock() and not lacking and all(map(case.repeated, extra))


def makes_up(case: Case, extra: list[int], lacking: list[int]) -> bool:
    return case.is_gap() and case.follows_clock() and not lacking and extra == [case.change]


def drops_short_run(case: Case, extra: list[int], lacking: list[int]) -> bool:
    short = -3600 < case.shift < 0
    return short and case.follows_clock() and not extra and all(map(case.repeated, lacking))


def drops_skipped(case: Case, extra: list[int], lacking: list[int]) -> bool:
    return case.is_gap() and not case.follows_clock() and not extra and lacking == [case.change]


def moves_to_last_workday(case: Case, extra: list[int], lacking: list[int]) -> bool:
    return "31W" in case.expr and not lacking and all(utc(at).month in (2, 4, 6, 9, 11) for at in extra)


def drops_first_of_march(case: Case, extra: list[int], lacking: list[int]) -> bool:
    return case.change is None and not extra and all((utc(at).month, utc(at).day) == (3, 1) for at in lacking)


def utc(at: int) -> datetime:
    return datetime.fromtimestamp(at, timezone.utc)


RULES = [
    # What is meant once a day runs once a day.
    Rule("croniter", "fires a fixed time again when its hour repeats", repeats),
    # Every two hours means the hours that pass; one that was skipped did not pass.
    Rule("croniter", "makes up for skipped times of `*` and step hours too", makes_up),
    # Lord Howe's clock goes back by half an hour: the half hour passes, so it counts.
    Rule("croniter", "leaves out a second run that is shorter than an hour", drops_short_run),
    # A month without a day 31 has no working day nearest to it.
    Rule("croniter", "takes `31W` as the last working day of shorter months", moves_to_last_workday),
    # croner keeps deft's rules, but only for a single hour and minute.
    Rule("croner", "fires a list of fixed times again when its hour repeats",
         lambda case, *rest: not case.single() and repeats(case, *rest)),
    Rule("croner", "drops a list of fixed times that is skipped",
         lambda case, *rest: not case.single() and case.shift < 86400 and drops_skipped(case, *rest)),
    # Apia had no 30 December 2011; deft fires at the end of that gap as of any other.
    Rule("croner", "drops fixed times on a day that is skipped",
         lambda case, *rest: case.shift == 86400 and drops_skipped(case, *rest)),
    # A mistake: `*/10` goes from 21 February straight to 11 March.
    Rule("croner", "misses the first of March after some days of February", drops_first_of_march),
]  # fmt: skip

# What a library does not read, or cannot answer.
REFUSED = {
    "croniter": {"0 9 LW * *", "0 9 * * 1-5#1", "0 9 * * MON,WED#2", "0 9 L * FRI#1"},
    "croner": set(),
}


def croniter_spelling(expr: str) -> str:
    """croniter has seconds behind the weekday, and writes the last Friday as `L5`."""
    fields = expr.split()
    if len(fields) > 5:
        fields = fields[1:6] + fields[:1] + fields[6:]
    fields = [f"L{field[0]}" if field[1:] == "L" else field for field in fields]
    return " ".join(fields)
