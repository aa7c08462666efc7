//! The number of files that the daemon may open: connections, servers of tools and the database share it.
//!
//! Most systems start programs with a limit of 1,024 and let them raise it. Programs that deft starts inherit
//! the raised limit.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limit that deft asks for.
const WANTED_OPEN_FILES: u64 = 65_536;

/// Raises the limit as far as the system allows, and returns it.
pub(super) fn raise() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = raise_soft(limit);
    let limit = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => raised,
        Err(problem) => {
            tracing::debug!(%problem, "cannot raise the limit on open files");
            limit
        }
    };
    let current = limit.current.unwrap_or(u64::MAX);
    usize::try_from(current).unwrap_or(usize::MAX)
}

/// Returns a limit with at least the wanted number, unless the system allows fewer.
fn raise_soft(limit: Rlimit) -> Rlimit {
    let allowed = limit.maximum.unwrap_or(u64::MAX);
    let current = limit.current.unwrap_or(u64::MAX);
    Rlimit {
        current: Some(current.max(WANTED_OPEN_FILES.min(allowed))),
        maximum: limit.maximum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_to_the_system_maximum() {
        for (current, maximum, wanted) in [
            (Some(1_024), Some(524_288), 65_536),
            (Some(1_024), Some(4_096), 4_096),
            (Some(1_024), None, 65_536),
            (Some(100_000), Some(524_288), 100_000),
            (None, None, u64::MAX),
        ] {
            let limit = raise_soft(Rlimit { current, maximum });
            assert_eq!((limit.current, limit.maximum), (Some(wanted), maximum));
        }
    }
}
