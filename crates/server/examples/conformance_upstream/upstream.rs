//! Handler of all requests.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo,
    ContentBlock, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, PromptMessage, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ResourceUpdatedNotificationParam, Role, ServerCapabilities, ServerConfig,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{Peer, RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::ask::{form, required};
use super::content::{self, IMAGE, text_resource, text_result};
use super::{input, lists, tell};

/// A resource that changes as soon as a client subscribes to it.
const LIVELY: &str = "test://template/lively/data";

/// Writes the id of this process to the file named by the variable `UP_NOTE`. Called for every subscription
/// to a resource.
fn note_process() {
    if let Ok(note) = std::env::var("UP_NOTE") {
        fs::write(note, std::process::id().to_string()).unwrap();
    }
}

/// Clients and the URIs that they follow.
type Followers = Vec<(String, Peer<RoleServer>)>;

/// The server. Clones share streams and followers.
#[derive(Clone)]
pub(crate) struct Upstream {
    legacy: bool,
    streams: Arc<Mutex<HashMap<u64, SubscriptionSink>>>,
    followers: Arc<Mutex<Followers>>,
    next: Arc<AtomicU64>,
}

impl Upstream {
    pub(crate) fn new(legacy: bool) -> Self {
        Self {
            legacy,
            streams: Arc::default(),
            followers: Arc::default(),
            next: Arc::default(),
        }
    }

    async fn announce(&self, what: &str, peer: &Peer<RoleServer>) -> CallToolResponse {
        let streams: Vec<_> = self.streams.lock().await.values().cloned().collect();
        for stream in streams {
            // A stream that did not ask for these announcements rejects them.
            drop(match what {
                "tools" => stream.notify_tool_list_changed().await,
                _ => stream.notify_prompt_list_changed().await,
            });
        }
        if self.legacy {
            drop(match what {
                "tools" => peer.notify_tool_list_changed().await,
                _ => peer.notify_prompt_list_changed().await,
            });
        }
        text_result(format!("{what} changed"))
    }

    /// Announces a change of a resource.
    async fn touch(&self, uri: &str) -> CallToolResponse {
        let changed = || ResourceUpdatedNotificationParam::new(uri);
        for stream in self.streams.lock().await.values() {
            drop(stream.notify_resource_updated(uri).await);
        }
        for (followed, peer) in self.followers.lock().await.iter() {
            if followed == uri {
                drop(peer.notify_resource_updated(changed()).await);
            }
        }
        text_result("touched")
    }
}

impl ServerHandler for Upstream {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        let mut config = ServerConfig::new(capabilities);
        config.server_info = Implementation::new("conformance-upstream", "1");
        config
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        let known = ProtocolVersion::KNOWN_VERSIONS.iter();
        let fits =
            |version: &&ProtocolVersion| !self.legacy || **version < ProtocolVersion::V_2026_07_28;
        known.filter(fits).cloned().collect::<Vec<_>>().into()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(lists::tools()))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = params.name.as_ref();
        if let Some(result) = content::plain(name) {
            return Ok(result);
        }
        if let Some(answered) = input::call(&params, &context).await {
            return answered;
        }
        let arguments = params.arguments.clone().unwrap_or_default();
        Ok(match name {
            "test_tool_with_logging" => content::log(&context).await,
            "test_logging_tool" => content::log_if_wanted(&context).await,
            "test_tool_with_progress" => content::progress(&context).await,
            "test_wait" => content::wait(&context, &arguments).await?,
            "test_wait_for_answer" => content::wait_for_answer(&context, &arguments).await?,
            "test_tell_secret" => tell::tell(&context, &arguments).await?,
            "test_reconnection" => text_result("Reconnection test completed"),
            "test_trigger_tool_change" => self.announce("tools", &context.peer).await,
            "test_trigger_prompt_change" => self.announce("prompts", &context.peer).await,
            "test_touch" => {
                let uri = arguments.get("uri").and_then(Value::as_str);
                self.touch(uri.unwrap_or_default()).await
            }
            name => {
                let message = format!("Unknown tool: {name}");
                return Err(ErrorData::invalid_params(message, None));
            }
        })
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(lists::prompts()))
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = params.arguments.clone().unwrap_or_default();
        let argument = |name: &str| {
            let value = arguments.get(name).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        let text = |text: String| PromptMessage::new_text(Role::User, text);
        let messages = match params.name.as_str() {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.".to_owned())],
            "test_prompt_with_arguments" => vec![text(format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                argument("arg1"),
                argument("arg2")
            ))],
            "test_prompt_with_embedded_resource" => {
                let uri = argument("resourceUri");
                let contents = text_resource(&uri, "text/plain", "Embedded for testing.");
                let resource = ContentBlock::resource(contents);
                vec![
                    PromptMessage::new(Role::User, resource),
                    text("Please process the embedded resource above.".to_owned()),
                ]
            }
            "test_prompt_with_image" => vec![
                PromptMessage::new(Role::User, ContentBlock::image(IMAGE, "image/png")),
                text("Please analyze the image above.".to_owned()),
            ],
            "test_input_required_result_prompt" => {
                let responses = params.input_responses.unwrap_or_default();
                let Some(answer) = responses.get("user_context") else {
                    let field = json!({ "context": { "type": "string" } });
                    let request = form("What context should be used?", &field, &["context"]);
                    return Ok(required([("user_context", request)], None).into());
                };
                vec![text(format!("Context: {}", answer["content"]["context"]))]
            }
            name => {
                let message = format!("Unknown prompt: {name}");
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        Ok(GetPromptResult::new(messages).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(lists::resources()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(
            lists::templates(),
        ))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = params.uri.as_str();
        let id = uri.strip_prefix("test://template/");
        let id = id.and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri, id) {
            ("test://static-text" | "test://watched-resource", _) => text_resource(
                uri,
                "text/plain",
                "This is the content of the static text resource.",
            ),
            ("test://static-binary", _) => ResourceContents::BlobResourceContents {
                uri: uri.to_owned(),
                mime_type: Some("image/png".to_owned()),
                blob: IMAGE.to_owned(),
                meta: None,
            },
            (_, Some(id)) => {
                let data =
                    json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                text_resource(uri, "application/json", &data.to_string())
            }
            _ => {
                let data = Some(json!({ "uri": uri }));
                return Err(ErrorData::resource_not_found("Resource not found", data));
            }
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn subscribe(
        &self,
        params: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if params.uri == "test://template/refused/data" {
            return Err(tell::refusal());
        }
        note_process();
        if params.uri == LIVELY {
            let changed = ResourceUpdatedNotificationParam::new(LIVELY);
            drop(context.peer.notify_resource_updated(changed).await);
        }
        let mut followers = self.followers.lock().await;
        followers.push((params.uri, context.peer));
        Ok(())
    }

    async fn unsubscribe(
        &self,
        params: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let mut followers = self.followers.lock().await;
        followers.retain(|(uri, _)| *uri != params.uri);
        Ok(())
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let start = params.argument.value;
        let all = ["paris", "park", "party"].into_iter();
        let values = all
            .filter(|value| value.starts_with(&start))
            .map(str::to_owned);
        let completion = CompletionInfo::new(values.collect());
        let completion = completion.map_err(|problem| ErrorData::internal_error(problem, None))?;
        Ok(CompleteResult::new(completion))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        if let Some(uris) = &context.accepted().resource_subscriptions {
            note_process();
            if uris.iter().any(|uri| uri == LIVELY) {
                drop(context.sink().notify_resource_updated(LIVELY).await);
            }
        }
        self.streams
            .lock()
            .await
            .insert(key, context.sink().clone());
        context.cancelled().await;
        self.streams.lock().await.remove(&key);
        Ok(())
    }
}
