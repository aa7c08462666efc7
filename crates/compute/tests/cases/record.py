#!/usr/bin/env python3
"""Records what CPython gives for every snippet, or with --check compares.

usage: record.py [--check]

snippets.txt has a heading `=== name` before each block, `=== C name` before a condition and
`=== E name` before an expression. The values go to expected.json. The snippets in
../corpus/battery.json carry their values (`expect`) themselves. Written for Python 3.11.
"""

import contextlib
import dataclasses
import datetime
import decimal
import enum
import fractions
import io
import json
import math
import pathlib
import sys
import types
import uuid

HERE = pathlib.Path(__file__).parent
BATTERY = HERE.parent / "corpus" / "battery.json"


class AttrDict(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self[name] = value

    def __delattr__(self, name):
        del self[name]

    def copy(self):
        return AttrDict(self)


AttrDict.__name__ = AttrDict.__qualname__ = "dict"


def snippets():
    found, name = {}, None
    for line in (HERE / "snippets.txt").read_text().splitlines(keepends=True):
        if line.startswith("=== "):
            name = line[4:].strip()
            assert name not in found, name
            found[name] = ""
        else:
            found[name] += line
    return found


def plain(value):
    """The value as the worker writes it: see `worker/python/value.rs`."""
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, dict):
        return {key if isinstance(key, str) else as_key(key): plain(v) for key, v in value.items()}
    if isinstance(value, (set, frozenset)):
        return [plain(v) for v in sorted(value)]
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (datetime.timedelta, decimal.Decimal, fractions.Fraction, uuid.UUID)):
        return str(value)
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    return [plain(v) for v in value]


def as_key(key):
    written = plain(key)
    return written if isinstance(written, str) else json.dumps(written)


def value_of(code, kind, context):
    # Data classes look their module up by name.
    sys.modules["__main__"] = main = types.ModuleType("__main__")
    scope = main.__dict__
    scope.update(json.loads(context, object_hook=AttrDict))
    with contextlib.redirect_stdout(io.StringIO()):
        if kind == "C":
            return bool(eval(code.strip(), scope))
        if kind == "E":
            return plain(eval(code.strip(), scope))
        exec(code, scope)
        return plain(scope.get("result"))


def own_cases():
    context = (HERE / "context.json").read_text()
    recorded = {}
    for name, code in snippets().items():
        kind = name[0] if name[:2] in ("C ", "E ") else "block"
        try:
            recorded[name] = value_of(code, kind, context)
        except ModuleNotFoundError as missing:
            # Not a part of Python: what was recorded where it is installed stands.
            if missing.name != "yaml":
                raise
            recorded[name] = json.loads((HERE / "expected.json").read_text())[name]
    return recorded


def battery():
    whole = json.loads(BATTERY.read_text())
    context = json.dumps(whole["ctx"])
    for test in whole["tests"]:
        test["expect"] = value_of(test["code"], "C" if test["kind"] == "c" else "block", context)
    return whole


def main():
    stale = []
    for target, values in ((HERE / "expected.json", own_cases()), (BATTERY, battery())):
        text = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
        if target.read_text() == text:
            continue
        stale.append(target.name)
        if "--check" not in sys.argv:
            target.write_text(text)
    if stale and "--check" in sys.argv:
        sys.exit(f"not what this Python gives: {', '.join(stale)}; run record.py")
    print("written: " + ", ".join(stale) if stale else "unchanged")


if __name__ == "__main__":
    main()
