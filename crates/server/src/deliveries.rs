//! Limits how many deliveries to hooks are received at once. The sender of a delivery is unknown until its whole body has
//! arrived, so slow strangers must not keep others out: an address gets at most as many places as are still free.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::rate::network;

/// The most deliveries that are received at once.
pub(crate) const PLACES: usize = 64;

/// The places of all deliveries that are being received.
#[derive(Default)]
pub(crate) struct Deliveries {
    by_address: Mutex<HashMap<IpAddr, usize>>,
}

impl Deliveries {
    /// A place for a delivery from `address`; none if too few are free.
    pub(crate) fn take(self: &Arc<Self>, address: IpAddr) -> Option<DeliveryPlace> {
        let address = network(address);
        let mut by_address = self.by_address.lock();
        let free = PLACES.saturating_sub(by_address.values().sum());
        let taken = by_address.get(&address).copied().unwrap_or_default();
        if taken >= free {
            return None;
        }
        by_address.insert(address, taken + 1);
        Some(DeliveryPlace {
            deliveries: Arc::clone(self),
            address,
        })
    }
}

/// The place of one delivery, free again when dropped.
pub(crate) struct DeliveryPlace {
    deliveries: Arc<Deliveries>,
    address: IpAddr,
}

impl Drop for DeliveryPlace {
    fn drop(&mut self) {
        let mut by_address = self.deliveries.by_address.lock();
        if let Some(taken) = by_address.get_mut(&self.address) {
            *taken -= 1;
            if *taken == 0 {
                by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_cannot_use_all_delivery_places() {
        let deliveries = Arc::new(Deliveries::default());
        let take_all = |last: u8| {
            let address = IpAddr::from([10, 0, 0, last]);
            let places = std::iter::from_fn(|| deliveries.take(address));
            places.collect::<Vec<_>>()
        };
        let held: Vec<Vec<DeliveryPlace>> = (1..=8).map(take_all).collect();
        let counts: Vec<usize> = held.iter().map(Vec::len).collect();
        assert_eq!(counts, [32, 16, 8, 4, 2, 1, 1, 0]);
        drop(held);
        assert!(deliveries.by_address.lock().is_empty());
        assert_eq!(take_all(9).len(), 32);
        let take = |address: &str| deliveries.take(address.parse().unwrap());
        let first: Vec<_> = std::iter::from_fn(|| take("2001:db8::1")).collect();
        assert_eq!(first.len(), 32);
        assert!(take("2001:db8::2").is_none(), "the same network");
        assert!(take("2001:db8:1::1").is_some());
    }
}
