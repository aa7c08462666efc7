"""What every compute block finds: one clock, seeded chance, a few names, and no way around them.

Runs once, in the zygote. `native` holds functions of the host. Functions of this file can be reached
by code, and through them its globals, so the host deletes the names in `scaffolding`. Loading modules
is the work of `loader.py`, whose globals nothing reaches.
"""

import sys
import builtins
import gc

# Nothing that is loaded here is garbage; the host's own objects are freed by counting.
gc.disable()

Module = type(sys)
scaffolding = ["sys", "builtins", "gc", "Module", "native"]


def module(name, names):
    made = Module(name)
    made.__dict__.update(names)
    sys.modules[name] = made
    return made


def fspath(path):
    if isinstance(path, (str, bytes)):
        return path
    if hasattr(type(path), "__fspath__"):
        return type(path).__fspath__(path)
    raise TypeError(f"expected str, bytes or os.PathLike object, not {type(path).__name__}")


class PathLike:
    """Names of files, as far as anything asks."""

    @staticmethod
    def register(other):
        return other


# Modules of the standard library ask for these when they are loaded; none of it reaches anything.
entropy = native["entropy"]
module("os", {
    "name": "posix", "sep": "/", "altsep": None, "extsep": ".", "pathsep": ":", "linesep": "\n",
    "curdir": ".", "pardir": "..", "devnull": "/dev/null", "environ": {}, "PathLike": PathLike,
    "fspath": fspath, "urandom": entropy, "getenv": lambda key, default=None: default,
    "O_RDONLY": 0, "stat_result": tuple,
})
module("_yaml", {"events": native["yaml_events"]})

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
    raise RuntimeError(
        "`time.sleep` does not wait: in a compute block no time passes; let a `wait:` step wait"
    )


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

# --- what the loader does to a module that it has loaded --------------------------------------------

# Set by the loader, once the modules are there that they belong to.
reseed = uuid = set_context = default_context = None


def seeded(random):
    """Makes chance follow the job; gives the function that begins it anew."""
    plain = random.Random.seed

    def seed(self, a=None, version=2):
        return plain(self, int.from_bytes(entropy(8), "big") if a is None else a, version)

    random.Random.seed = seed
    random.seed = random._inst.seed
    return random._inst.seed


def zones(datetime, zone_local, zone_utc, known):
    """The names of `zoneinfo`: that of the standard library reads files."""
    timedelta = datetime.timedelta
    epoch, second = datetime.datetime(1970, 1, 1), timedelta(seconds=1)

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

    for made in (ZoneInfo, ZoneInfoNotFoundError):
        made.__module__, made.__qualname__ = "zoneinfo", made.__name__
    return {
        "ZoneInfo": ZoneInfo, "ZoneInfoNotFoundError": ZoneInfoNotFoundError,
        "available_timezones": lambda: set(known()), "TZPATH": (),
    }



def closed(trees):
    """An element without an end is a `ParseError`, which the parser of the host leaves to others."""
    plain = trees.XMLParser.close

    def close(self):
        try:
            return plain(self)
        except AssertionError:
            raise trees.ParseError("unclosed element, or none at all") from None

    trees.XMLParser.close = close

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


class Growing(list):
    """The parts of a text that grows; code never sees one."""


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
for name in """api_version byteorder copyright flags float_info float_repr_style hash_info hexversion
    implementation int_info maxsize maxunicode platform version version_info warnoptions""".split():
    if hasattr(sys, name):
        setattr(shown, name, getattr(sys, name))


def constant(value):
    return lambda *args: value


# Functions of the real module lead back to it, so these are others.
for name in """get_int_max_str_digits getdefaultencoding getfilesystemencodeerrors
    getfilesystemencoding getrecursionlimit""".split():
    setattr(shown, name, constant(getattr(sys, name)()))
shown._getframemodulename = constant("__main__")
shown.intern = lambda text: text
shown.getsizeof = lambda value, default=0: value.__sizeof__()
shown.exception = exception = native["exception"]


def exc_info():
    handled = exception()
    return (None,) * 3 if handled is None else (type(handled), handled, handled.__traceback__)


shown.exc_info = exc_info
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
    "input": "a compute block cannot ask a person",
    "breakpoint": "there is no debugger",
    "exit": "a block ends with its last line",
    "quit": "a block ends with its last line",
    "help": "a compute block has no terminal",
}.items():
    setattr(builtins, name, absent(name, why))

for name in ("open", "open_code"):
    if hasattr(_io, name):
        delattr(_io, name)


def begin(number, tzname, offset):
    """Before each job: chance starts anew, and the constants of the zone are set."""
    if reseed is not None:
        reseed(number)
    if uuid is not None:
        uuid._node = uuid._last_timestamp = None
    time.timezone = time.altzone = -offset
    time.tzname = (tzname, tzname)


def mend():
    """After a job that set attributes: what is neither in a module nor in a class."""
    if set_context is not None:
        set_context(default_context)


exports = {
    "attr_dict": AttrDict, "printed": Printed, "begin": begin, "mend": mend, "shown": shown,
    "text_io": text_io, "seeded": seeded, "zones": zones,
    "absent": absent, "closed": closed, "growing": Growing,
}
scaffolding += ["module", "constant", "name", "function", "why", "io", "_io", "exports", "absent", "seeded", "zones",
                "closed"]
