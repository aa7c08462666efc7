"""What every compute block finds: one clock, seeded chance, a few modules, and no way around them.

Runs once, in the zygote. `native` holds functions of the host, `public`, `inner`, `codecs` and
`removed` are lists of module names. The host takes `exports` and deletes the names in `scaffolding`:
functions of this file can be reached by code, and through them its globals.
"""

import sys
import builtins
import gc

# Nothing that is loaded here is garbage; the host's own objects are freed by counting.
gc.disable()

Module = type(sys)
scaffolding = ["sys", "builtins", "gc", "Module", "native", "public", "inner", "codecs", "removed"]


def module(name, names):
    made = Module(name)
    made.__dict__.update(names)
    sys.modules[name] = made
    return made


def fspath(path):
    if isinstance(path, (str, bytes)):
        return path
    raise TypeError(f"expected str or bytes, not {type(path).__name__}")


class PathLike:
    """Nothing is one."""


# Modules of the standard library ask for these when they are loaded; none of it reaches anything.
entropy = native["entropy"]
module("os", {
    "name": "posix", "sep": "/", "altsep": None, "extsep": ".", "pathsep": ":", "linesep": "\n",
    "curdir": ".", "pardir": "..", "devnull": "/dev/null", "environ": {}, "PathLike": PathLike,
    "fspath": fspath, "urandom": entropy, "getenv": lambda key, default=None: default,
})

# `io` of the standard library wants files; what it is made of has none.
import _io

io = module("io", {
    name: value for name, value in vars(_io).items() if name not in ("open", "open_code")
})
io.SEEK_SET, io.SEEK_CUR, io.SEEK_END = 0, 1, 2
io.IOBase, io.RawIOBase = _io._IOBase, _io._RawIOBase
io.BufferedIOBase, io.TextIOBase = _io._BufferedIOBase, _io._TextIOBase

# `inspect` names these, for functions that look for source files; they are much to load for nothing.
module("importlib", {"machinery": module("importlib.machinery", {}), "__path__": []})
module("linecache", {})
module("token", {})
module("tokenize", {})
module("dis", {"COMPILER_FLAG_NAMES": {
    1: "OPTIMIZED", 2: "NEWLOCALS", 4: "VARARGS", 8: "VARKEYWORDS", 16: "NESTED", 32: "GENERATOR",
    128: "COROUTINE", 256: "ITERABLE_COROUTINE", 512: "ASYNC_GENERATOR",
}})

# --- the clock -----------------------------------------------------------------------------------

import time

now, local, absolute = native["now"], native["local"], native["absolute"]
struct_time, plain_gmtime = time.struct_time, time.gmtime
plain_strftime, plain_asctime = time.strftime, time.asctime


def clock():
    seconds, nanoseconds = now()
    return seconds + nanoseconds / 1e9


def clock_ns():
    seconds, nanoseconds = now()
    return seconds * 1_000_000_000 + nanoseconds


def zero():
    return 0.0


def zero_ns():
    return 0


def gmtime(seconds=None):
    return plain_gmtime(now()[0] if seconds is None else seconds)


