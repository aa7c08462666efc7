//! Owners of leases: a process owns leases as long as it holds the lock on its file.
//!
//! The operating system drops the lock when the process dies, for whatever reason. So another process on the
//! same host detects at once that an owner is dead; timeouts matter only across hosts.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use deft_registry::{open_regular, read_text};
use rustix::fs::{FlockOperation, flock};

/// Maximum size of the file of boots in bytes; fifty boots take a few kilobytes.
const MAX_BYTES: u64 = 64 * 1024;

/// The identity of this process as the holder of leases.
#[derive(Debug)]
pub struct Owner {
    name: String,
    path: PathBuf,
    folder: PathBuf,
    /// The locked file; closing it drops the lock. `None` for a process that only reads.
    lock: Option<File>,
}

impl Owner {
    /// Takes the lock of this process in a folder, which is created if it is missing.
    pub fn enter(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        loop {
            match Self::try_enter(folder) {
                // A sweep by another process took the new file for a stale one.
                Err(error) if is_swept(&error) => {}
                entered => return entered,
            }
        }
    }

    /// The file gets its final name only after it is locked: a file with that name and without a lock was
    /// left behind, and may be removed at any time.
    fn try_enter(folder: &Path) -> io::Result<Self> {
        let name = format!(
            "{}-{}-{}",
            boot_id(),
            std::process::id(),
            uuid::Uuid::now_v7().simple()
        );
        let path = folder.join(format!("{name}.lock"));
        let fresh = folder.join(format!("{name}.new"));
        let lock = OpenOptions::new()
            .create_new(true)
            .write(true)
            .mode(0o600)
            .open(&fresh)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        fs::rename(&fresh, &path)?;
        Ok(Self {
            name,
            path,
            folder: folder.to_owned(),
            lock: Some(lock),
        })
    }

    /// Removes the lock files of dead owners that hold no lease. An owner with leases keeps its file until
    /// its runs are released, because the file shows that it is dead. Returns how many files were removed.
    pub fn sweep(&self, holders: &[String]) -> io::Result<usize> {
        let mut removed = 0;
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let (Some(name), Some(kind)) = (path.file_stem(), path.extension()) else {
                continue;
            };
            let held = holders.iter().any(|holder| name == holder.as_str());
            let ours = name == self.name.as_str();
            let is_lock = kind == "lock" || kind == "new";
            if is_lock && !held && !ours && is_unlocked(&path) && fs::remove_file(&path).is_ok() {
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Returns an owner for a process that only reads: it holds no lease and writes no file.
    pub fn onlooker(folder: &Path) -> Self {
        Self {
            name: "onlooker".to_owned(),
            path: PathBuf::new(),
            folder: folder.to_owned(),
            lock: None,
        }
    }

    /// The name of this process in leases.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether another owner is known to be dead. Removes its lock file. Owners on other hosts are never
    /// known to be dead.
    pub fn is_dead(&self, owner: &str) -> bool {
        let gone = self.has_exited(owner);
        if gone {
            // A later check finds no file and returns the same result.
            drop(fs::remove_file(self.folder.join(format!("{owner}.lock"))));
        }
        gone
    }

    /// Like [`is_dead`](Self::is_dead), but removes nothing.
    pub fn has_exited(&self, owner: &str) -> bool {
        if owner == self.name {
            return false;
        }
        let path = self.folder.join(format!("{owner}.lock"));
        match path.try_exists() {
            Ok(true) => is_unlocked(&path),
            // An owner on this host removes its file when it ends; one on another host never had a file here.
            Ok(false) => owner.starts_with(&boot_id()) || self.is_of_this_home(owner),
            Err(_) => false,
        }
    }

    /// Whether another owner is known to be alive on this host.
    pub fn is_here(&self, owner: &str) -> bool {
        let path = self.folder.join(format!("{owner}.lock"));
        owner == self.name || path.exists() && !self.has_exited(owner)
    }

    /// Whether the owner belongs to a boot that has used this home. The list of boots survives a reboot,
    /// after which the lock file may be removed.
    fn is_of_this_home(&self, owner: &str) -> bool {
        let marker = self.folder.join("boots");
        let boot = owner.split('-').next().unwrap_or(owner);
        read_text(&marker, MAX_BYTES).is_ok_and(|known| known.lines().any(|line| line == boot))
    }

    /// Adds this boot to the list of boots that have used the home.
    pub fn remember_boot(&self) -> io::Result<()> {
        let marker = self.folder.join("boots");
        let known = read_text(&marker, MAX_BYTES).unwrap_or_default();
        let boot = boot_id();
        if known.lines().any(|line| line == boot) {
            return Ok(());
        }
        let recent: Vec<&str> = known.lines().rev().take(50).collect();
        let mut text: String = recent
            .iter()
            .rev()
            .map(|line| format!("{line}\n"))
            .collect();
        text.push_str(&boot);
        text.push('\n');
        fs::write(marker, text)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if self.lock.is_some() {
            drop(fs::remove_file(&self.path));
        }
    }
}

/// Whether the lock of a file is free. A file that cannot be opened counts as locked.
fn is_unlocked(path: &Path) -> bool {
    // A living owner holds the lock exclusively; checks take it shared.
    let free = |file: File| flock(&file, FlockOperation::NonBlockingLockShared).is_ok();
    open_regular(path).is_ok_and(free)
}

/// Whether the error means that another process locked or removed the new file of an owner before it was
/// renamed.
fn is_swept(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::NotFound
    )
}

/// Returns an id that changes with every boot of the host, so that a process id is never mistaken for an old
/// one.
fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map_or_else(|_| "host".to_owned(), |id| id.trim().replace('-', ""))
}

