//! Selects the modules of Python's standard library that are compiled into the worker.
//!
//! `src/worker/python/stdlib.txt` lists them. The other modules are not compiled in: that saves 6 MB, and
//! code cannot reach a missing module. The tests import every module that code may import.

#[cfg(feature = "worker")]
const LIST: &str = "src/worker/python/stdlib.txt";

#[cfg(not(feature = "worker"))]
fn main() {}

#[cfg(feature = "worker")]
#[expect(
    clippy::disallowed_methods,
    reason = "cargo names the folder of a build script by a variable"
)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::path::Path;

    println!("cargo::rerun-if-changed={LIST}");
    let out = std::env::var("OUT_DIR")?;
    let chosen = Path::new(&out).join("stdlib");
    if chosen.exists() {
        std::fs::remove_dir_all(&chosen)?;
    }
    for file in std::fs::read_to_string(LIST)?.lines() {
        let to = chosen.join(file);
        std::fs::create_dir_all(to.parent().unwrap_or(&chosen))?;
        std::fs::copy(Path::new(rustpython_pylib::LIB_PATH).join(file), to)
            .map_err(|error| format!("`{file}` of {LIST}: {error}"))?;
    }
    // The macro reads the folder at compile time and accepts only a literal.
    let code = format!("rustpython_vm::py_freeze!(dir = \"{}\")", chosen.display());
    std::fs::write(Path::new(&out).join("stdlib.rs"), code)?;
    Ok(())
}
