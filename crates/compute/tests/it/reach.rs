//! A walk over everything that code can reach, from inside the interpreter: proof that it has no file,
//! socket or process.
//!
//! `RustPython` 0.6.0 links its `host_env` crate even without the feature of that name. Without the feature,
//! no module that uses it for files, sockets or processes is compiled; `worker/python/modules.rs` compares
//! the modules with a list, and `xtask` checks the features of the build. This test follows all objects that
//! code can access, with every module loaded.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{block, compute};

/// Follows all references between objects, and lists modules and native callables.
const WALK: &str = r#"
import itertools
NAMES = ("__dict__", "__globals__", "__builtins__", "__closure__", "__func__", "__self__", "__wrapped__",
         "__code__", "__defaults__", "__kwdefaults__", "__mro__", "__bases__", "__objclass__",
         "__loader__", "__spec__", "cell_contents", "fget", "fset", "co_consts", "gi_frame",
         "f_globals", "f_locals", "f_builtins", "f_back", "func", "args", "keywords")
PLAIN = {str, bytes, int, float, bool, complex, type(None)}
known = {}
def steps(o):
    kind = type(o)
    if isinstance(o, dict):
        yield from list(o.values())
    elif isinstance(o, (list, tuple, set, frozenset)):
        yield from list(o)
    yield kind
    # Objects of a class have the same ways out of them, or nearly; modules and classes are all asked.
    names = known.get(kind)
    if names is None or isinstance(o, type) or kind.__name__ == "module":
        names = known[kind] = [name for name in NAMES if hasattr(o, name)]
    for name in names:
        yield getattr(o, name, None)
    if isinstance(o, type):
        yield from type.__subclasses__(o)
        yield from list(vars(o).values())
def walk(start):
    seen, queue, held = set(), list(start), []
    modules, natives = set(), set()
    while queue:
        o = queue.pop()
        if id(o) in seen or type(o) in PLAIN:
            continue
        seen.add(id(o)); held.append(o)
        name = type(o).__name__
        if name == "module":
            # The `sys` that code sees is another one.
            modules.add("the real sys" if hasattr(o, "meta_path") else o.__name__)
        if name in ("builtin_function_or_method", "method_descriptor", "wrapper_descriptor", "classmethod_descriptor"):
            natives.add(str(getattr(o, "__name__", "?")))
        if isinstance(o, type) and o.__module__ != "__main__":
            natives.add(o.__name__)
        if o is not held and o is not queue and o is not seen and len(seen) < 300000:
            queue.extend([x for x in steps(o) if type(x) not in PLAIN and id(x) not in seen])
    return modules, natives, len(seen)
try:
    raise ValueError
except ValueError as e:
    frame = getattr(e.__traceback__, "tb_frame", None)
modules, natives, count = walk([globals(), frame, (x for x in ()), walk])
result = {"modules": sorted(modules), "natives": sorted(natives), "count": count}
"#;

/// Modules with access to the outside or to the interpreter.
const MODULES: [&str; 29] = [
    "_ctypes",
    "_frozen_importlib",
    "_imp",
    "_interpreters",
    "_interpchannels",
    "_interpqueues",
    "_multiprocessing",
    "_posixshmem",
    "_posixsubprocess",
    "_remote_debugging",
    "_signal",
    "_socket",
    "_ssl",
    "_testinternalcapi",
    "the real sys",
    "atexit",
    "faulthandler",
    "fcntl",
    "gc",
    "importlib",
    "marshal",
    "mmap",
    "nt",
    "posix",
    "pwd",
    "resource",
    "select",
    "syslog",
    "termios",
];

/// Names of functions and classes that give access to files, sockets and processes in `CPython`.
const NATIVES: [&str; 33] = [
    "FileIO",
    "_WindowsConsoleIO",
    "accept",
    "bind",
    "chmod",
    "connect",
    "create_dynamic",
    "dlopen",
    "execv",
    "execve",
    "fork",
    "fork_exec",
    "forkpty",
    "getenv",
    "kill",
    "listdir",
    "listen",
    "lstat",
    "mkdir",
    "nanosleep",
    "open_code",
    "pipe",
    "posix_spawn",
    "putenv",
    "read_file",
    "rmdir",
    "scandir",
    "socket",
    "socketpair",
    "spawnv",
    "stat",
    "system",
    "unlink",
];

/// Imports every module that code may import.
fn import_everything() -> String {
    deft_compute::module_names()
        .filter(|name| *name != "__future__")
        .map(|name| format!("import {name}\n"))
        .collect()
}

#[tokio::test]
async fn no_reachable_object_breaks_the_sandbox() {
    let compute = compute();
    let imports = import_everything();
    let job = block(&format!("{imports}{WALK}"));
    let got = compute
        .session()
        .run(job, Some(Duration::from_mins(1)))
        .await
        .unwrap()
        .value;
    let listed = |key: &str| -> Vec<String> { serde_json::from_value(got[key].clone()).unwrap() };
    let (modules, natives) = (listed("modules"), listed("natives"));
    assert!(
        got["count"].as_u64().unwrap() < 300_000,
        "it did not come to an end"
    );
    // The walk was complete enough to find the internals of modules too.
    assert!(
        modules.contains(&"_io".to_owned()) && modules.contains(&"_sre".to_owned()),
        "{modules:?}"
    );
    assert!(natives.len() > 800, "only {} callables", natives.len());
    let doors: Vec<&String> = modules
        .iter()
        .filter(|name| MODULES.contains(&name.as_str()))
        .collect();
    assert_eq!(doors, Vec::<&String>::new(), "modules");
    let doors: Vec<&String> = natives
        .iter()
        .filter(|name| NATIVES.contains(&name.as_str()))
        .collect();
    assert_eq!(doors, Vec::<&String>::new(), "functions and classes");
}

#[tokio::test]
async fn no_native_function_opens_a_given_path() {
    let imports = import_everything();
    let calls = r#"
tried, shown = 0, []
for module in list(sys_modules()) + [types.SimpleNamespace(**__builtins__)]:
    for name, one in sorted(vars(module).items()):
        if type(one).__name__ != "builtin_function_or_method":
            continue
        for given in (("/etc/passwd",), ("/etc/passwd", "r"), (b"/etc/passwd",), (0,), (2,), ()):
            tried += 1
            try:
                shown.append(repr(one(*given))[:300])
            except BaseException as e:
                shown.append(repr(e)[:300])
result = {"tried": tried, "leaks": [t for t in shown if "root:" in t]}
"#;
    let found = "def sys_modules():\n    g = __import__('json').loads.__globals__\n    \
                 seen = {}\n    for m in list(globals().values()):\n        if type(m).__name__ == 'module':\n            \
                 seen[id(m)] = m\n            for x in vars(m).values():\n                \
                 if type(x).__name__ == 'module': seen[id(x)] = x\n    return seen.values()\n";
    let job = block(&format!("{imports}{found}{calls}"));
    let got = compute()
        .session()
        .run(job, Some(Duration::from_mins(1)))
        .await;
    let got: Value = got.unwrap().value;
    assert!(got["tried"].as_u64().unwrap() > 1000, "{got}");
    assert_eq!(got["leaks"], json!([]));
}
