//! Handler of all MCP requests. Each kind of request has its own file beside this one.

#![expect(
    deprecated,
    reason = "clients of older revisions set the level of logs"
)]

use std::sync::Arc;

use deft_service::App;
use deft_service::offers::{self, SkillOffers};
use deft_service::relay as relay_service;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams,
    InitializeResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, SetLevelRequestMethod,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::task::JoinError;
use tokio_util::task::TaskTracker;

use super::audit::AuditTrail;
use super::catalog::{Catalog, CatalogCache};
use super::changes::Changes;
use super::relay::{self, Relay, Session, Upstream};
use super::tasks::{self, TaskRuns};
use super::threads::Threads;
use super::{audit, call, complete, directories, elicit, page, prompts, resources, skills};

/// Instructions for models that use this server.
const INSTRUCTIONS: &str = "deft runs skills: named procedures with inputs and recorded runs. \
    `get_skill` lists them and shows one, `skill_run` runs one, `run_show` shows a run and its \
    result. If a run waits for an approval, `approval_answer` asks the person.";

/// deft as an MCP server. Clones share all state.
#[derive(Clone)]
pub struct McpServer {
    app: Arc<App>,
    catalog: Arc<CatalogCache>,
    changes: Arc<Changes>,
    runs: TaskTracker,
    relay: Arc<Relay>,
    session: Arc<Session>,
    tasks: Arc<TaskRuns>,
    threads: Arc<Threads>,
    /// The audit log for messages without an HTTP request.
    audit: Option<Arc<AuditTrail>>,
}

impl McpServer {
    /// Creates a server for `app`. Must be called inside a Tokio runtime, because it spawns tasks that watch
    /// for changes.
    pub fn new(app: Arc<App>) -> Self {
        Self {
            changes: Changes::follow(Arc::clone(&app)),
            catalog: Arc::default(),
            runs: TaskTracker::new(),
            relay: Arc::default(),
            session: Arc::new(Session::new()),
            tasks: Arc::default(),
            threads: Arc::default(),
            audit: None,
            app,
        }
    }

    /// Logs the calls of a client that sends no HTTP requests.
    pub(super) fn with_audit(mut self, trail: Option<AuditTrail>) -> Self {
        self.audit = trail.map(Arc::new);
        self
    }

    /// Returns a server for another client, with a new session and otherwise shared state.
    pub(super) fn for_client(&self) -> Self {
        Self {
            session: Arc::new(Session::new()),
            ..self.clone()
        }
    }

    /// State shared by relayed requests.
    pub(super) fn relay(&self) -> &Relay {
        &self.relay
    }

    /// Session of this server's client.
    pub(super) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    pub(super) fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Tracker of the runs in progress.
    pub(super) fn tracker(&self) -> &TaskTracker {
        &self.runs
    }

    /// Runs of tasks driven by this process.
    pub(super) fn task_runs(&self) -> &Arc<TaskRuns> {
        &self.tasks
    }

    /// Runs `work`, which drives a run or calls a tool, on a blocking thread. It continues if the client stops
    /// waiting. Fails if too many others are in progress.
    pub(super) async fn drive<T: Send + 'static>(
        &self,
        work: impl FnOnce(&App) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let permit = self.threads.call()?;
        let app = Arc::clone(&self.app);
        let driven = self.runs.spawn_blocking(move || {
            let result = work(&app);
            drop(permit);
            result
        });
        let driven = driven.await;
        driven.map_err(|problem| panic_error(&problem))
    }

    /// Runs `work` on a blocking thread, so it does not delay other messages.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&App) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let app = Arc::clone(&self.app);
        let done = self.threads.block(move || work(&app)).await;
        done.map_err(|problem| panic_error(&problem))
    }

    /// Adds a call to the audit log.
    fn note<T>(
        &self,
        context: &RequestContext<RoleServer>,
        method: &str,
        subject: &str,
        result: &Result<T, ErrorData>,
    ) {
        audit::note(context, self.audit.as_deref(), method, subject, result);
    }

    /// Returns the current skills.
    pub(super) async fn skills(&self) -> Result<SkillOffers, ErrorData> {
        let skills = self.ask(offers::skills).await?;
        self.changes.note(&skills);
        Ok(skills)
    }

    /// Returns the current tools.
    pub(super) async fn catalog(&self) -> Result<Arc<Catalog>, ErrorData> {
        let cache = Arc::clone(&self.catalog);
        let offers = relay_service::offers(&self.app).await;
        let (skills, catalog) = self.ask(move |app| cache.read(app, offers)).await?;
        self.changes.note(&skills);
        Ok(catalog)
    }

    /// Triggers a comparison of the skills, because they may have changed.
    pub(super) fn note_change(&self) {
        self.changes.compare_now();
    }
}

