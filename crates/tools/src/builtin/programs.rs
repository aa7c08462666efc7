//! Programs that `shell.run` may start, each bound to one file.
//!
//! An entry of `tools.shell.allow` is a name or an absolute path. A name is looked up once in deft's
//! own `PATH`, not in the caller's, so a program of the same name in another folder never runs.
//!
//! Not here: what an allowed program may do with its arguments.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deft_model::{Failure, FailureClass};
use parking_lot::Mutex;

use super::invalid;
use crate::environment::Environment;

/// A program and its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// The path at which it was found, passed as `argv[0]`. Programs that are links to one file, as
    /// with `busybox`, choose their behaviour by this name.
    pub(super) found: PathBuf,
    /// The file after following all links; this file runs.
    pub(super) file: PathBuf,
}

/// A cache of programs that were looked up. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Programs {
    known: Arc<Mutex<BTreeMap<String, Program>>>,
}

impl Programs {
    /// Looks up every entry now, before a caller could put another program in its place.
    pub(super) fn look_up_all(&self, allow: &[String], environment: &Environment) {
        for entry in allow {
            // A missing program is reported by the call that needs it.
            drop(self.find_cached(entry, environment));
        }
    }

    /// Returns the program that a caller names, if an entry of the list allows it.
    pub(super) fn find_allowed(
        &self,
        asked: &str,
        allow: &[String],
        environment: &Environment,
    ) -> Result<Program, Failure> {
        if let Some(entry) = allow.iter().find(|entry| *entry == asked) {
            return self.find_cached(entry, environment);
        }
        // The path at which an allowed name was found names the same program.
        let by_path = Path::new(asked).is_absolute();
        let mut entries = allow.iter().filter(|_| by_path);
        entries
            .find_map(|entry| {
                let program = self.find_cached(entry, environment).ok()?;
                (program.found == Path::new(asked)).then_some(program)
            })
            .ok_or_else(|| {
                invalid(format!("the program `{asked}` is not allowed")).hint(
                    "use a program exactly as written in `tools.shell.allow`, or add this one",
                )
            })
    }

    /// Returns the file of an entry, looked up once. It is looked up again only if the file no longer
    /// exists, as after an update of the program.
    fn find_cached(&self, entry: &str, environment: &Environment) -> Result<Program, Failure> {
        let mut known = self.known.lock();
        if let Some(program) = known.get(entry).filter(|program| program.file.exists()) {
            return Ok(program.clone());
        }
        let program = find(entry, environment)?;
        known.insert(entry.to_owned(), program.clone());
        Ok(program)
    }
}

fn find(entry: &str, environment: &Environment) -> Result<Program, Failure> {
    let path = Path::new(entry);
    if path.is_absolute() {
        return program(path).ok_or_else(|| missing_program(entry));
    }
    if entry.contains('/') {
        let message = format!("`{entry}` in `tools.shell.allow` is a relative path");
        return Err(invalid(message).hint("write a name or an absolute path there"));
    }
    let mut variables = environment.inherited.iter();
    let folders = variables.find(|(name, _)| name == "PATH");
    let folders = folders.map(|(_, value)| value.as_str()).unwrap_or_default();
    std::env::split_paths(folders)
        // A relative folder would depend on the working folder.
        .filter(|folder| folder.is_absolute())
        .find_map(|folder| program(&folder.join(entry)))
        .ok_or_else(|| missing_program(entry))
}

fn program(found: &Path) -> Option<Program> {
    let file = found.canonicalize().ok()?;
    let about = file.metadata().ok()?;
    let runs = about.is_file() && about.permissions().mode() & 0o111 != 0;
    runs.then(|| Program {
        found: found.to_owned(),
        file,
    })
}

fn missing_program(entry: &str) -> Failure {
    Failure::new(
        FailureClass::NotFound,
        format!("the program `{entry}` of `tools.shell.allow` was not found"),
    )
    .hint("install it, or write its absolute path in `tools.shell.allow`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_program(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(path, mode).unwrap();
    }

    fn with_path(path: String) -> Environment {
        Environment {
            inherited: vec![("PATH".to_owned(), path)],
            ..Environment::default()
        }
    }

    #[test]
    fn a_name_stays_bound_to_the_first_program_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        write_program(&root.join("b/tool"));
        let path = format!("relative::{0}/a:{0}/b", root.display());
        let environment = with_path(path);
        let (programs, allow) = (Programs::default(), vec!["tool".to_owned()]);
        programs.look_up_all(&allow, &environment);
        // A program added later in an earlier folder of `PATH` has no effect.
        write_program(&root.join("a/tool"));
        let expected = Program {
            found: root.join("b/tool"),
            file: root.join("b/tool"),
        };
        assert_eq!(
            programs.find_allowed("tool", &allow, &environment),
            Ok(expected.clone())
        );
        let by_path = root.join("b/tool").to_string_lossy().into_owned();
        assert_eq!(
            programs.find_allowed(&by_path, &allow, &environment),
            Ok(expected)
        );
        // An update removes the old file.
        std::fs::remove_file(root.join("b/tool")).unwrap();
        let updated = programs.find_allowed("tool", &allow, &environment).unwrap();
        assert_eq!(updated.file, root.join("a/tool"));
    }

    #[test]
    fn links_to_one_file_are_different_programs() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        write_program(&root.join("box"));
        for name in ["cat", "sh"] {
            std::os::unix::fs::symlink(root.join("box"), root.join(name)).unwrap();
        }
        let environment = with_path(root.display().to_string());
        let (programs, allow) = (Programs::default(), vec!["cat".to_owned()]);
        let cat = programs.find_allowed("cat", &allow, &environment).unwrap();
        let expected = Program {
            found: root.join("cat"),
            file: root.join("box"),
        };
        assert_eq!(cat, expected);
        for other in ["sh", "box", "./cat", "x/../cat"] {
            let failure = programs
                .find_allowed(other, &allow, &environment)
                .unwrap_err();
            assert_eq!(failure.class, FailureClass::Invalid, "{other}");
        }
        let sh = root.join("sh").to_string_lossy().into_owned();
        assert!(programs.find_allowed(&sh, &allow, &environment).is_err());
    }

    #[test]
    fn a_relative_entry_is_refused() {
        let (programs, allow) = (Programs::default(), vec!["./tool".to_owned()]);
        let failure = programs.find_allowed("./tool", &allow, &Environment::default());
        assert_eq!(failure.unwrap_err().class, FailureClass::Invalid);
    }
}
