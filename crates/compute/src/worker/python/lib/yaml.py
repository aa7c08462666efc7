"""`safe_load` and `safe_dump` as PyYAML has them, on the parser of the host.

Scalars mean what YAML 1.1 says: `yes` is true, `0o` is no octal but `017` is, dates are dates. What is
written loads as it was; long lines are not folded, and text of several lines is quoted.
"""

import base64
import datetime
import re

import _yaml

__all__ = ["YAMLError", "safe_load", "safe_load_all", "safe_dump", "safe_dump_all", "load", "dump",
           "SafeLoader", "SafeDumper"]

CORE = "tag:yaml.org,2002:"
# Each step into a node is three calls of the interpreter.
DEEPEST = 200


class YAMLError(Exception):
    pass


class SafeLoader:
    """For `load(text, Loader=SafeLoader)`."""


class SafeDumper:
    """For `dump(value, Dumper=SafeDumper)`."""


# --- loading -------------------------------------------------------------------------------------

TRUE = {"yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}
FALSE = {"no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}
NULL = {"~", "null", "Null", "NULL", ""}
INT = re.compile(
    r"[-+]?0b[0-1_]+$|[-+]?0[0-7_]+$|[-+]?(?:0|[1-9][0-9_]*)$|[-+]?0x[0-9a-fA-F_]+$"
    r"|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+$"
)
FLOAT = re.compile(
    r"[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?$|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?$"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$|[-+]?\.(?:inf|Inf|INF)$|\.(?:nan|NaN|NAN)$"
)
DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)$")
MOMENT = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d*))?"
    r"(?:[ \t]*(Z|([-+])(\d\d?)(?::(\d\d))?))?$"
)


def as_int(text):
    sign = -1 if text[0] == "-" else 1
    digits = text.lstrip("+-").replace("_", "")
    if digits.startswith("0b"):
        return sign * int(digits[2:], 2)
    if digits.startswith("0x"):
        return sign * int(digits[2:], 16)
    if ":" in digits:
        value = 0
        for part in digits.split(":"):
            value = value * 60 + int(part)
        return sign * value
    return sign * int(digits, 8 if digits[0] == "0" and digits != "0" else 10)


def as_float(text):
    sign = -1.0 if text[0] == "-" else 1.0
    digits = text.lstrip("+-").replace("_", "").lower()
    if digits == ".inf":
        return sign * float("inf")
    if digits == ".nan":
        return float("nan")
    if ":" in digits:
        value = 0.0
        for part in digits.split(":"):
            value = value * 60 + float(part)
        return sign * value
    return sign * float(digits)


def as_moment(found):
    year, month, day, hour, minute, second, fraction, zone, sign, hours, minutes = found.groups()
    micro = int((fraction or "")[:6].ljust(6, "0"))
    tzinfo = None
    if zone == "Z":
        tzinfo = datetime.timezone.utc
    elif zone:
        offset = datetime.timedelta(hours=int(hours), minutes=int(minutes or 0))
        tzinfo = datetime.timezone(-offset if sign == "-" else offset)
    return datetime.datetime(int(year), int(month), int(day), int(hour), int(minute), int(second),
                             micro, tzinfo=tzinfo)


def plain(text):
    if text in NULL:
        return None
    first = text[0]
    if first in "yYnNtTfFoO":
        if text in TRUE:
            return True
        if text in FALSE:
            return False
        return text
    if first not in "0123456789+-.":
        return text
    if INT.match(text):
        return as_int(text)
    if FLOAT.match(text):
        return as_float(text)
    found = DATE.match(text)
    if found:
        return datetime.date(*map(int, found.groups()))
    found = MOMENT.match(text)
    return as_moment(found) if found else text


def scalar(text, is_plain, tag):
    if tag is None:
        return plain(text) if is_plain else text
    kind = tag[len(CORE):] if tag.startswith(CORE) else tag
    if kind in ("str", "!"):
        return text
    if kind == "int":
        return as_int(text)
    if kind == "float":
        return as_float(text) if FLOAT.match(text) else float(text)
    if kind in ("bool", "null", "timestamp"):
        return plain(text)
    if kind == "binary":
        return base64.b64decode(text)
    raise YAMLError(f"there is nothing to make of the tag `{tag}`")