/// Items of servers behind deft.
impl McpServer {
    /// Reads the catalogs of servers behind deft, on which deft's own capabilities depend.
    async fn look_at_servers(&self) -> Result<(), ErrorData> {
        if relay_service::is_used(&self.app) {
            self.catalog().await?;
        }
        Ok(())
    }

    fn add_relayed(&self, capabilities: &mut ServerCapabilities) {
        let Some(catalog) = self.catalog.newest() else {
            return;
        };
        let exports = catalog.exports();
        if exports.completes {
            capabilities.completions = Some(JsonObject::new());
        }
        if exports.logs {
            capabilities.logging = Some(JsonObject::new());
        }
        if let Some(resources) = capabilities
            .resources
            .as_mut()
            .filter(|_| exports.announces_updates)
        {
            resources.subscribe = Some(true);
        }
    }

    /// Returns the server that provides a resource; `None` for deft's own and for unknown resources.
    async fn resource(&self, uri: &str) -> Result<Option<Upstream>, ErrorData> {
        if resources::is_own(uri) {
            return Ok(None);
        }
        let catalog = self.catalog().await?;
        let server = catalog.exports().server_with(uri);
        Ok(server.map(|server| Upstream {
            server: server.to_owned(),
            name: uri.to_owned(),
        }))
    }

    /// Subscribes to the resources of a stream, and returns the server and URI of each subscription that
    /// succeeded.
    async fn follow_all(&self, context: &SubscriptionContext) -> Vec<(String, String)> {
        let uris = context.accepted().resource_subscriptions.clone();
        let mut followed = Vec::new();
        for uri in uris.unwrap_or_default() {
            let Ok(Some(upstream)) = self.resource(&uri).await else {
                continue;
            };
            let asked = relay_service::subscribe(&self.app, &upstream.server, &uri).await;
            if asked.is_ok() {
                followed.push((upstream.server, uri));
            }
        }
        followed
    }
}

