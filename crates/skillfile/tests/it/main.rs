//! Tests of the skill file reader against case files and outside referees.

mod corpus;
mod support;