class Composer:
    def __init__(self, text):
        try:
            self.events = iter(_yaml.events(text))
        except ValueError as problem:
            raise YAMLError(str(problem)) from None
        self.anchors = {}

    def documents(self):
        for event in self.events:
            if event[0] == "document":
                self.anchors = {}
                yield self.node(next(self.events), 0)

    def node(self, event, depth):
        if depth > DEEPEST:
            raise YAMLError(f"nested deeper than {DEEPEST} levels")
        kind = event[0]
        if kind == "scalar":
            _, text, is_plain, tag, anchor = event
            value = scalar(text, is_plain, tag)
            if anchor:
                self.anchors[anchor] = value
            return value
        if kind == "alias":
            if event[1] not in self.anchors:
                raise YAMLError("an alias to a value that is not there")
            return self.anchors[event[1]]
        _, tag, anchor = event
        return self.sequence(anchor, depth) if kind == "sequence" else self.mapping(tag, anchor, depth)

    def sequence(self, anchor, depth):
        made = []
        if anchor:
            self.anchors[anchor] = made
        for event in self.events:
            if event[0] == "end":
                break
            made.append(self.node(event, depth + 1))
        return made

    def mapping(self, tag, anchor, depth):
        made, merged = {}, []
        if anchor:
            self.anchors[anchor] = made
        for event in self.events:
            if event[0] == "end":
                break
            is_merge = event[:3] == ("scalar", "<<", True) and event[3] is None
            key = self.node(event, depth + 1)
            value = self.node(next(self.events), depth + 1)
            if is_merge:
                merged.extend(value if isinstance(value, list) else [value])
                continue
            try:
                made[key] = value
            except TypeError:
                raise YAMLError("a key that is a list or a mapping") from None
        if merged:
            own = dict(made)
            made.clear()
            for one in reversed(merged):
                if not isinstance(one, dict):
                    raise YAMLError("`<<` wants a mapping, or a list of them")
                made.update(one)
            made.update(own)
        return set(made) if tag == CORE + "set" else made


def text_of(stream):
    if hasattr(stream, "read"):
        stream = stream.read()
    return stream.decode("utf-8") if isinstance(stream, bytes) else stream


def safe_load_all(stream):
    return Composer(text_of(stream)).documents()


def safe_load(stream):
    found = list(safe_load_all(stream))
    if len(found) > 1:
        raise YAMLError("expected a single document in the stream, but found another one")
    return found[0] if found else None


def load(stream, Loader=SafeLoader):
    return safe_load(stream)


# --- writing -------------------------------------------------------------------------------------

SIMPLE = re.compile(r"[A-Za-z0-9_./$(+\u00a0-\ud7ff\ue000-\ufffd][^\x00-\x1f\x7f-\x9f]*$")
SPECIAL = re.compile(r": |:$| #| $")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ufeff\u2028\u2029]")
ESCAPES = {"\\": "\\\\", '"': '\\"', "\0": "\\0", "\a": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n",
           "\v": "\\v", "\f": "\\f", "\r": "\\r", "\x1b": "\\e", "\x85": "\\N", "\u2028": "\\L",
           "\u2029": "\\P", "\ufeff": "\\uFEFF"}


def quoted(text, unicode):
    out = []
    for letter in text:
        code = ord(letter)
        if letter in ESCAPES:
            out.append(ESCAPES[letter])
        elif code < 32 or 127 <= code < 160 or (code >= 160 and not unicode):
            out.append(f"\\x{code:02X}" if code < 256 else
                       f"\\u{code:04X}" if code < 65536 else f"\\U{code:08X}")
        else:
            out.append(letter)
    return '"' + "".join(out) + '"'


def word(text, unicode, flow):
    if CONTROL.search(text) is None and (text.isascii() or unicode):
        special = SPECIAL.search(text) or flow and any(letter in text for letter in ",[]{}?")
        if text and SIMPLE.match(text) and not special and plain(text) == text \
                and not text.startswith(("---", "...")):
            return text
        return "'" + text.replace("'", "''") + "'"
    return quoted(text, unicode)


