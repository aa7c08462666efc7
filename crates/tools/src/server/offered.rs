//! The offers of a server to clients of deft: listed on deft's own connection, and cached until the
//! server announces a change.
//!
//! Not here: the names under which clients see the offers (`../relay/exports.rs`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::model::{
    ClientRequest, Extensions, ListPromptsRequest, ListResourceTemplatesRequest,
    ListResourcesRequest, ListToolsRequest, PaginatedRequestParams, Prompt, Resource,
    ResourceTemplate, ServerCapabilities, ServerResult, Tool,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Server;
use super::desk::redact;
use super::link::Link;
use crate::options::Reexport;
use crate::relay::{News, Offers};

/// The maximum number of pages and items of one list.
const MAX_PAGES: usize = 200;
const MAX_ITEMS: usize = 10_000;
/// How long clients wait for a server that is not started yet.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// The cached offers of a server.
#[derive(Default)]
pub(super) struct OfferCache {
    /// Number of changes, so that a list from before a change is not used.
    changes: AtomicU64,
    newest: Mutex<Option<(u64, Arc<Offers>)>>,
    /// Held during a listing, so that concurrent clients share it.
    listing: tokio::sync::Mutex<()>,
}

impl OfferCache {
    /// Invalidates the cache.
    pub(super) fn forget(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
    }

    fn current(&self) -> Option<Arc<Offers>> {
        let changes = self.changes.load(Ordering::SeqCst);
        let newest = self.newest.lock();
        let (made_at, offers) = newest.as_ref()?;
        (*made_at == changes).then(|| offers.clone())
    }
}

impl Server {
    /// Announces a change to clients of deft.
    pub(super) fn announce(&self, news: News) {
        match news {
            News::Tools | News::Prompts | News::Resources => self.offered.forget(),
            News::Updated(_) => {}
        }
        if self.options.reexport != Reexport::Off {
            (self.hooks.news)(news);
        }
    }

    /// Returns the server's offers to clients of deft, possibly stale ones; `None` if it cannot be
    /// reached and nothing is cached.
    pub(crate) async fn offers(self: &Arc<Self>) -> Option<Arc<Offers>> {
        if let Some(offers) = self.offered.current() {
            return Some(offers);
        }
        let _listing = self.offered.listing.lock().await;
        if let Some(offers) = self.offered.current() {
            return Some(offers);
        }
        match tokio::time::timeout(START_TIMEOUT, Box::pin(self.ask_for_offers())).await {
            Ok(Some(offers)) => Some(offers),
            // Stale offers are better than none.
            Ok(None) | Err(_) => {
                let newest = self.offered.newest.lock();
                newest.as_ref().map(|(_, offers)| offers.clone())
            }
        }
    }

    async fn ask_for_offers(self: &Arc<Self>) -> Option<Arc<Offers>> {
        if self.ready().is_none() {
            // The failure is recorded; `deft doctor` and the log show it.
            self.ensure_now().await.ok()?;
        }
        let link = self.ready()?;
        let made_at = self.offered.changes.load(Ordering::SeqCst);
        let listed = self.list_offers(&link).await;
        if let Err(problem) = &listed {
            let problem = self.redaction.load().redact_owned(problem.to_string());
            tracing::warn!(
                server = self.name,
                problem,
                "its prompts and resources could not be listed"
            );
        }
        let offers = Arc::new(listed.ok()?);
        *self.offered.newest.lock() = Some((made_at, offers.clone()));
        Some(offers)
    }

    async fn list_offers(&self, link: &Link) -> Result<Offers, ServiceError> {
        let info = link.info();
        let none = ServerCapabilities::default();
        let has = info.as_ref().map_or(&none, |info| &info.capabilities);
        let mut offers = Offers {
            server: self.name.clone(),
            reexport: self.options.reexport,
            completes: has.completions.is_some(),
            logs: has_logging(has),
            announces_updates: has
                .resources
                .as_ref()
                .is_some_and(|it| it.subscribe == Some(true)),
            ..Offers::default()
        };
        if has.tools.is_some() {
            offers.tools = self.list_exported_tools(link).await?;
        }
        if has.prompts.is_some() {
            offers.prompts = self.clean(pages(link, prompts_page, read_prompts).await?);
        }
        if has.resources.is_some() {
            offers.resources = self.clean(pages(link, resources_page, read_resources).await?);
            let templates = pages(link, templates_page, read_templates).await;
            // Many servers with resources have no templates and return an error.
            offers.templates = self.clean(templates.unwrap_or_default());
        }
        Ok(offers)
    }

    /// Lists the tools as the server describes them, except those that deft does not allow.
    async fn list_exported_tools(&self, link: &Link) -> Result<Vec<Tool>, ServiceError> {
        let mut tools: Vec<Tool> = pages(link, tools_page, read_tools).await?;
        let catalog = self.catalog();
        let allowed = |tool: &Tool| {
            let known = catalog.as_ref();
            known.is_some_and(|known| known.tools.iter().any(|it| it.name == tool.name))
        };
        tools.retain(allowed);
        Ok(self.clean(tools))
    }

    fn clean<T: Serialize + DeserializeOwned>(&self, items: Vec<T>) -> Vec<T> {
        let redaction = self.redaction.load();
        let items = items.into_iter();
        items.filter_map(|item| redact(item, &redaction)).collect()
    }
}

fn has_logging(capabilities: &ServerCapabilities) -> bool {
    capabilities.logging.is_some()
}

type Page<T> = (Vec<T>, Option<String>);

/// Returns all items of a list.
async fn pages<T>(
    link: &Link,
    request: fn(Option<PaginatedRequestParams>) -> ClientRequest,
    read: fn(ServerResult) -> Option<Page<T>>,
) -> Result<Vec<T>, ServiceError> {
    let mut all = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let params = cursor
            .clone()
            .map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let options = PeerRequestOptions::no_options();
        // The library's own methods may answer from a cache.
        let sent = link.peer.send_request_with_option(request(params), options);
        let result = sent.await?.await_response().await?;
        let (items, next) = read(result).ok_or(ServiceError::UnexpectedResponse)?;
        all.extend(items);
        // A server that repeats its cursor would cause an endless loop.
        if next.is_none() || next == cursor || all.len() >= MAX_ITEMS {
            break;
        }
        cursor = next;
    }
    all.truncate(MAX_ITEMS);
    Ok(all)
}

/// Defines the request for a page of a list, and the function that extracts the page from its result.
macro_rules! listing {
    ($page:ident, $read:ident, $request:ident, $result:ident, $field:ident, $item:ty) => {
        fn $page(params: Option<PaginatedRequestParams>) -> ClientRequest {
            ClientRequest::$request($request {
                method: Default::default(),
                params,
                extensions: Extensions::new(),
            })
        }

        fn $read(result: ServerResult) -> Option<Page<$item>> {
            if let ServerResult::$result(page) = result {
                Some((page.$field, page.next_cursor))
            } else {
                None
            }
        }
    };
}

listing!(
    tools_page,
    read_tools,
    ListToolsRequest,
    ListToolsResult,
    tools,
    Tool
);
listing!(
    prompts_page,
    read_prompts,
    ListPromptsRequest,
    ListPromptsResult,
    prompts,
    Prompt
);
listing!(
    resources_page,
    read_resources,
    ListResourcesRequest,
    ListResourcesResult,
    resources,
    Resource
);
listing!(
    templates_page,
    read_templates,
    ListResourceTemplatesRequest,
    ListResourceTemplatesResult,
    resource_templates,
    ResourceTemplate
);