#[cfg(test)]
mod tests {
    use super::Owner;

    #[test]
    fn a_dropped_owner_is_dead_and_a_living_one_is_not() {
        let folder = std::env::temp_dir().join(format!("deft-owner-{}", std::process::id()));
        let one = Owner::enter(&folder).unwrap();
        let two = Owner::enter(&folder).unwrap();
        assert_ne!(one.name(), two.name());
        assert!(!one.is_dead(two.name()));
        let name = two.name().to_owned();
        let onlooker = Owner::onlooker(&folder);
        assert!(!onlooker.has_exited(&name));
        // A killed process leaves its file behind without a lock.
        let file = folder.join(format!("{name}.lock"));
        drop(two);
        std::fs::write(&file, "").unwrap();
        assert!(onlooker.has_exited(&name) && file.exists());
        assert!(one.is_dead(&name) && !file.exists());
        assert!(onlooker.has_exited(&name));
        assert!(!one.is_dead("another-host-1"));
        drop(one);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    fn names(folder: &std::path::Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn only_files_of_dead_owners_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let one = Owner::enter(folder).unwrap();
        let two = Owner::enter(folder).unwrap();
        for left in ["boot-1-a.lock", "boot-1-b.lock", "boot-1-c.new", "boots"] {
            std::fs::write(folder.join(left), "").unwrap();
        }
        // `b` still has leases, which must be released first.
        assert_eq!(one.sweep(&["boot-1-b".to_owned()]).unwrap(), 2);
        let living = [&one, &two].map(|owner| format!("{}.lock", owner.name()));
        let mut wanted = vec!["boot-1-b.lock".to_owned(), "boots".to_owned()];
        wanted.extend(living);
        wanted.sort_unstable();
        assert_eq!(names(folder), wanted);
        assert!(!one.has_exited(two.name()));
        assert_eq!(one.sweep(&[]).unwrap(), 1);
        assert_eq!(one.sweep(&[]).unwrap(), 0);
    }

    /// Owners are created and dropped while others sweep: none loses its file while it is alive.
    #[test]
    fn an_owner_created_during_a_sweep_keeps_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let keeper = Owner::enter(folder).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let owner = Owner::enter(folder).unwrap();
                        assert!(folder.join(format!("{}.lock", owner.name())).exists());
                        assert!(!keeper.has_exited(owner.name()));
                    }
                });
                scope.spawn(|| {
                    for _ in 0..500 {
                        keeper.sweep(&[]).unwrap();
                    }
                });
            }
        });
        assert_eq!(names(folder), [format!("{}.lock", keeper.name())]);
    }
}
