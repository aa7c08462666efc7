//! YAML as a tree whose every node knows its place in the file.
//!
//! The syntax itself is `granit-parser`'s business. This module builds the
//! tree, resolves aliases and merge keys under a budget, and gives plain
//! scalars their YAML 1.2 types on demand. It does not judge styles or keys;
//! the dialects do.

mod build;
mod locate;
mod node;
mod repair;
mod slips;
mod value;

pub(crate) use build::{Error, parse};
pub(crate) use locate::{Places, locate};
pub(crate) use node::{Entry, Kind, Mapping, Node, Scalar, Style};
pub(crate) use repair::{RepairError, RepairedValue, conflict_marker, repair};
pub(crate) use slips::{tab_indent, unclosed_quote};
