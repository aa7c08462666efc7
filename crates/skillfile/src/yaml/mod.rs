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
mod value;

pub(crate) use build::parse;
pub(crate) use locate::locate;
pub(crate) use node::{Entry, Kind, Mapping, Node, Scalar};
pub(crate) use repair::repair;
