//! One daemon per home: a lock held by the operating system, and a file with the process id of its holder.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::Path;

use deft_registry::open_regular;

use deft_wire::{Done, Failure};

/// The lock of a home, held until dropped.
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock. The error names the process that holds it.
    pub fn take(home: &Path) -> Done<Self> {
        let path = home.join("deft.lock");
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .write(true)
            .truncate(false)
            .open(&path)
            .map_err(|problem| Failure::file(&path, "open", &problem))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                let mut pid = String::new();
                // The process id only improves the message, so errors are ignored.
                drop(file.read_to_string(&mut pid));
                let message = match pid.trim() {
                    "" => format!("deft is already running in `{}`", home.display()),
                    pid => format!(
                        "deft is already running in `{}` (process {pid})",
                        home.display()
                    ),
                };
                return Err(Failure::input("already_up", message)
                    .hint("stop it first, or use another home with `--home DIR`"));
            }
            Err(fs::TryLockError::Error(problem)) => {
                return Err(Failure::file(&path, "lock", &problem));
            }
        }
        let written = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", std::process::id()));
        written.map_err(|problem| Failure::file(&path, "write", &problem))?;
        Ok(Self { _file: file })
    }

    /// Returns the process id of the daemon of a home; `None` if none is running.
    pub fn holder(home: &Path) -> Option<String> {
        let mut file = open_regular(&home.join("deft.lock")).ok()?;
        match file.try_lock_shared() {
            Err(fs::TryLockError::WouldBlock) => {
                let mut pid = String::new();
                file.read_to_string(&mut pid).ok()?;
                Some(pid.trim().to_owned())
            }
            _ => None,
        }
    }
}
