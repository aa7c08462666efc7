//! JSON Schemas of arguments and results, taken from the types of `wire`.

use std::sync::LazyLock;

use deft_service::offers::{AgentTool, MemoryTool, OfferedKind, OwnTool, RecordTool};
use deft_service::relay::CONTROL_TOOLS;
use deft_wire::model::Effects;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::catalog::{Control, object};

/// A tool that controls runs or approvals.
#[derive(Clone)]
pub(super) struct ControlTool {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) effects: Effects,
    pub(super) input: Value,
    pub(super) output: JsonObject,
    pub(super) control: Control,
}

/// Declares the types whose schemas are used by tools, with their names in `schemas.json`.
macro_rules! tool_schemas {
    ($($name:ident),+ $(,)?) => {
        #[derive(Clone, Copy)]
        enum ToolSchema {
            $($name),+
        }

        impl ToolSchema {
            fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name)),+
                }
            }
        }

        /// Generates the content of the file from the types.
        #[cfg(test)]
        pub(super) fn document() -> Value {
            use super::schema_tests::{schema, types};
            json!({ $(stringify!($name): schema::<types::$name>()),+ })
        }
    };
}

tool_schemas!(
    ApprovalAnswerRequest,
    ApprovalDocument,
    ApprovalList,
    ApprovalListRequest,
    CancelledRun,
    ConversationResult,
    ConversationsResult,
    FactDeletedResult,
    FactSavedResult,
    FactsResult,
    JobView,
    RunDocument,
    RunListRequest,
    RunPage,
    RunRequest,
    SkillDeletedResult,
    SkillListResult,
    SkillResult,
    SkillRun,
    SkillRunRequest,
    SkillStoredResult,
    TextResult,
    ToolCatalog,
);

impl ToolSchema {
    /// Reads the schema from the file, which a test keeps equal to the types. It is stored as data because
    /// the code that generates it is large.
    fn read(self) -> JsonObject {
        static FILE: LazyLock<Value> = LazyLock::new(|| {
            serde_json::from_str(include_str!("schemas.json")).unwrap_or_default()
        });
        object(FILE[self.name()].clone())
    }
}

/// Returns the input schema of `skill_run`.
pub(super) fn skill_run_input() -> Value {
    Value::Object(ToolSchema::SkillRunRequest.read())
}

/// Returns the output schema of tools that run a skill: a run, or the page of the skill if the call asks for
/// help. Both are described by one object, because a schema of alternatives is not allowed at the top.
pub(super) fn skill_run_output() -> JsonObject {
    let mut run = ToolSchema::SkillRun.read();
    let mut page = ToolSchema::TextResult.read();
    let alternatives: Vec<Value> = [&mut run, &mut page]
        .into_iter()
        .filter_map(|schema| Some(json!({ "required": schema.remove("required")? })))
        .collect();
    if let (Some(Value::Object(fields)), Some(Value::Object(more))) =
        (run.get_mut("properties"), page.remove("properties"))
    {
        fields.extend(more);
    }
    run.insert("anyOf".to_owned(), Value::Array(alternatives));
    run
}

/// The result of one of deft's own tools; any object for a tool whose result is that of a skill, an agent or a command.
pub(super) fn own_output(tool: OfferedKind) -> JsonObject {
    let schema = match tool {
        OfferedKind::Catalog => ToolSchema::ToolCatalog,
        OfferedKind::Own(OwnTool::Agent(tool)) => match tool {
            AgentTool::Skill | AgentTool::GetSkill => ToolSchema::TextResult,
            AgentTool::SkillRun | AgentTool::UseSkill | AgentTool::DispatchAgent => {
                return object(json!({ "type": "object" }));
            }
        },
        OfferedKind::Own(OwnTool::Record(tool)) => match tool {
            RecordTool::StoreSkill | RecordTool::UpdateSkill => ToolSchema::SkillStoredResult,
            RecordTool::ListSkills => ToolSchema::SkillListResult,
            RecordTool::GetSkill => ToolSchema::SkillResult,
            RecordTool::DeleteSkill => ToolSchema::SkillDeletedResult,
            RecordTool::QueueTask | RecordTool::GetJobStatus => ToolSchema::JobView,
        },
        OfferedKind::Own(OwnTool::Memory(tool)) => match tool {
            MemoryTool::ConversationList => ToolSchema::ConversationsResult,
            MemoryTool::ConversationRead => ToolSchema::ConversationResult,
            MemoryTool::FactSave => ToolSchema::FactSavedResult,
            MemoryTool::FactList => ToolSchema::FactsResult,
            MemoryTool::FactDelete => ToolSchema::FactDeletedResult,
        },
    };
    schema.read()
}

/// Returns the tools that control runs and approvals.
pub(super) fn control_tools() -> Vec<ControlTool> {
    static TOOLS: LazyLock<Vec<ControlTool>> = LazyLock::new(make_control_tools);
    TOOLS.clone()
}

fn make_control_tools() -> Vec<ControlTool> {
    let [
        run_list,
        run_show,
        run_cancel,
        approval_list,
        approval_answer,
    ] = CONTROL_TOOLS;
    vec![
        ControlTool {
            name: run_list,
            description: "List runs, newest first.",
            effects: Effects::None,
            input: Value::Object(ToolSchema::RunListRequest.read()),
            output: ToolSchema::RunPage.read(),
            control: Control::ListRuns,
        },
        ControlTool {
            name: run_show,
            description: "Show a run with its steps, outputs and error.",
            effects: Effects::None,
            input: Value::Object(ToolSchema::RunRequest.read()),
            output: ToolSchema::RunDocument.read(),
            control: Control::ShowRun,
        },
        ControlTool {
            name: run_cancel,
            description: "Cancel a run. The effects of finished steps remain.",
            effects: Effects::Idempotent,
            input: Value::Object(ToolSchema::RunRequest.read()),
            output: ToolSchema::CancelledRun.read(),
            control: Control::CancelRun,
        },
        ControlTool {
            name: approval_list,
            description: "List approvals that runs wait for.",
            effects: Effects::None,
            input: Value::Object(ToolSchema::ApprovalListRequest.read()),
            output: ToolSchema::ApprovalList.read(),
            control: Control::ListApprovals,
        },
        ControlTool {
            name: approval_answer,
            description: "Have the person answer an approval of a run. The client asks the person, \
                          whose decision overrides `answer`.",
            effects: Effects::Once,
            input: Value::Object(ToolSchema::ApprovalAnswerRequest.read()),
            output: ToolSchema::ApprovalDocument.read(),
            control: Control::AnswerApproval,
        },
    ]
}
