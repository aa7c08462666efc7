//! What MCP servers behind deft offer to clients of deft's own MCP server, and requests that are passed on to them.
//!
//! Everything here is about an engine that stays open. Not here: the protocol towards the client.

mod seal;

pub use deft_tools::{
    Clash, ExportedItem, Exports, News, Offers, RelayCall, RelayClient, RelayError, RelayEvent,
    RelayMessage, RelayRequest, legal_name,
};
pub use seal::Seal;

use std::collections::HashSet;
use std::sync::Arc;

use deft_tools::OwnNames;
use tokio::sync::broadcast;

use crate::app::App;
use crate::offers::{self, SkillOffers};

/// The tools that control runs and questions, which are no tools of the router.
pub const CONTROL_TOOLS: [&str; 5] = [
    "run_list",
    "run_show",
    "run_cancel",
    "approval_list",
    "approval_answer",
];

/// Beginnings of the addresses of deft's own resources.
const OWN_ADDRESSES: [&str; 2] = ["skill://", "deft://"];

/// Whether any server is offered to clients.
pub fn is_used(app: &App) -> bool {
    app.engine.router().reexports()
}

/// What servers offer now. It costs little as long as nothing has changed.
pub async fn offers(app: &App) -> Vec<Arc<Offers>> {
    if is_used(app) {
        app.engine.router().offers().await
    } else {
        Vec::new()
    }
}

/// The names under which clients find it; those of deft itself come first.
pub fn exports(app: &App, skills: &SkillOffers, offers: &[Arc<Offers>]) -> Exports {
    let skills = skills.list();
    let own = offers::own_tools(app).into_iter().map(|tool| tool.name);
    let control = CONTROL_TOOLS.map(str::to_owned);
    let exposed = skills.iter().filter(|skill| skill.is_exposed);
    let exposed = exposed.map(|skill| legal_name(&skill.id));
    let names = OwnNames {
        tools: own.chain(control).chain(exposed).collect(),
        prompts: skills
            .iter()
            .map(|skill| skill.id.clone())
            .collect::<HashSet<_>>(),
        addresses: OWN_ADDRESSES.to_vec(),
    };
    Exports::new(offers, &names)
}

/// What servers offer and clients cannot reach.
pub(crate) async fn clashes(app: &App) -> Vec<Clash> {
    let offers = offers(app).await;
    let skills = SkillOffers::new(app.engine.library().all_skills().await);
    exports(app, &skills, &offers).clashes
}

/// Passes a request on. Must be called inside a runtime.
pub fn start(app: &App, request: RelayRequest) -> RelayCall {
    app.engine.router().relay(request)
}

/// The changes that servers announce.
pub fn news(app: &App) -> broadcast::Receiver<News> {
    app.engine.router().news()
}

/// Follows a resource of a server for one more client.
pub async fn subscribe(app: &App, server: &str, uri: &str) -> Result<(), RelayError> {
    app.engine.router().subscribe(server, uri).await
}

/// The opposite.
pub async fn unsubscribe(app: &App, server: &str, uri: &str) {
    app.engine.router().unsubscribe(server, uri).await;
}
