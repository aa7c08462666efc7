//! Prompts: skills and the prompts of servers behind deft. A person picks a prompt, and its text becomes a
//! message.

use deft_service::offers::{OfferedInput, OfferedSkill, SkillOffers};
use deft_service::relay::ExportedItem;
use deft_wire::model::Tier;
use rmcp::model::{
    ClientRequest, GetPromptRequest, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    JsonObject, Prompt, PromptArgument, PromptMessage, Role, ServerResult,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use super::handler::McpServer;
use super::relay::{self, Upstream};

/// Lists the prompts made from skills.
pub(super) fn list(skills: &SkillOffers) -> Vec<Prompt> {
    skills.list().iter().map(prompt).collect()
}

fn prompt(skill: &OfferedSkill) -> Prompt {
    let arguments: Vec<PromptArgument> = skill.inputs.iter().map(argument).collect();
    let arguments = (!arguments.is_empty()).then_some(arguments);
    Prompt::new(&skill.id, Some(&skill.description), arguments).with_title(&skill.name)
}

fn argument(input: &OfferedInput) -> PromptArgument {
    let argument = PromptArgument::new(&input.name).with_required(input.required);
    match &input.description {
        Some(description) => argument.with_description(description),
        None => argument,
    }
}

/// Gets a prompt from a server behind deft.
pub(super) async fn relay_prompt(
    server: &McpServer,
    exported: &ExportedItem<Prompt>,
    mut params: GetPromptRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<GetPromptResponse, ErrorData> {
    let upstream = Upstream {
        server: exported.server.clone(),
        name: exported.name.clone(),
    };
    params.name.clone_from(&exported.name);
    let request = ClientRequest::GetPromptRequest(GetPromptRequest::new(params));
    match relay::forward(server, &upstream, request, context).await {
        Ok(ServerResult::GetPromptResult(result)) => Ok(result.into()),
        Ok(ServerResult::InputRequiredResult(input)) => Ok(input.into()),
        Ok(_) => Err(relay::unreadable(&upstream.server)),
        Err(error) => Err(relay::error(error)),
    }
}

/// Returns the text of a prompt with its arguments.
pub(super) fn get(
    skills: &SkillOffers,
    request: &GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let unknown = || ErrorData::invalid_params(format!("unknown prompt `{}`", request.name), None);
    let skill = skills.find(&request.name).ok_or_else(unknown)?;
    let text = skills.text(&request.name).ok_or_else(unknown)?;
    let arguments = request.arguments.clone().unwrap_or_default();
    check(&skill, &arguments)?;
    let message = PromptMessage::new_text(Role::User, with_arguments(&skill, text, &arguments));
    Ok(GetPromptResult::new(vec![message]).with_description(skill.description))
}

fn check(skill: &OfferedSkill, arguments: &JsonObject) -> Result<(), ErrorData> {
    let missing = skill.inputs.iter().find(|input| {
        let given = arguments.get(&input.name);
        input.required && given.is_none_or(Value::is_null)
    });
    match missing {
        None => Ok(()),
        Some(input) => {
            let message = format!("the argument `{}` is missing", input.name);
            Err(ErrorData::invalid_params(message, None))
        }
    }
}

/// Returns the text as an assistant gets it, followed by what to do with it.
fn with_arguments(skill: &OfferedSkill, mut text: String, arguments: &JsonObject) -> String {
    match skill.tier {
        // The model follows the text itself.
        Tier::Agent if arguments.is_empty() => {}
        Tier::Agent => {
            text.push_str("\n\n## Arguments\n");
            for (name, value) in arguments {
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                text.push_str(&format!("\n- {name}: {value}"));
            }
        }
        Tier::Direct | Tier::Workflow | Tier::Command => {
            let call = json!({ "skill": skill.id, "inputs": arguments });
            text.push_str(&format!("\n\nRun it with the tool `skill_run`: `{call}`"));
        }
    }
    text
}
