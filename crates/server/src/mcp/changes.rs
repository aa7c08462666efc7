//! Tells clients that lists have changed: those with a session by notifications, the others on the stream of
//! `subscriptions/listen`.
//!
//! Skills are compared once a second while a client is there to be told, so that records which another process stores
//! are noticed like files.

use std::sync::{Arc, Weak};
use std::time::Duration;

use deft_service::App;
use deft_service::offers::{self, SkillOffers};
use parking_lot::Mutex;
use rmcp::RoleServer;
use rmcp::service::{Peer, SubscriptionContext};
use tokio::sync::{Notify, watch};

/// How often skills are compared.
const LOOK: Duration = Duration::from_secs(1);

/// Who is told about changes.
pub(super) struct Changes {
    peers: Mutex<Vec<Peer<RoleServer>>>,
    /// How often the skills have changed.
    count: watch::Sender<u64>,
    look: Arc<Notify>,
    /// The skills that clients know of; none while no client is there.
    known: Mutex<Option<SkillOffers>>,
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.look.notify_one();
    }
}

impl Changes {
    /// Starts to follow the skills of an engine, until this is dropped.
    pub(super) fn follow(app: Arc<App>) -> Arc<Self> {
        let changes = Arc::new(Self {
            peers: Mutex::default(),
            count: watch::Sender::new(0),
            look: Arc::default(),
            known: Mutex::default(),
        });
        let look = Arc::clone(&changes.look);
        tokio::spawn(watch_skills(Arc::downgrade(&changes), look, app));
        changes
    }

    /// Notes what a client is told, unless more is known already.
    pub(super) fn note(&self, skills: &SkillOffers) {
        self.known.lock().get_or_insert_with(|| skills.clone());
    }

    /// Compares the skills soon.
    pub(super) fn look_now(&self) {
        self.look.notify_one();
    }

    /// Tells a client with a session from now on.
    pub(super) fn tell(&self, peer: Peer<RoleServer>) {
        self.peers.lock().push(peer);
        self.look.notify_one();
    }

    /// Tells a client on its stream, until the client ends it.
    pub(super) async fn serve(&self, context: &SubscriptionContext) {
        let mut count = self.count.subscribe();
        self.look.notify_one();
        loop {
            tokio::select! {
                () = context.cancelled() => return,
                changed = count.changed() => {
                    if changed.is_err() || !notify_stream(context).await {
                        return;
                    }
                }
            }
        }
    }

    fn has_listeners(&self) -> bool {
        self.peers.lock().retain(|peer| !peer.is_transport_closed());
        !self.peers.lock().is_empty() || self.count.receiver_count() > 0
    }

    async fn announce(&self) {
        self.count.send_modify(|count| *count += 1);
        let peers = self.peers.lock().clone();
        for peer in peers {
            // A client that is gone is left out at the next look.
            drop(peer.notify_tool_list_changed().await);
            drop(peer.notify_prompt_list_changed().await);
            drop(peer.notify_resource_list_changed().await);
        }
    }
}

/// Tells one stream of what it asked for; false once it has ended.
async fn notify_stream(context: &SubscriptionContext) -> bool {
    let (sink, accepted) = (context.sink(), context.accepted());
    let wanted = |flag: Option<bool>| flag == Some(true);
    let mut sent = Ok(());
    if wanted(accepted.tools_list_changed) {
        sent = sent.and(sink.notify_tool_list_changed().await);
    }
    if wanted(accepted.prompts_list_changed) {
        sent = sent.and(sink.notify_prompt_list_changed().await);
    }
    if wanted(accepted.resources_list_changed) {
        sent = sent.and(sink.notify_resource_list_changed().await);
    }
    sent.is_ok()
}

async fn watch_skills(changes: Weak<Changes>, look: Arc<Notify>, app: Arc<App>) {
    loop {
        let Some(here) = changes.upgrade() else {
            return;
        };
        if !here.has_listeners() {
            *here.known.lock() = None;
            drop(here);
            look.notified().await;
            continue;
        }
        let engine = Arc::clone(&app);
        let now = tokio::task::spawn_blocking(move || offers::skills(&engine)).await;
        let Ok(now) = now else {
            return;
        };
        let before = here.known.lock().replace(now.clone());
        if before.is_some_and(|before| !before.is_same(&now)) {
            here.announce().await;
        }
        drop(here);
        drop(tokio::time::timeout(LOOK, look.notified()).await);
    }
}
