//! The handler of all requests. Each kind of request has a file of its own beside this one.

use std::sync::Arc;

use deft_service::App;
use deft_service::offers::{self, SkillOffers};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CustomRequest, CustomResult,
    ErrorCode, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    Implementation, ListPromptsResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscriptionFilter, Tool, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::task::JoinError;
use tokio_util::task::TaskTracker;

use super::catalog::{Catalog, CatalogCache};
use super::changes::Changes;
use super::tasks::{self, TaskRuns};
use super::{call, elicit, page, prompts, resources, skills};

/// What a model is told about this server.
const INSTRUCTIONS: &str = "deft runs skills: named procedures with inputs and recorded runs. \
    `get_skill` lists them and shows one, `skill_run` runs one, `run_show` shows what became of a run. \
    A run that waits for an approval says so: ask the person, then call `approval_answer`.";

/// deft as an MCP server. Clones share everything.
#[derive(Clone)]
pub struct McpServer {
    app: Arc<App>,
    catalog: Arc<CatalogCache>,
    changes: Arc<Changes>,
    runs: TaskTracker,
    tasks: Arc<TaskRuns>,
}

impl McpServer {
    /// A server in front of an engine. It must be made inside a runtime: it follows changes of skills.
    pub fn new(app: Arc<App>) -> Self {
        Self {
            changes: Changes::follow(Arc::clone(&app)),
            catalog: Arc::default(),
            runs: TaskTracker::new(),
            tasks: Arc::default(),
            app,
        }
    }

    pub(super) fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Runs that are under way.
    pub(super) fn tracker(&self) -> &TaskTracker {
        &self.runs
    }

    /// Runs of tasks that this process drives.
    pub(super) fn task_runs(&self) -> &Arc<TaskRuns> {
        &self.tasks
    }

    /// Drives a run, which ends even if the client does not wait for it.
    pub(super) async fn drive<T: Send + 'static>(
        &self,
        work: impl FnOnce(&App) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let app = Arc::clone(&self.app);
        let driven = self.runs.spawn_blocking(move || work(&app)).await;
        driven.map_err(|problem| failed(&problem))
    }

    /// Does something with the engine, away from the threads that serve messages.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&App) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let app = Arc::clone(&self.app);
        let done = tokio::task::spawn_blocking(move || work(&app)).await;
        done.map_err(|problem| failed(&problem))
    }

    /// The skills that are there now.
    pub(super) async fn skills(&self) -> Result<SkillOffers, ErrorData> {
        let skills = self.ask(offers::skills).await?;
        self.changes.note(&skills);
        Ok(skills)
    }

    /// The tools that are there now.
    pub(super) async fn catalog(&self) -> Result<Arc<Catalog>, ErrorData> {
        let cache = Arc::clone(&self.catalog);
        let (skills, catalog) = self.ask(move |app| cache.read(app)).await?;
        self.changes.note(&skills);
        Ok(catalog)
    }

    /// Tells all clients that skills may have changed.
    pub(super) fn note_change(&self) {
        self.changes.look_now();
    }
}

fn failed(problem: &JoinError) -> ErrorData {
    tracing::error!(%problem, "a request of an MCP client failed");
    ErrorData::internal_error("the request failed; the log of deft says why", None)
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
        let mut config = ServerConfig::new(capabilities).with_instructions(INSTRUCTIONS);
        config.server_info = Implementation::new("deft", env!("CARGO_PKG_VERSION"));
        config
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
        call::call(self, request, context).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.catalog.known(name)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let all = prompts::list(&self.skills().await?);
        let (prompts, next_cursor) = page::cut(&all, request.as_ref())?;
        Ok(ListPromptsResult {
            next_cursor,
            ..ListPromptsResult::with_all_items(prompts)
        })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let skills = self.skills().await?;
        prompts::get(&skills, &request).map(GetPromptResponse::from)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let skills = self.skills().await?;
        let all = self.ask(move |_| resources::list(&skills)).await?;
        let (resources, next_cursor) = page::cut(&all, request.as_ref())?;
        Ok(ListResourcesResult {
            next_cursor,
            ..ListResourcesResult::with_all_items(resources)
        })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let skills = self.skills().await?;
        let read = self.ask(move |_| resources::read(&skills, &request.uri));
        read.await?.map(ReadResourceResponse::from)
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
        tasks::update(self, request, &context).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let by = elicit::client_name(&context);
        tasks::cancel(self, request.task_id, by).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.changes.tell(context.peer);
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        accepted.resource_subscriptions = None;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.changes.serve(&context).await;
        Ok(())
    }
}
