//! Test support for other crates: a tool server that misbehaves on request, the log of the calls it received,
//! doubles of web services and models, a real model, referees, and access to the folder beside the checkout.
//!
//! The server is a separate program, `deft-test-server`, written without a protocol library so it can break
//! every rule of the protocol. A JSON script controls it; the docs of [`Script`] list its keys. Only for
//! tests: everything here panics on failure.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "only for tests: what fails here is a test that fails"
)]

mod binary;
mod bot;
mod certificate;
mod double;
mod gate;
mod http;
mod model;
mod oauth;
mod real;
mod referees;
mod remote_skills;
mod report;
mod script;
mod shared;
mod signature;
pub mod wire;
mod witness;

pub use binary::server_binary;
pub use bot::{BotAnswer, BotApi, BotCall};
pub use certificate::Certificate;
pub use double::{HttpDouble, Piece, Reaction};
pub use gate::Gate;
pub use http::HttpServer;
pub use model::{Dialect, ModelAnswer, ModelServer};
pub use oauth::GuardedServer;
pub use real::RealModel;
pub use referees::{
    conformance_checks, node_referee, referee, referee_script, referee_script_path,
};
pub use remote_skills::{RemoteSkills, skill_md};
pub use report::{report_section, test_size};
pub use script::{Arguments, Script, start_work};
pub use shared::{find_shared, shared_path};
pub use signature::{hmac_base64, hmac_hex, hmac_sha256};
pub use witness::{Event, Kind, witness};
