"""Reads a JSON list of expressions; writes a JSON list with each tree, or null if refused."""

import ast
import json
import struct
import sys
import warnings

warnings.simplefilter("ignore")


def bits(value):
    return str(struct.unpack("<Q", struct.pack("<d", value))[0])


def constant(value):
    if value is None:
        return ["none"]
    if value is ...:
        return ["ellipsis"]
    # JSON readers refuse a lone surrogate.
    if isinstance(value, str):
        value = value.encode("utf-8", "replace").decode()
    kinds = {
        bool: lambda: ["bool", value],
        int: lambda: ["int", str(value)],
        float: lambda: ["float", bits(value)],
        complex: lambda: ["imaginary", bits(value.imag)],
        str: lambda: ["str", value],
        bytes: lambda: ["bytes", list(value)],
    }
    return kinds[type(value)]()


def parts(node):
    out = []
    for value in node.values:
        if isinstance(value, ast.Constant):
            out.append(["str", value.value])
            continue
        conversion = None if value.conversion == -1 else chr(value.conversion)
        spec = None if value.format_spec is None else parts(value.format_spec)
        out.append(["value", dump(value.value), conversion, spec])
    return out


def params(args):
    plain = [("posonly", a) for a in args.posonlyargs] + [("standard", a) for a in args.args]
    defaults = [None] * (len(plain) - len(args.defaults)) + args.defaults
    out = [[kind, a.arg, dump(d)] for (kind, a), d in zip(plain, defaults)]
    if args.vararg:
        out.append(["varargs", args.vararg.arg, None])
    out += [["kwonly", a.arg, dump(d)] for a, d in zip(args.kwonlyargs, args.kw_defaults)]
    if args.kwarg:
        out.append(["varkw", args.kwarg.arg, None])
    return out


def target(node):
    if isinstance(node, ast.Name):
        return ["name", node.id]
    if isinstance(node, (ast.Tuple, ast.List)):
        return ["tuple", [target(item) for item in node.elts]]
    if isinstance(node, ast.Starred):
        return ["star", target(node.value)]
    return ["other"]


def clauses(generators):
    return [[target(g.target), dump(g.iter), [dump(i) for i in g.ifs]] for g in generators]


def each(nodes):
    return [dump(node) for node in nodes]


def dump(node):
    name = type(node).__name__
    match node:
        case None:
            return None
        case ast.Name():
            return ["name", node.id]
        case ast.Constant():
            return constant(node.value)
        case ast.JoinedStr():
            if all(isinstance(value, ast.Constant) for value in node.values):
                return ["str", "".join(value.value for value in node.values)]
            return ["fstring", parts(node)]
        case ast.BoolOp():
            return [type(node.op).__name__, each(node.values)]
        case ast.UnaryOp():
            return [type(node.op).__name__, dump(node.operand)]
        case ast.BinOp():
            return [type(node.op).__name__, dump(node.left), dump(node.right)]
        case ast.Compare():
            pairs = zip(node.ops, node.comparators)
            return ["compare", dump(node.left), [[type(o).__name__, dump(c)] for o, c in pairs]]
        case ast.IfExp():
            return ["if", dump(node.test), dump(node.body), dump(node.orelse)]
        case ast.Lambda():
            return ["lambda", params(node.args), dump(node.body)]
        case ast.NamedExpr():
            return ["walrus", node.target.id, dump(node.value)]
        case ast.Call():
            keywords = [[k.arg, dump(k.value)] for k in node.keywords]
            return ["call", dump(node.func), each(node.args), keywords]
        case ast.Attribute():
            return ["attribute", dump(node.value), node.attr]
        case ast.Subscript():
            return ["subscript", dump(node.value), dump(node.slice)]
        case ast.Slice():
            return ["slice", dump(node.lower), dump(node.upper), dump(node.step)]
        case ast.List() | ast.Tuple() | ast.Set():
            return [name.lower(), each(node.elts)]
        case ast.Starred():
            return ["star", dump(node.value)]
        case ast.Dict():
            return ["dict", [[dump(k), dump(v)] for k, v in zip(node.keys, node.values)]]
        case ast.ListComp() | ast.SetComp():
            return [name.lower(), dump(node.elt), clauses(node.generators)]
        case ast.GeneratorExp():
            return ["generator", dump(node.elt), clauses(node.generators)]
        case ast.DictComp():
            return ["dictcomp", dump(node.key), dump(node.value), clauses(node.generators)]
    return ["other", name]


def judge(text):
    text = text.strip()
    # A line end is white space in a condition, which Python says with parentheses.
    if "\n" in text:
        text = f"({text}\n)"
    try:
        compile(text, "condition", "eval")
        return dump(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


json.dump([judge(text) for text in json.load(sys.stdin)], sys.stdout)
