//! Notifies clients of changed lists: clients with a session by notifications, other clients on the stream of
//! `subscriptions/listen`.
//!
//! While a client listens, skills are compared once a second, so records stored by other processes are
//! noticed like changed files. Servers behind deft announce changes themselves.

use std::sync::{Arc, Weak};
use std::time::Duration;

use deft_service::App;
use deft_service::offers::{self, SkillOffers};
use deft_service::relay::{self, News};
use parking_lot::Mutex;
use rmcp::RoleServer;
use rmcp::model::{
    PromptListChangedNotification, ResourceListChangedNotification, ResourceUpdatedNotification,
    ResourceUpdatedNotificationParam, ServerNotification, ToolListChangedNotification,
};
use rmcp::service::{Peer, SubscriptionContext, SubscriptionSendError};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, broadcast};

use super::relay::Session;

/// Interval between comparisons of skills.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Number of changes that a slow client may miss. Beyond it, the client is notified of all lists.
const MAX_MISSED: usize = 256;

/// All lists. Each of them contains skills.
const LISTS: [News; 3] = [News::Tools, News::Prompts, News::Resources];

/// A client with a session.
type SessionClient = (Peer<RoleServer>, Arc<Session>);

/// Clients to notify, and the last known skills.
pub(super) struct Changes {
    listeners: Mutex<Vec<SessionClient>>,
    /// Clients with a session that follow resources.
    followers: Mutex<Vec<SessionClient>>,
    /// Announcements for streams.
    news: broadcast::Sender<News>,
    look: Arc<Notify>,
    /// Skills known to the clients; `None` while no client listens.
    known: Mutex<Option<SkillOffers>>,
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.look.notify_one();
    }
}

impl Changes {
    /// Starts to watch the skills of `app` and the servers behind it, until the result is dropped.
    pub(super) fn follow(app: Arc<App>) -> Arc<Self> {
        let changes = Arc::new(Self {
            listeners: Mutex::default(),
            followers: Mutex::default(),
            news: broadcast::Sender::new(MAX_MISSED),
            look: Arc::default(),
            known: Mutex::default(),
        });
        let look = Arc::clone(&changes.look);
        tokio::spawn(watch_servers(
            Arc::downgrade(&changes),
            Arc::downgrade(&app),
        ));
        tokio::spawn(watch_skills(Arc::downgrade(&changes), look, app));
        changes
    }

    /// Stores the skills known to clients, unless some are stored already.
    pub(super) fn note(&self, skills: &SkillOffers) {
        self.known.lock().get_or_insert_with(|| skills.clone());
    }

    /// Triggers a comparison of the skills.
    pub(super) fn compare_now(&self) {
        self.look.notify_one();
    }

    /// Adds a client with a session to the notified clients.
    pub(super) fn add_listener(&self, peer: Peer<RoleServer>, session: &Arc<Session>) {
        add_once(&mut self.listeners.lock(), peer, session);
        self.look.notify_one();
    }

    /// Adds a client with a session to those notified of changed resources that they follow.
    pub(super) fn add_follower(&self, peer: Peer<RoleServer>, session: &Arc<Session>) {
        add_once(&mut self.followers.lock(), peer, session);
    }

