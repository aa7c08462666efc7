//! YAML as a tree whose nodes have spans in the file.
//!
//! `granit-parser` parses the syntax. This module builds the tree, resolves aliases and merge keys with a
//! limit, and determines the YAML 1.2 types of plain scalars on demand. Not here: checks of styles and keys,
//! which are part of the dialects.

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
