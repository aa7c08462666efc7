"""Loads modules into the zygote, and hides what code has no business with.

Between two calls of `load` modules see the `sys` that code sees, nothing finds a loader, and the
modules in `removed` are nowhere. Nothing that code can reach leads here: the host alone holds `load`.
The host gives `native`, `prelude` (the globals of `prelude.py`), `exports` (what that one made), and
lists of names: `public`, `inner`, `codecs`, `removed`.
"""

import sys
import gc
import warnings

warnings.simplefilter("ignore")

Module = type(sys)
shown = exports["shown"]
real, visible = sys.modules, {}
finders, hooks = list(sys.meta_path), list(sys.path_hooks)
# Entries of modules that are another thing while code runs: (entries, name, what is there then).
hidden, seen = [], set()
nothing = object()
settled = set()

# What a module wants without saying so, or says only once it is used.
first = {"gzip": ["posixpath"], "pathlib": ["posixpath"], "xml": ["xml.parsers.expat"]}


def load(names):
    """Loads what is named, everything for `*`, and gives all modules that are loaded."""
    if "*" in names:
        names = [*public, *inner, *("encodings." + name for name in codecs)]
    wanted = [name for name in names if name not in real or is_package(name)]
    reveal()
    try:
        for name in wanted:
            fetch(name)
    finally:
        conceal()
    return {name: one for name, one in real.items() if name not in removed}


def is_package(name):
    return any(other.startswith(name + ".") and other not in real for other in public)


def fetch(name):
    for other in first.get(name, ()):
        __import__(other)
    settle()
    if name == "zoneinfo":
        add_zones()
    elif name != "io":
        __import__(name)
    for other in public:
        if other.startswith(name + "."):
            __import__(other)
    settle()


def settle():
    """What is done once to a module that is there now."""
    if prelude["reseed"] is None and "random" in real:
        prelude["reseed"] = exports["seeded"](real["random"])
    if prelude["uuid"] is None and "uuid" in real:
        prelude["uuid"] = real["uuid"]
    if prelude["set_context"] is None and "decimal" in real:
        prelude["set_context"] = real["decimal"].setcontext
        prelude["default_context"] = real["decimal"].DefaultContext
    if "posixpath" in real:
        # Names of files, not files.
        real["os"].path = real["posixpath"]
    if "xml.etree.ElementTree" in real and "xml" not in settled:
        settled.add("xml")
        exports["closed"](real["xml.etree.ElementTree"])
    if "pathlib" in real and "pathlib" not in settled:
        settled.add("pathlib")
        for name in ("Path", "PosixPath", "WindowsPath"):
            setattr(real["pathlib"], name, exports["absent"](
                name, "it is for files; `PurePath` has everything that only looks at names"
            ))


def add_zones():
    import datetime
    made = Module("zoneinfo")
    made.__dict__.update(exports["zones"](
        datetime, native["zone_local"], native["zone_utc"], native["zones"]
    ))
    real["zoneinfo"] = made


def reveal():
    gc.disable()
    sys.modules = real
    sys.meta_path[:], sys.path_hooks[:] = finders, hooks
    for entries, name, value, _ in hidden:
        entries[name] = value


def conceal():
    gone = {id(real[name]) for name in removed if name in real}
    for name, owner in list(real.items()):
        if id(owner) not in seen:
            seen.add(id(owner))
            inspect(owner.__dict__, gone)
    for entries, name, _, other in hidden:
        if other is nothing:
            entries.pop(name, None)
        else:
            entries[name] = other
    sys.meta_path.clear()
    sys.path_hooks.clear()
    visible.clear()
    visible.update({name: real[name] for name in public if name in real})
    visible["io"] = exports["text_io"]
    # Two of them: what code does to its own is not done to the one of the interpreter.
    shown.modules, sys.modules = visible, dict(visible)
    # Collections look at what jobs make, and leave the memory alone that children share.
    gc.freeze()
    gc.enable()


def inspect(entries, gone):
    for name, value in list(entries.items()):
        if name in ("__loader__", "__spec__"):
            if value is not None:
                hidden.append((entries, name, value, None))
        elif type(value) is Module:
            if value is sys:
                hidden.append((entries, name, value, shown))
            elif id(value) in gone:
                hidden.append((entries, name, value, nothing))