    /// Subscribes to all announcements from now on.
    pub(super) fn news(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    /// Sends announcements to a client's stream until the client ends it.
    pub(super) async fn serve(
        &self,
        context: &SubscriptionContext,
        mut news: broadcast::Receiver<News>,
    ) {
        self.look.notify_one();
        loop {
            let missed = tokio::select! {
                () = context.cancelled() => return,
                news = news.recv() => match news {
                    Ok(news) => vec![news],
                    Err(RecvError::Lagged(_)) => LISTS.to_vec(),
                    Err(RecvError::Closed) => return,
                },
            };
            for news in missed {
                if !notify_stream(context, news).await {
                    return;
                }
            }
        }
    }

    fn has_listeners(&self) -> bool {
        let mut listeners = self.listeners.lock();
        listeners.retain(|(peer, _)| !peer.is_transport_closed());
        !listeners.is_empty() || self.news.receiver_count() > 0
    }

    async fn announce(&self, news: News) {
        // Sending fails only if there is no stream.
        drop(self.news.send(news.clone()));
        let peers = match &news {
            News::Updated(uri) => self.followers_of(uri),
            News::Tools | News::Prompts | News::Resources => self.listening_peers(),
        };
        for peer in peers {
            // Disconnected clients are removed at the next comparison.
            drop(peer.send_notification(notification(news.clone())).await);
        }
    }

    fn listening_peers(&self) -> Vec<Peer<RoleServer>> {
        let listeners = self.listeners.lock();
        listeners.iter().map(|(peer, _)| peer.clone()).collect()
    }

    fn followers_of(&self, uri: &str) -> Vec<Peer<RoleServer>> {
        let followers = self.followers.lock();
        let followers = followers.iter().filter(|(_, session)| session.follows(uri));
        followers.map(|(peer, _)| peer.clone()).collect()
    }

    /// Removes followers that are disconnected, and returns their sessions.
    fn remove_disconnected(&self) -> Vec<Arc<Session>> {
        let mut gone = Vec::new();
        self.followers.lock().retain(|(peer, session)| {
            let is_gone = peer.is_transport_closed();
            if is_gone {
                gone.push(Arc::clone(session));
            }
            !is_gone
        });
        gone
    }
}

/// Adds a client unless its session is listed: a client may say repeatedly that it is initialized.
fn add_once(clients: &mut Vec<SessionClient>, peer: Peer<RoleServer>, session: &Arc<Session>) {
    if !clients.iter().any(|(_, other)| Arc::ptr_eq(other, session)) {
        clients.push((peer, Arc::clone(session)));
    }
}

fn notification(news: News) -> ServerNotification {
    match news {
        News::Tools => ToolListChangedNotification::default().into(),
        News::Prompts => PromptListChangedNotification::default().into(),
        News::Resources => ResourceListChangedNotification::default().into(),
        News::Updated(uri) => {
            let params = ResourceUpdatedNotificationParam::new(uri);
            ResourceUpdatedNotification::new(params).into()
        }
    }
}

/// Sends an announcement to a stream, if the stream asked for it. Returns false if the stream has ended.
async fn notify_stream(context: &SubscriptionContext, news: News) -> bool {
    match context.sink().send(notification(news)).await {
        Ok(()) | Err(SubscriptionSendError::NotificationNotAccepted(_)) => true,
        Err(_) => false,
    }
}

/// Forwards announcements of servers to clients.
async fn watch_servers(changes: Weak<Changes>, app: Weak<App>) {
    let Some(mut news) = app.upgrade().map(|app| relay::news(&app)) else {
        return;
    };
    loop {
        let change = news.recv().await;
        let Some(here) = changes.upgrade() else {
            return;
        };
        match change {
            Ok(news) => here.announce(news).await,
            Err(RecvError::Lagged(_)) => {
                for news in LISTS {
                    here.announce(news).await;
                }
            }
            Err(RecvError::Closed) => return,
        }
    }
}

/// Ends the resource subscriptions of disconnected clients.
async fn unsubscribe_disconnected(changes: &Changes, app: &App) {
    for session in changes.remove_disconnected() {
        for (uri, server) in session.take_followed() {
            relay::unsubscribe(app, &server, &uri).await;
        }
    }
}

async fn watch_skills(changes: Weak<Changes>, look: Arc<Notify>, app: Arc<App>) {
    loop {
        let Some(here) = changes.upgrade() else {
            return;
        };
        let has_listeners = here.has_listeners();
        unsubscribe_disconnected(&here, &app).await;
        if !has_listeners {
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
            for news in LISTS {
                here.announce(news).await;
            }
        }
        drop(here);
        drop(tokio::time::timeout(POLL_INTERVAL, look.notified()).await);
    }
}
