//! Names from OpenTelemetry's conventions for generative AI and MCP. They are still in development and will
//! change; only this file has to follow.

/// Names of attributes.
pub(crate) mod attribute {
    pub(crate) const OPERATION: &str = "gen_ai.operation.name";
    pub(crate) const PROVIDER: &str = "gen_ai.provider.name";
    pub(crate) const REQUEST_MODEL: &str = "gen_ai.request.model";
    pub(crate) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
    pub(crate) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
    pub(crate) const CACHE_READ_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
    pub(crate) const CACHE_WRITE_TOKENS: &str = "gen_ai.usage.cache_creation.input_tokens";
    pub(crate) const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
    pub(crate) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
    pub(crate) const TOKEN_TYPE: &str = "gen_ai.token.type";
    pub(crate) const AGENT_NAME: &str = "gen_ai.agent.name";
    pub(crate) const CONVERSATION: &str = "gen_ai.conversation.id";
    pub(crate) const WORKFLOW_NAME: &str = "gen_ai.workflow.name";
    pub(crate) const TOOL_NAME: &str = "gen_ai.tool.name";
    pub(crate) const TOOL_TYPE: &str = "gen_ai.tool.type";
    pub(crate) const TOOL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
    pub(crate) const TOOL_RESULT: &str = "gen_ai.tool.call.result";
    pub(crate) const MCP_METHOD: &str = "mcp.method.name";
    pub(crate) const ERROR_TYPE: &str = "error.type";
    pub(crate) const SERVICE_NAME: &str = "service.name";
    pub(crate) const SERVICE_VERSION: &str = "service.version";
}

/// Names of deft's own attributes.
pub(crate) mod own {
    pub(crate) const RUN: &str = "deft.run.id";
    pub(crate) const SKILL: &str = "deft.skill.name";
    pub(crate) const REVISION: &str = "deft.skill.revision";
    pub(crate) const TIER: &str = "deft.skill.tier";
    pub(crate) const CAUSE: &str = "deft.run.cause";
    pub(crate) const OUTCOME: &str = "deft.run.outcome";
    pub(crate) const SLOT: &str = "deft.run.slot";
    pub(crate) const STEP: &str = "deft.step.id";
    pub(crate) const ATTEMPT: &str = "deft.step.attempt";
    pub(crate) const SERVER: &str = "deft.tool.server";
    pub(crate) const COST: &str = "deft.usage.cost_usd";
    pub(crate) const CACHED: &str = "deft.step.cached";
    /// Span event: another process took over the run.
    pub(crate) const RECOVERED: &str = "deft.run.recovered";
}

/// Names of metrics.
pub(crate) mod metric {
    pub(crate) const MODEL: &str = "gen_ai.client.operation.duration";
    pub(crate) const MODEL_TOKENS: &str = "gen_ai.client.token.usage";
    pub(crate) const AGENT: &str = "gen_ai.invoke_agent.duration";
    pub(crate) const TOOL: &str = "gen_ai.execute_tool.duration";
    pub(crate) const WORKFLOW: &str = "gen_ai.workflow.duration";
    pub(crate) const MCP: &str = "mcp.client.operation.duration";
}

/// Names of operations.
pub(crate) mod operation {
    pub(crate) const CHAT: &str = "chat";
    pub(crate) const INVOKE_AGENT: &str = "invoke_agent";
    pub(crate) const INVOKE_WORKFLOW: &str = "invoke_workflow";
    pub(crate) const EXECUTE_TOOL: &str = "execute_tool";
    pub(crate) const TOOLS_CALL: &str = "tools/call";
}

/// Error type of a tool call whose result is an error (`isError`).
pub(crate) const TOOL_ERROR: &str = "tool_error";

/// Returns the conventions' name for a configured provider. `openai` stands for any server with its protocol.
pub(crate) fn provider(word: &str) -> &str {
    match word {
        "gemini" => "gcp.gemini",
        other => other,
    }
}
