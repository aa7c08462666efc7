//! deft as a server for other programs.

pub mod mcp;
