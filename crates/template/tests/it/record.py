"""Records what Python and Jinja2 make of the cases, one JSON value per line beside each file.

    python3 tests/it/record.py            writes tests/cases/{evaluate,render}/*.jsonl
    python3 tests/it/record.py --check    fails if a recording differs, writes nothing

Cases are the lines of *.txt; `⏎` stands for a line end, `##` begins a comment. A recording is
{"value": …} or {"error": type}. Templates need jinja2 (recorded with 3.1.6); without it they are
left alone.
"""

import builtins
import json
import math
import pathlib
import sys
import types
import warnings

warnings.simplefilter("ignore")
CASES = pathlib.Path(__file__).resolve().parent.parent / "cases"
CONTEXT = json.loads((CASES / "evaluate" / "context.json").read_text("utf-8"))
# `id` and `input` are names of values in a skill.
HIDDEN = {"id", "input", "open", "eval", "exec", "print", "dir", "vars", "globals", "locals"}


class AttrDict(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def wrap(value):
    if isinstance(value, dict):
        return AttrDict({key: wrap(item) for key, item in value.items()})
    if isinstance(value, list):
        return [wrap(item) for item in value]
    return value


def names(code):
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= names(constant)
    return found


def plain(value):
    """The value as JSON, or a TypeError if JSON cannot hold it."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError("not finite")
        return value
    if isinstance(value, dict):
        return {key_text(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, range, set, frozenset, *VIEWS)):
        return [plain(item) for item in value]
    raise TypeError(type(value).__name__)


VIEWS = (type({}.keys()), type({}.values()), type({}.items()))


def key_text(key):
    return key if isinstance(key, str) else json.dumps(key)


def condition(text):
    text = text.strip()
    if "\n" in text:
        text = f"({text}\n)"
    try:
        code = compile(text, "condition", "eval")
        scope = {name: None for name in names(code) if name in HIDDEN or not hasattr(builtins, name)}
        scope |= wrap(CONTEXT)
        return {"value": plain(eval(code, scope))}
    except Exception as error:
        return {"error": type(error).__name__}


def template_recorder():
    try:
        import jinja2
        from jinja2 import nodes
    except ImportError:
        return None
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, extensions=["jinja2.ext.do"])

    def template(text):
        try:
            tree = environment.parse(text)
            bare = text.strip("\n")
            if bare.startswith("{{") and bare.endswith("}}") and only_expression(tree, nodes):
                value = environment.compile_expression(bare[2:-2], undefined_to_none=False)(**context())
                if isinstance(value, types.GeneratorType):
                    value = list(value)
                if isinstance(value, jinja2.Undefined):
                    value = str(value)
                return {"value": plain(value)}
            return {"value": environment.from_string(text).render(**context())}
        except Exception as error:
            return {"error": type(error).__name__}

    return template


def context():
    # Some filters change what they are given.
    return json.loads(json.dumps(CONTEXT))


def only_expression(tree, nodes):
    if len(tree.body) != 1 or not isinstance(tree.body[0], nodes.Output):
        return False
    parts = tree.body[0].nodes
    return len(parts) == 1 and not isinstance(parts[0], nodes.TemplateData)


def inputs(path):
    lines = path.read_text("utf-8").splitlines()
    return [line.replace("⏎", "\n") for line in lines if line and not line.startswith("##")]


def main():
    check = "--check" in sys.argv
    wrong = []
    for folder, record in (("evaluate", condition), ("render", template_recorder())):
        for path in sorted((CASES / folder).glob("*.txt")) if record else []:
            lines = [json.dumps(record(text), ensure_ascii=False) for text in inputs(path)]
            recorded = "".join(line + "\n" for line in lines)
            target = path.with_suffix(".jsonl")
            if not check:
                target.write_text(recorded, "utf-8")
            elif not target.exists() or target.read_text("utf-8") != recorded:
                wrong.append(str(target))
    if wrong:
        sys.exit("recordings differ: " + ", ".join(wrong))


main()
