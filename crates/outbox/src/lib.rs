//! Messages to people: what they say ([`Notice`]), where they wait ([`Outbox`]), and how they are
//! handed to a [`Channel`].
//!
//! Not here: where messages go. The host brings the channels.

mod courier;
mod notice;

pub use courier::{Channel, DeliveryError, DeliveryResult, Outbox, Parcel};
pub use notice::{Kind, Notice};
