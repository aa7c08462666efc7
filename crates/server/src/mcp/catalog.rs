//! The list of tools, and the operation behind each of them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use deft_service::App;
use deft_service::offers::{
    self, AgentTool, OfferedKind, OfferedSkill, OfferedTool, OwnTool, SkillOffers,
};
use deft_service::relay::{self, Exports, Offers, legal_name};
use deft_wire::model::Effects;
use parking_lot::Mutex;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::relay::Upstream;
use super::schemas;

/// The operation behind a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Run the skill named by an argument.
    RunSkill,
    /// Run this skill.
    Skill(String),
    /// Control runs or approvals.
    Control(Control),
    /// Call a tool of deft's router.
    Own(String),
    /// Relay the call to a server behind deft.
    Relayed(Upstream),
}

/// An operation on runs or approvals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    ListRuns,
    ShowRun,
    CancelRun,
    ListApprovals,
    AnswerApproval,
}

/// All tools at one instant.
#[derive(Default)]
pub(super) struct Catalog {
    tools: Vec<Tool>,
    targets: Vec<Target>,
    exports: Exports,
}

impl Catalog {
    pub(super) fn tools(&self) -> &[Tool] {
        &self.tools
    }

    pub(super) fn find(&self, name: &str) -> Option<&Target> {
        let at = self.tools.iter().position(|tool| tool.name == name)?;
        self.targets.get(at)
    }

    /// Returns the items that servers behind deft provide.
    pub(super) fn exports(&self) -> &Exports {
        &self.exports
    }

    fn add(&mut self, tool: Tool, target: Target) {
        self.tools.push(tool);
        self.targets.push(target);
    }

    fn new(app: &App, skills: &SkillOffers, offers: &[Arc<Offers>]) -> Self {
        let mut catalog = Self::default();
        for tool in offers::own_tools(app) {
            match tool.kind {
                OfferedKind::Own(OwnTool::Agent(AgentTool::SkillRun)) => {
                    catalog.add(skill_run(&tool), Target::RunSkill);
                }
                // Without choices the tool would only confuse models.
                OfferedKind::Own(OwnTool::Agent(AgentTool::Skill)) => {
                    if let Some(loading) = skills.loading_tool() {
                        let tool = OfferedTool {
                            description: loading.description,
                            input_schema: loading.parameters,
                            ..tool
                        };
                        catalog.add(own(&tool), Target::Own(tool.name));
                    }
                }
                OfferedKind::Catalog | OfferedKind::Own(_) => {
                    catalog.add(own(&tool), Target::Own(tool.name));
                }
            }
        }
        for (tool, target) in control_tools() {
            catalog.add(tool, target);
        }
        catalog.add_exposed(skills);
        catalog.add_relayed(relay::exports(app, skills, offers));
        catalog
    }

    fn add_relayed(&mut self, exports: Exports) {
        for tool in &exports.tools {
            let upstream = Upstream {
                server: tool.server.clone(),
                name: tool.name.clone(),
            };
            self.add(tool.item.clone(), Target::Relayed(upstream));
        }
        for clash in &exports.clashes {
            let (server, kind) = (&clash.server, clash.kind);
            let (name, holder) = (&clash.name, &clash.holder);
            tracing::warn!(server, kind, name, holder, "not offered: the name is taken");
        }
        self.exports = exports;
    }

    fn add_exposed(&mut self, skills: &SkillOffers) {
        let mut taken: HashSet<String> = self.tools.iter().map(|it| it.name.to_string()).collect();
        for skill in skills.list().into_iter().filter(|skill| skill.is_exposed) {
            let name = legal_name(&skill.id);
            // deft's own tools keep their names.
            let name = if taken.contains(&name) {
                format!("skill_{name}")
            } else {
                name
            };
            if taken.insert(name.clone()) {
                self.add(skill_tool(name, &skill), Target::Skill(skill.id));
            }
        }
    }
}

/// Cache of the newest catalog.
#[derive(Default)]
pub(super) struct CatalogCache {
    newest: Mutex<Option<CachedCatalog>>,
}

/// A catalog and the inputs that it was built from.
struct CachedCatalog {
    skills: SkillOffers,
    offers: Vec<Arc<Offers>>,
    catalog: Arc<Catalog>,
}

