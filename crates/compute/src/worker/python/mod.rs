//! The Python interpreter with its prelude, and the conversion of its inputs and outputs.
//!
//! All of it runs in one thread. The zygote loads it once; children use it after the fork.

mod clock;
mod fault;
mod growing;
mod import;
mod load;
pub(crate) mod modules;
mod restore;
mod scope;
mod tamper;
mod types;
mod value;
mod yaml;

pub(super) use clock::Moment;
pub(super) use fault::{from_exception, from_syntax};
pub(super) use growing::{rewrite, text};
pub(super) use import::take_missed;
pub(super) use load::{LoadedInterpreter, load};
pub(super) use scope::globals;
pub(super) use tamper::may_tamper;
pub(super) use value::Writer;

/// The file name under which code is compiled; tracebacks identify its lines by it.
pub(super) const SOURCE: &str = "<compute>";
