//! The table of modules: those that code may import, those that only the interpreter needs, and those that
//! are removed.
//!
//! The zygote loads modules when a job names them, so an import in a child is a lookup. A module is public
//! if it only computes: no access to files, sockets, processes, clocks or entropy of its own. The security
//! boundary is the filters of the operating system; this table only defines the language.

/// Modules that code may import, with their purpose.
pub(crate) const PUBLIC: &[(&str, &str)] = &[
    (
        "__future__",
        "`from __future__ import annotations` at the top of pasted code",
    ),
    ("abc", "base classes"),
    ("array", "compact numbers"),
    ("ast", "`literal_eval`; it parses and runs nothing"),
    ("base64", "encodings of tokens and attachments"),
    ("binascii", "encodings"),
    ("bisect", "search in sorted lists"),
    ("calendar", "months and weekdays"),
    ("cmath", "complex numbers"),
    ("collections", "`Counter`, `defaultdict`, `namedtuple`"),
    ("collections.abc", "`Mapping` and friends"),
    ("colorsys", "colours of charts"),
    ("contextlib", "`suppress`, `contextmanager`"),
    ("copy", "`deepcopy`"),
    ("csv", "tables in text; with `io.StringIO`"),
    ("dataclasses", "records"),
    ("datetime", "dates; `now` is the start of the step"),
    ("decimal", "money"),
    ("difflib", "what changed, close matches"),
    ("enum", "names for values"),
    ("fnmatch", "patterns over names, not over files"),
    ("fractions", "exact quotients"),
    ("functools", "`reduce`, `lru_cache`, `partial`"),
    ("graphlib", "what comes before what"),
    ("gzip", "bytes in memory; memory is limited"),
    ("hashlib", "digests"),
    ("heapq", "the largest few"),
    ("hmac", "signatures"),
    ("html", "escape and unescape"),
    ("io", "`StringIO` and `BytesIO` only"),
    ("ipaddress", "addresses and networks, as values"),
    ("itertools", "loops"),
    ("json", "JSON"),
    ("math", "mathematics"),
    ("numbers", "number classes"),
    ("operator", "`itemgetter`, `attrgetter`"),
    ("pathlib", "`PurePath` and its kin; names, not files"),
    ("pprint", "readable text of data"),
    ("random", "seeded by the job, so a repeat gives the same"),
    (
        "re",
        "regular expressions; time is limited, backtracking is not",
    ),
    ("reprlib", "short text of data"),
    ("shlex", "quoting; it starts nothing"),
    ("statistics", "means and medians"),
    ("string", "alphabets, `Template`"),
    ("struct", "packed bytes"),
    ("textwrap", "paragraphs"),
    ("time", "the start of the step; `sleep` is refused"),
    ("tomllib", "TOML"),
    ("types", "`SimpleNamespace`"),
    ("typing", "annotations"),
    ("unicodedata", "normal forms"),
    ("urllib", "the package around `urllib.parse`"),
    ("urllib.parse", "URLs as text"),
    ("uuid", "`uuid4` follows the seed"),
    ("xml", "the package around `xml.etree`"),
    ("xml.etree", "the package around `xml.etree.ElementTree`"),
    (
        "xml.etree.ElementTree",
        "XML; entities from outside are not read",
    ),
    ("yaml", "ours: `safe_load` and `safe_dump` of PyYAML"),
    ("zlib", "checksums, compression; memory is limited"),
    ("zoneinfo", "zones from compiled data, without files"),
];

/// Modules that the interpreter itself imports on behalf of the running code.
pub(crate) const INNER: &[&str] = &[
    "_contextvars",
    "_hashlib",
    "_pycodecs",
    "_strptime",
    "annotationlib",
    "copyreg",
    "locale",
    "string.templatelib",
    "warnings",
];

/// Codecs that `str.encode` and `bytes.decode` find by name.
pub(crate) const CODECS: &[&str] = &[
    "ascii",
    "cp1252",
    "hex_codec",
    "iso8859_1",
    "iso8859_15",
    "latin_1",
    "punycode",
    "raw_unicode_escape",
    "rot_13",
    "unicode_escape",
    "utf_16",
    "utf_16_be",
    "utf_16_le",
    "utf_32",
    "utf_8",
    "utf_8_sig",
];

/// All native modules of the standard library that are compiled in. Left out on purpose: `_asyncio`,
/// `_datetime` (it reads the system's clock), `_opcode`, `_pickle`, `_queue`, `_remote_debugging`,
/// `_suggestions`, `_tokenize`, `_zoneinfo`, `bz2`, `lzma`, codecs of East Asia.
pub(super) const NATIVE: &[&str] = &[
    "_bisect",
    "_blake2",
    "_contextvars",
    "_csv",
    "_hashlib",
    "_json",
    "_md5",
    "_random",
    "_sha1",
    "_sha256",
    "_sha3",
    "_sha512",
    "_statistics",
    "_struct",
    "array",
    "binascii",
    "cmath",
    "math",
    "pyexpat",
    "unicodedata",
    "zlib",
];

/// Modules that are loaded by others and removed before any code runs, because they give access to the
/// interpreter.
pub(super) const REMOVED: &[&str] = &[
    "_frozen_importlib",
    "_frozen_importlib_external",
    "_imp",
    "_remote_debugging",
    "_sysconfig",
    "_sysconfigdata",
    "atexit",
    "dis",
    "gc",
    "importlib",
    "importlib._bootstrap",
    "importlib._bootstrap_external",
    "importlib.machinery",
    "importlib.util",
    "importlib.abc",
    "linecache",
    "marshal",
    "platform",
    "token",
    "tokenize",
    "zipimport",
];

/// Returns the names of the modules that code may import, sorted.
pub fn module_names() -> impl Iterator<Item = &'static str> {
    PUBLIC.iter().map(|(name, _)| *name)
}
