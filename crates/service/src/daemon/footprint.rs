//! Keeps the memory of an idle daemon small: releases clean pages of the program.
//!
//! Starting touches half of the program once, a fire a fifth, and the kernel maps sixteen pages for each page
//! that is touched. A daemon that waits for its next slot needs few of them. A released page is mapped again
//! from the page cache when it is needed. Not here: the heap, which is small.

use std::path::Path;
use std::time::Duration;

use deft_engine::Engine;
use rustix::mm::{Advice, madvise};
use tokio::time::sleep;

/// A daemon that has stored nothing for this long is idle.
const IDLE_AFTER: Duration = Duration::from_secs(3);

/// How often pages are released while no run starts. Each time costs some hundred page faults, half a
/// millisecond.
const RELEASE_INTERVAL: Duration = Duration::from_mins(10);

/// Releases clean pages after each busy time.
pub(super) async fn keep_small(engine: Engine) {
    loop {
        wait_for_quiet(&engine).await;
        let begun = engine.base().bells().driving.notified();
        give_back();
        tokio::select! {
            () = begun => {}
            () = sleep(RELEASE_INTERVAL) => {}
        }
    }
}

/// Waits until nothing has been stored for a while. Polls the store, because an engine without listeners
/// publishes no events.
async fn wait_for_quiet(engine: &Engine) {
    let mut seen = engine.store().version().await.ok();
    loop {
        sleep(IDLE_AFTER).await;
        let now = engine.store().version().await.ok();
        if now == seen {
            return;
        }
        seen = now;
    }
}

/// A range of addresses; the end is exclusive.
type AddressRange = (usize, usize);

fn give_back() {
    // If these files are missing or have an unknown format, nothing is released.
    let (Ok(maps), Ok(program)) = (
        std::fs::read_to_string("/proc/self/maps"),
        std::fs::read_link("/proc/self/exe"),
    ) else {
        return;
    };
    clean(&maps, &program).for_each(forget);
}

/// Returns the ranges where the program is mapped from its file and never written to: its code, and the
/// constants before it, which are mapped from offset 0. Pages that were relocated at startup are in later
/// mappings.
fn clean<'a>(maps: &'a str, program: &'a Path) -> impl Iterator<Item = AddressRange> + 'a {
    maps.lines().filter_map(move |line| {
        let (head, path) = line.split_once('/')?;
        let mut head = head.split_whitespace();
        let (from, to) = head.next()?.split_once('-')?;
        let (rights, offset) = (head.next()?, head.next()?);
        let clean = rights == "r-xp" || rights == "r--p" && offset == "00000000";
        let ours = clean && Path::new(&format!("/{path}")) == program;
        let address = |hex| usize::from_str_radix(hex, 16).ok();
        ours.then_some((address(from)?, address(to)?))
    })
}

#[expect(unsafe_code, reason = "`madvise` has no safe wrapper")]
fn forget((from, to): AddressRange) {
    let start = std::ptr::with_exposed_provenance_mut(from);
    // SAFETY: the range is a whole mapping of this process, and it stays for as long as the process lives.
    // Its pages are file-backed and not writable, so each holds exactly what is in the file: a released page
    // comes back unchanged. Addresses that are relocated at startup are in mappings that were writable then;
    // neither the code nor the mapping at offset 0 was.
    let advised = unsafe { madvise(start, to.saturating_sub(from), Advice::LinuxDontNeed) };
    if let Err(problem) = advised {
        tracing::debug!(%problem, "cannot release memory pages of the program");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unmodified_pages_are_found() {
        let maps = "\
            55d0-55e0 r--p 00000000 fd:00 11 /opt/my deft\n\
            55e0-56f0 r-xp 00010000 fd:00 11 /opt/my deft\n\
            56f0-5700 r--p 00020000 fd:00 11 /opt/my deft\n\
            5700-5710 rw-p 00030000 fd:00 11 /opt/my deft\n\
            6000-6100 rw-p 00000000 00:00 0 [heap]\n\
            7000-7100 r-xp 00000000 fd:00 12 /usr/lib/libc.so.6\n\
            7200-7300 r-xp 00000000 00:00 0 [vdso]\n";
        let found: Vec<AddressRange> = clean(maps, Path::new("/opt/my deft")).collect();
        assert_eq!(found, [(0x55d0, 0x55e0), (0x55e0, 0x56f0)]);
    }

    #[test]
    fn the_program_runs_after_releasing_its_pages() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let program = std::env::current_exe().unwrap();
        let before: Vec<AddressRange> = clean(&maps, &program).collect();
        give_back();
        let after: Vec<AddressRange> = clean(&maps, &program).collect();
        assert_ne!(after, []);
        assert_eq!(after, before);
    }
}
