//! Re-exports MCP servers behind deft to clients of deft's own MCP server, and relays their requests.
//!
//! All functions need an engine that stays open. Not here: the protocol between deft and the client.

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

/// The tools that control runs and approvals. They are not tools of the router.
pub const CONTROL_TOOLS: [&str; 5] = [
    "run_list",
    "run_show",
    "run_cancel",
    "approval_list",
    "approval_answer",
];

/// Prefixes of the addresses of deft's own resources.
const OWN_ADDRESSES: [&str; 2] = ["skill://", "deft://"];

/// Whether any server is re-exported to clients.
pub fn is_used(app: &App) -> bool {
    app.engine.router().reexports()
}

/// Returns the current offers of re-exported servers. This is cheap as long as they have not changed.
pub async fn offers(app: &App) -> Vec<Arc<Offers>> {
    if is_used(app) {
        app.engine.router().offers().await
    } else {
        Vec::new()
    }
}

/// Assigns the names under which clients see the offers of servers; deft's own names have precedence.
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

/// Returns the offers of servers that clients cannot reach because of a name clash.
pub(crate) async fn clashes(app: &App) -> Vec<Clash> {
    let offers = offers(app).await;
    let skills = SkillOffers::new(app.engine.library().all_skills().await);
    exports(app, &skills, &offers).clashes
}

/// Relays a request. Must be called inside a runtime.
pub fn start(app: &App, request: RelayRequest) -> RelayCall {
    app.engine.router().relay(request)
}

/// Subscribes to the changes that servers announce.
pub fn news(app: &App) -> broadcast::Receiver<News> {
    app.engine.router().news()
}

/// Subscribes one more client to a resource of a server.
pub async fn subscribe(app: &App, server: &str, uri: &str) -> Result<(), RelayError> {
    app.engine.router().subscribe(server, uri).await
}

/// Removes the subscription of one client to a resource of a server.
pub async fn unsubscribe(app: &App, server: &str, uri: &str) {
    app.engine.router().unsubscribe(server, uri).await;
}