class Writer:
    def __init__(self, flow, sort_keys, indent, unicode):
        self.flow, self.sort_keys = flow, sort_keys
        self.indent, self.unicode = max(2, min(indent or 2, 9)), unicode
        self.out = []

    def atom(self, value, flow):
        if value is None:
            return "null"
        if value is True or value is False:
            return "true" if value else "false"
        if isinstance(value, str):
            return word(value, self.unicode, flow)
        if isinstance(value, int):
            return int.__repr__(value)
        if isinstance(value, float):
            return self.number(value)
        if isinstance(value, datetime.datetime):
            return value.isoformat(" ")
        if isinstance(value, datetime.date):
            return value.isoformat()
        if isinstance(value, (bytes, bytearray)):
            return '!!binary "' + base64.b64encode(bytes(value)).decode() + '"'
        raise YAMLError(f"cannot represent an object of type `{type(value).__name__}`")

    @staticmethod
    def number(value):
        if value != value:
            return ".nan"
        if value in (float("inf"), float("-inf")):
            return ".inf" if value > 0 else "-.inf"
        text = float.__repr__(value).lower()
        return text if "." in text or "e" not in text else text.replace("e", ".0e", 1)

    def keys(self, value):
        entries = list(value.items())
        if self.sort_keys:
            try:
                entries.sort()
            except TypeError:
                pass
        return entries

    def inline(self, value):
        """A whole value on one line."""
        if isinstance(value, dict):
            inside = [f"{self.atom(key, True)}: {self.inline(one)}" for key, one in self.keys(value)]
            return "{" + ", ".join(inside) + "}"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(self.inline(one) for one in value) + "]"
        return self.atom(value, True)

    def fits(self, value):
        """Whether it is written on one line."""
        if not isinstance(value, (dict, list, tuple)) or not value or self.flow:
            return True
        return self.flow is None and not any(
            isinstance(one, (dict, list, tuple))
            for one in (value.values() if isinstance(value, dict) else value)
        )

    def block(self, value, depth, column):
        """The lines of a mapping or list; the first goes where the text stands."""
        lead = " " * column
        if isinstance(value, dict):
            for at, (key, one) in enumerate(self.keys(value)):
                self.out.append((lead if at or depth else "") + self.atom(key, False) + ":")
                # A list below a key stands where the key does.
                self.below(one, depth, column if isinstance(one, (list, tuple)) else column + self.indent)
            return
        for at, one in enumerate(value):
            self.out.append(lead if at or depth else "")
            self.item(one, depth, column)

    def below(self, value, depth, column):
        if self.fits(value):
            self.out.append(f" {self.line(value)}\n")
        else:
            self.out.append("\n")
            self.block(value, depth + 1, column)

    def item(self, value, depth, column):
        self.out.append("-")
        if self.fits(value):
            self.out.append(f" {self.line(value)}\n")
        else:
            # The first line of what is in it goes behind the dash.
            before, self.out = self.out, []
            self.block(value, depth + 1, column + self.indent)
            inside = "".join(self.out)
            self.out = before
            self.out.append(" " * (self.indent - 1) + inside[column + self.indent:])

    def line(self, value):
        is_tree = isinstance(value, (dict, list, tuple))
        return self.inline(value) if is_tree else self.atom(value, False)

    def document(self, value):
        if self.fits(value):
            is_tree = isinstance(value, (dict, list, tuple))
            text = self.line(value)
            ended = is_tree or text[0] in "\"'"
            self.out.append(text + ("\n" if ended else "\n...\n"))
        else:
            self.block(value, 0, 0)


def plain_data(value, above=()):
    """Sets as PyYAML writes them; a value that contains itself is an error."""
    if id(value) in above or len(above) > DEEPEST:
        raise YAMLError("a value that contains itself, or is nested too deeply")
    if isinstance(value, dict):
        return {key: plain_data(one, (*above, id(value))) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_data(one, (*above, id(value))) for one in value]
    if isinstance(value, (set, frozenset)):
        raise YAMLError("a set has no order; write `sorted(...)`")
    return value


def safe_dump_all(documents, stream=None, *, default_flow_style=False, sort_keys=True, indent=None,
                  allow_unicode=None, explicit_start=None, width=None, **others):
    writer = Writer(default_flow_style, sort_keys, indent, bool(allow_unicode))
    documents = list(documents)
    for value in documents:
        if explicit_start or len(documents) > 1:
            writer.out.append("---\n")
        writer.document(plain_data(value))
    text = "".join(writer.out)
    if stream is None:
        return text
    stream.write(text)


def safe_dump(data, stream=None, **options):
    return safe_dump_all([data], stream, **options)


def dump(data, stream=None, Dumper=SafeDumper, **options):
    return safe_dump_all([data], stream, **options)