def localtime(seconds=None):
    return struct_time(local(now()[0] if seconds is None else int(seconds // 1)))


def mktime(fields):
    return float(absolute(*[int(field) for field in tuple(fields)[:6]]))


def strftime(format, fields=None):
    fields = localtime() if fields is None else fields
    # The C library would put its own zone, which is none.
    zone = getattr(fields, "tm_zone", None) or time.tzname[0]
    parts = [part.replace("%Z", zone) for part in format.split("%%")]
    return plain_strftime("%%".join(parts), fields)


def asctime(fields=None):
    return plain_asctime(localtime() if fields is None else fields)


def ctime(seconds=None):
    return plain_asctime(localtime(seconds))


def sleep(seconds):
    """Returns at once: in a block no time passes."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")


for name, function in {
    "time": clock, "time_ns": clock_ns, "monotonic": clock, "monotonic_ns": clock_ns,
    "perf_counter": clock, "perf_counter_ns": clock_ns, "process_time": zero,
    "process_time_ns": zero_ns, "thread_time": zero, "thread_time_ns": zero_ns, "gmtime": gmtime,
    "localtime": localtime, "mktime": mktime, "strftime": strftime, "asctime": asctime,
    "ctime": ctime, "sleep": sleep,
}.items():
    function.__name__ = function.__qualname__ = name
    function.__module__ = "time"
    setattr(time, name, function)
for name in ("clock_gettime", "clock_gettime_ns", "clock_getres", "clock_settime", "tzset",
             "clock_settime_ns", "get_clock_info", "pthread_getcpuclockid"):
    if hasattr(time, name):
        delattr(time, name)
time.timezone, time.altzone, time.daylight, time.tzname = 0, 0, 0, ("UTC", "UTC")

# --- modules -------------------------------------------------------------------------------------

import warnings

warnings.simplefilter("ignore")

# `zoneinfo` of the standard library reads files, so the host has its own, below.
for name in [*public, *inner]:
    if name != "zoneinfo":
        __import__(name)
for name in codecs:
    "".encode(name.replace("_codec", "")) if name not in ("hex_codec", "rot_13") else None
    __import__("encodings." + name)

import datetime
import posixpath
import random
import uuid

# Names of files, not files.
sys.modules["os"].path = posixpath

plain_seed = random.Random.seed


def seed(self, a=None, version=2):
    return plain_seed(self, int.from_bytes(entropy(8), "big") if a is None else a, version)


random.Random.seed = seed
random.seed = random._inst.seed
reseed = random._inst.seed

timedelta = datetime.timedelta
epoch, second = datetime.datetime(1970, 1, 1), timedelta(seconds=1)
zone_local, zone_utc = native["zone_local"], native["zone_utc"]


class ZoneInfoNotFoundError(KeyError):
    pass


class ZoneInfo(datetime.tzinfo):
    def __new__(cls, key):
        if zone_utc(key, 0) is None:
            raise ZoneInfoNotFoundError(f"No time zone found with key {key}")
        made = datetime.tzinfo.__new__(cls)
        made.key = key
        return made

    @classmethod
    def no_cache(cls, key):
        return cls(key)

    def _at(self, when):
        return zone_local(self.key, (when.replace(tzinfo=None) - epoch) // second, when.fold)

    def utcoffset(self, when):
        return None if when is None else timedelta(seconds=self._at(when)[0])

    def dst(self, when):
        return None if when is None else timedelta(seconds=self._at(when)[1])

    def tzname(self, when):
        return None if when is None else self._at(when)[2]

    def fromutc(self, when):
        plain = when.replace(tzinfo=None)
        offset = timedelta(seconds=zone_utc(self.key, (plain - epoch) // second)[0])
        there = (plain + offset).replace(tzinfo=self, fold=0)
        return there if self.utcoffset(there) == offset else there.replace(fold=1)

    def __eq__(self, other):
        return isinstance(other, ZoneInfo) and self.key == other.key

    def __hash__(self):
        return hash(self.key)

    def __str__(self):
        return self.key

    def __repr__(self):
        return f"zoneinfo.ZoneInfo(key={self.key!r})"

    def __reduce__(self):
        return (ZoneInfo, (self.key,))


ZoneInfo.__module__ = ZoneInfoNotFoundError.__module__ = "zoneinfo"
module("zoneinfo", {
    "ZoneInfo": ZoneInfo, "ZoneInfoNotFoundError": ZoneInfoNotFoundError,
    "available_timezones": lambda: set(native_zones()), "TZPATH": (),
})
native_zones = native["zones"]

# --- values --------------------------------------------------------------------------------------


class AttrDict(dict):
    """A dict whose keys are attributes too; its methods win over keys of the same name."""

    __slots__ = ()

    def __getattr__(self, name):
        if name in self:
            return self[name]
        known = ", ".join(f"`{key}`" for key in list(self)[:12]) or "nothing"
        raise AttributeError(f"there is no `{name}` here, only {known}")

    def __setattr__(self, name, value):
        self[name] = value

    def __delattr__(self, name):
        if name not in self:
            raise AttributeError(f"there is no `{name}` here")
        del self[name]

    def copy(self):
        return AttrDict(self)


AttrDict.__name__ = AttrDict.__qualname__ = "dict"
AttrDict.__module__ = "builtins"


class Printed:
    """Where `print` goes: so many characters are kept, the rest is dropped."""

    encoding, errors, closed = "utf-8", "strict", False

    def __init__(self, room):
        self.parts, self.room = [], room

    def write(self, text):
        if self.room > 0:
            part = text[: self.room]
            self.parts.append(part)
            self.room -= len(part)
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        pass

    def isatty(self):
        return False

    def writable(self):
        return True


# --- what code finds instead of `sys`, `io` and some builtins ---------------------------------------

shown = Module("sys")
for name in """_getframemodulename api_version byteorder copyright exc_info exception flags float_info
    float_repr_style get_int_max_str_digits getdefaultencoding getfilesystemencodeerrors
    getfilesystemencoding getrecursionlimit getsizeof hash_info hexversion implementation int_info
    intern maxsize maxunicode platform version version_info warnoptions""".split():
    if hasattr(sys, name):
        setattr(shown, name, getattr(sys, name))
shown.argv, shown.path, shown.stdin = [], [], None


class Router:
    """The real `sys.stdout`: hands on to the one that code sees, which it may replace."""

    def write(self, text):
        return shown.stdout.write(text)

    def flush(self):
        pass


sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = Router()

text_io = Module("io")
for name in ("BytesIO", "IOBase", "SEEK_CUR", "SEEK_END", "SEEK_SET", "StringIO", "TextIOBase",
             "UnsupportedOperation"):
    setattr(text_io, name, getattr(io, name))


def absent(name, why):
    def function(*args, **kwargs):
        raise NameError(f"`{name}` is not available in compute blocks: {why}")
    function.__name__ = function.__qualname__ = name
    return function


for name, why in {
    "open": "they read and write no files",
    "input": "nobody is there to answer",
    "breakpoint": "there is no debugger",
    "exit": "a block ends with its last line",
    "quit": "a block ends with its last line",
    "help": "there is nobody to read it",
}.items():
    setattr(builtins, name, absent(name, why))

# --- take away ------------------------------------------------------------------------------------

for name in ("open", "open_code"):
    if hasattr(_io, name):
        delattr(_io, name)

gone = {id(sys.modules[name]) for name in removed if name in sys.modules}
for owner in list(sys.modules.values()):
    names = owner.__dict__
    for name in ("__loader__", "__spec__"):
        if name in names:
            names[name] = None
    for name, value in list(names.items()):
        if type(value) is not Module:
            continue
        if value is sys:
            names[name] = shown
        elif id(value) in gone:
            del names[name]
loaded = {name: one for name, one in sys.modules.items() if name not in removed}
loaded["sys"] = shown
shown.modules = {name: loaded[name] for name in public}
shown.modules["io"] = text_io
sys.meta_path.clear()
sys.path_hooks.clear()
sys.modules.clear()
sys.modules.update(shown.modules)


def begin(number, tzname, offset):
    """Before each job: chance starts anew, and the constants of the zone are set."""
    reseed(number)
    uuid._node = uuid._last_timestamp = None
    time.timezone = time.altzone = -offset
    time.tzname = (tzname, tzname)


set_context, default_context = loaded["decimal"].setcontext, loaded["decimal"].DefaultContext


def mend():
    """After a job that set attributes: what is neither in a module nor in a class."""
    set_context(default_context)


exports = {
    "attr_dict": AttrDict, "printed": Printed, "begin": begin, "mend": mend, "shown": shown, "loaded": loaded,
    "text_io": text_io, "builtins": builtins, "real_io": io,
    "date": datetime.date, "time": datetime.time, "timedelta": timedelta, "uuid": uuid.UUID,
    "decimal": loaded["decimal"].Decimal, "fraction": loaded["fractions"].Fraction,
    "enum": loaded["enum"].Enum, "fields": loaded["dataclasses"].fields,
    "deque": loaded["collections"].deque, "is_dataclass": loaded["dataclasses"].is_dataclass,
}
scaffolding += ["module", "gone", "names", "owner", "value", "io", "loaded", "exports",
                "absent", "warnings", "_io"]

# From here on collections look at what jobs make, and leave the memory alone that children share.
gc.freeze()
gc.enable()
