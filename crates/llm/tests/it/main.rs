//! Models as the engine sees them, against doubles and against a real one.
#![allow(clippy::expect_used, reason = "what fails here is a test that fails")]

mod calls;
mod cases;
mod real_model;
mod scripted;
mod support;
mod tries;
mod trouble;
