//! Rate limits: a bucket per caller and kind of request, refilled continuously.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Instant;

use deft_wire::{Done, Failure};
use parking_lot::Mutex;

/// Number of buckets above which unused ones are removed.
const MAX_BUCKETS: usize = 1024;

/// Kind of a request, for its rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RequestKind {
    /// The request only reads.
    Read,
    /// The request may change something.
    Change,
    /// The request has no valid token, or needs none.
    WithoutToken,
}

/// Allowed requests per second without a valid token.
const MAX_REQUESTS_WITHOUT_TOKEN: u32 = 100;

/// Returns the address whose requests count together: of an IPv6 address the network, because a client can use
/// any address in it.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from(network))
        }
    }
}

/// Buckets of all callers.
pub(crate) struct RateLimit {
    reads_per_second: u32,
    changes_per_second: u32,
    buckets: Mutex<HashMap<(String, RequestKind), Bucket>>,
}

struct Bucket {
    left: f64,
    seen: Instant,
}

impl RateLimit {
    /// Creates the limits for the requests of each token.
    pub(crate) fn new(reads_per_second: u32, changes_per_second: u32) -> Self {
        Self {
            reads_per_second,
            changes_per_second,
            buckets: Mutex::default(),
        }
    }

    /// Returns the allowed requests per second.
    fn per_second(&self, kind: RequestKind) -> f64 {
        f64::from(match kind {
            RequestKind::Read => self.reads_per_second,
            RequestKind::Change => self.changes_per_second,
            RequestKind::WithoutToken => MAX_REQUESTS_WITHOUT_TOKEN,
        })
    }

    /// Counts a request of `caller`. Fails if there were too many within a second.
    pub(crate) fn check(&self, caller: &str, kind: RequestKind, now: Instant) -> Done<()> {
        let most = self.per_second(kind);
        let mut buckets = self.buckets.lock();
        if buckets.len() >= MAX_BUCKETS {
            buckets.retain(|_, bucket| now.duration_since(bucket.seen).as_secs() < 2);
        }
        let bucket = buckets.entry((caller.to_owned(), kind)).or_insert(Bucket {
            left: most,
            seen: now,
        });
        let passed = now.saturating_duration_since(bucket.seen).as_secs_f64();
        bucket.left = passed.mul_add(most, bucket.left).min(most);
        bucket.seen = now;
        if bucket.left < 1.0 {
            let message = format!("more than {most} requests within a second");
            let hint = "wait a second, then send fewer requests at a time";
            return Err(Failure::input("too_many_requests", message).hint(hint));
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn addresses_of_one_network_count_together() {
        for (address, counted) in [
            ("10.0.0.7", "10.0.0.7"),
            ("::ffff:10.0.0.7", "10.0.0.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("::1", "::"),
        ] {
            let address = address.parse().unwrap();
            assert_eq!(network(address), counted.parse::<IpAddr>().unwrap());
        }
    }

    #[test]
    fn a_bucket_empties_and_refills() {
        let limit = RateLimit::new(5, 2);
        let now = Instant::now();
        let ask = |caller: &str, at| limit.check(caller, RequestKind::WithoutToken, at).is_ok();
        assert_eq!((0..200).filter(|_| ask("a", now)).count(), 100);
        assert!(ask("b", now));
        let read = || limit.check("a", RequestKind::Read, now).is_ok();
        assert_eq!((0..10).filter(|_| read()).count(), 5);
        let later = now + Duration::from_millis(100);
        assert_eq!((0..200).filter(|_| ask("a", later)).count(), 10);
    }
}