fn panic_error(problem: &JoinError) -> ErrorData {
    tracing::error!(%problem, "a request of an MCP client failed");
    ErrorData::internal_error("the request failed; see the log of deft", None)
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .build();
        let mut extensions = skills::extension();
        extensions.extend(tasks::extension());
        capabilities.extensions = Some(extensions);
        self.add_relayed(&mut capabilities);
        let mut config = ServerConfig::new(capabilities).with_instructions(INSTRUCTIONS);
        config.server_info = Implementation::new("deft", env!("CARGO_PKG_VERSION"));
        config
    }

    /// Responds with capabilities that include those of servers behind deft, as far as known.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.look_at_servers().await?;
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        self.look_at_servers().await?;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let catalog = self.catalog().await?;
        let (tools, next_cursor) = page::cut(catalog.tools(), request.as_ref())?;
        Ok(ListToolsResult {
            next_cursor,
            ..ListToolsResult::with_all_items(tools)
        })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = request.name.to_string();
        let result = call::call(self, request, &context).await;
        self.note(&context, "tools/call", &tool, &result);
        result
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.catalog.find_tool(name)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let (skills, catalog) = (self.skills().await?, self.catalog().await?);
        let mut all = prompts::list(&skills);
        let relayed = catalog.exports().prompts.iter();
        all.extend(relayed.map(|it| it.item.clone()));
        let (prompts, next_cursor) = page::cut(&all, request.as_ref())?;
        Ok(ListPromptsResult {
            next_cursor,
            ..ListPromptsResult::with_all_items(prompts)
        })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let catalog = self.catalog().await?;
        let mut relayed = catalog.exports().prompts.iter();
        if let Some(exported) = relayed.find(|it| it.item.name == request.name) {
            return prompts::relay_prompt(self, exported, request, &context).await;
        }
        let skills = self.skills().await?;
        prompts::get(&skills, &request).map(GetPromptResponse::from)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let (skills, catalog) = (self.skills().await?, self.catalog().await?);
        let mut all = self.ask(move |_| resources::list(&skills)).await?;
        let relayed = catalog.exports().resources.iter();
        all.extend(relayed.map(|it| it.item.clone()));
        let (resources, next_cursor) = page::cut(&all, request.as_ref())?;
        Ok(ListResourcesResult {
            next_cursor,
            ..ListResourcesResult::with_all_items(resources)
        })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if let Some(upstream) = self.resource(&request.uri).await? {
            return resources::relay_read(self, &upstream, request, &context).await;
        }
        let skills = self.skills().await?;
        let read = self.ask(move |_| resources::read(&skills, &request.uri));
        read.await?.map(ReadResourceResponse::from)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let catalog = self.catalog().await?;
        let relayed = catalog.exports().templates.iter();
        let all: Vec<_> = relayed.map(|it| it.item.clone()).collect();
        let (templates, next_cursor) = page::cut(&all, request.as_ref())?;
        Ok(ListResourceTemplatesResult {
            next_cursor,
            ..ListResourceTemplatesResult::with_all_items(templates)
        })
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        complete::complete(self, request, &context).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !self.catalog().await?.exports().logs {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        self.session
            .set_level(relay::word(request.level).to_owned());
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let upstream = self.resource(&request.uri).await?;
        let upstream = upstream.ok_or_else(|| resources::unknown(&request.uri))?;
        self.changes.add_follower(context.peer, &self.session);
        if self.session.follow(&request.uri, &upstream.server) {
            let followed = relay_service::subscribe(&self.app, &upstream.server, &request.uri);
            if let Err(error) = followed.await {
                self.session.unfollow(&request.uri);
                return Err(relay::error(error));
            }
        }
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if let Some(server) = self.session.unfollow(&request.uri) {
            relay_service::unsubscribe(&self.app, &server, &request.uri).await;
        }
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let offered = self.skills().await?;
        let work = match request.method.as_str() {
            skills::LIST => skills::list,
            skills::GET => skills::get,
            directories::READ => directories::read,
            method => {
                let method = method.to_owned();
                return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None));
            }
        };
        let params = request.params.unwrap_or_default();
        self.ask(move |_| work(&offered, &params)).await?
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        tasks::get(self, &request.task_id, &context).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let task = request.task_id.clone();
        let result = tasks::update(self, request, &context).await;
        self.note(&context, "tasks/update", &task, &result);
        result
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let (task, by) = (request.task_id.clone(), elicit::client_name(&context));
        let result = tasks::cancel(self, request.task_id, by).await;
        self.note(&context, "tasks/cancel", &task, &result);
        result
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.changes.add_listener(context.peer, &self.session);
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let catalog = self.catalog.newest();
        let exports = catalog.as_ref().map(|catalog| catalog.exports());
        Some(relay::accept_subscriptions(requested, exports))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        // Subscribe first: a resource may change as soon as it is followed.
        let news = self.changes.news();
        let followed = self.follow_all(&context).await;
        self.changes.serve(&context, news).await;
        for (server, uri) in followed {
            relay_service::unsubscribe(&self.app, &server, &uri).await;
        }
        Ok(())
    }
}
