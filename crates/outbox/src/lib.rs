//! Messages to people: their content ([`Notice`]), their queue ([`Outbox`]), and the interface of the
//! [`Channel`]s that deliver them.
//!
//! Not here: where messages go. The host brings the channels.

mod courier;
mod notice;

pub use courier::{Channel, Delivery, DeliveryError, DeliveryResult, Outbox};
pub use notice::{Kind, Notice};