impl CatalogCache {
    /// Returns the current skills and the current catalog, which is rebuilt only if its inputs have changed.
    pub(super) fn read(&self, app: &App, offers: Vec<Arc<Offers>>) -> (SkillOffers, Arc<Catalog>) {
        let skills = offers::skills(app);
        if let Some(made) = &*self.newest.lock()
            && made.skills.is_same(&skills)
            && made.offers.len() == offers.len()
            && made
                .offers
                .iter()
                .zip(&offers)
                .all(|(a, b)| Arc::ptr_eq(a, b))
        {
            return (skills, Arc::clone(&made.catalog));
        }
        let catalog = Arc::new(Catalog::new(app, &skills, &offers));
        *self.newest.lock() = Some(CachedCatalog {
            skills: skills.clone(),
            offers,
            catalog: Arc::clone(&catalog),
        });
        (skills, catalog)
    }

    /// Returns the newest catalog, if one was built.
    pub(super) fn newest(&self) -> Option<Arc<Catalog>> {
        self.newest.lock().as_ref().map(|made| made.catalog.clone())
    }

    /// Looks up a tool in the newest catalog.
    pub(super) fn find_tool(&self, name: &str) -> Option<Tool> {
        let catalog = self.newest()?;
        catalog.tools.iter().find(|tool| tool.name == name).cloned()
    }
}

fn tool(name: impl Into<Cow<'static, str>>, description: &str, input: Value) -> Tool {
    let mut tool = Tool::default();
    tool.name = name.into();
    tool.description = Some(description.to_owned().into());
    tool.input_schema = Arc::new(object(input));
    tool
}

/// Converts a schema to an object; any other value becomes an empty object.
pub(super) fn object(schema: Value) -> JsonObject {
    if let Value::Object(schema) = schema {
        schema
    } else {
        JsonObject::new()
    }
}

fn own(offered: &OfferedTool) -> Tool {
    let mut listed = tool(
        offered.name.clone(),
        &offered.description,
        offered.input_schema.0.clone(),
    );
    let hints = offered.annotations;
    listed.annotations = Some(ToolAnnotations::from_raw(
        None,
        hints.read_only_hint,
        hints.destructive_hint,
        hints.idempotent_hint,
        hints.open_world_hint,
    ));
    listed.output_schema = Some(Arc::new(schemas::own_output(offered.kind)));
    listed
}

/// Describes `skill_run`. Its annotations promise nothing: each call is a new run, and a skill may do
/// anything.
fn skill_run(own: &OfferedTool) -> Tool {
    let mut listed = tool(
        own.name.clone(),
        "Run a skill and return its outputs. `get_skill` lists skills and shows their inputs.",
        schemas::skill_run_input(),
    );
    listed.output_schema = Some(Arc::new(schemas::skill_run_output()));
    listed.annotations = Some(annotations(None));
    listed
}

/// Converts effects to the annotations of MCP.
fn annotations(effects: Option<Effects>) -> ToolAnnotations {
    let reads = effects == Some(Effects::None);
    let repeatable = matches!(effects, Some(Effects::None | Effects::Idempotent));
    ToolAnnotations::from_raw(
        None,
        Some(reads),
        Some(!reads),
        Some(repeatable),
        Some(true),
    )
}

fn control_tools() -> Vec<(Tool, Target)> {
    schemas::control_tools()
        .into_iter()
        .map(|control| {
            let mut listed = tool(control.name, control.description, control.input);
            listed.output_schema = Some(Arc::new(control.output));
            let reads = control.effects == Effects::None;
            listed.annotations = Some(ToolAnnotations::from_raw(
                None,
                Some(reads),
                Some(!reads),
                Some(control.effects != Effects::Once),
                Some(false),
            ));
            (listed, Target::Control(control.control))
        })
        .collect()
}

fn skill_tool(name: String, skill: &OfferedSkill) -> Tool {
    let inputs = skill.inputs.iter();
    let properties: JsonObject = inputs
        .clone()
        .map(|input| (input.name.clone(), input.schema.0.clone()))
        .collect();
    let required: Vec<&str> = inputs
        .filter(|input| input.required)
        .map(|input| input.name.as_str())
        .collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    let mut listed = tool(name, &skill.description, schema);
    listed.title = Some(skill.name.clone());
    listed.output_schema = Some(Arc::new(schemas::skill_run_output()));
    listed.annotations = Some(annotations(skill.effects));
    listed
}
