//! Tells clients that lists have changed: those with a session by notifications, the others on the stream of
//! `subscriptions/listen`.
//!
//! Skills are compared once a second while a client is there to be told, so that records which another process stores
//! are noticed like files. Servers behind deft announce changes themselves.

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

/// How often skills are compared.
const LOOK: Duration = Duration::from_secs(1);

/// How many changes a slow client may miss before it is told of all lists.
const MOST_MISSED: usize = 256;

/// All lists, as skills are in each of them.
const LISTS: [News; 3] = [News::Tools, News::Prompts, News::Resources];

/// Who is told about changes.
pub(super) struct Changes {
    peers: Mutex<Vec<Peer<RoleServer>>>,
    /// Clients with a session that follow resources.
    followers: Mutex<Vec<(Peer<RoleServer>, Arc<Session>)>>,
    /// What streams are told.
    news: broadcast::Sender<News>,
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
    /// Starts to follow the skills of an engine and the servers behind it, until this is dropped.
    pub(super) fn follow(app: Arc<App>) -> Arc<Self> {
        let changes = Arc::new(Self {
            peers: Mutex::default(),
            followers: Mutex::default(),
            news: broadcast::Sender::new(MOST_MISSED),
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

    /// Tells a client with a session of changes of the resources that it follows.
    pub(super) fn tell_updates(&self, peer: Peer<RoleServer>, session: &Arc<Session>) {
        let mut followers = self.followers.lock();
        if !followers
            .iter()
            .any(|(_, other)| Arc::ptr_eq(other, session))
        {
            followers.push((peer, Arc::clone(session)));
        }
    }

    /// The changes that are announced from now on.
    pub(super) fn news(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    /// Tells a client of these changes on its stream, until the client ends it.
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
        self.peers.lock().retain(|peer| !peer.is_transport_closed());
        !self.peers.lock().is_empty() || self.news.receiver_count() > 0
    }

    async fn announce(&self, news: News) {
        // An error means that there is no stream.
        drop(self.news.send(news.clone()));
        let peers = match &news {
            News::Updated(uri) => self.followers_of(uri),
            News::Tools | News::Prompts | News::Resources => self.peers.lock().clone(),
        };
        for peer in peers {
            // A client that is gone is left out at the next look.
            drop(peer.send_notification(notification(news.clone())).await);
        }
    }

    fn followers_of(&self, uri: &str) -> Vec<Peer<RoleServer>> {
        let followers = self.followers.lock();
        let followers = followers.iter().filter(|(_, session)| session.follows(uri));
        followers.map(|(peer, _)| peer.clone()).collect()
    }

    /// The sessions of clients that are gone.
    fn take_gone(&self) -> Vec<Arc<Session>> {
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

/// Tells one stream of what it asked for; false once it has ended.
async fn notify_stream(context: &SubscriptionContext, news: News) -> bool {
    match context.sink().send(notification(news)).await {
        Ok(()) | Err(SubscriptionSendError::NotificationNotAccepted(_)) => true,
        Err(_) => false,
    }
}

/// Passes on what servers announce.
async fn watch_servers(changes: Weak<Changes>, app: Weak<App>) {
    let Some(mut news) = app.upgrade().map(|app| relay::news(&app)) else {
        return;
    };
    loop {
        let heard = news.recv().await;
        let Some(here) = changes.upgrade() else {
            return;
        };
        match heard {
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

/// Servers need not follow resources for clients that are gone.
async fn unfollow_gone(changes: &Changes, app: &App) {
    for session in changes.take_gone() {
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
        unfollow_gone(&here, &app).await;
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
        drop(tokio::time::timeout(LOOK, look.notified()).await);
    }
}
