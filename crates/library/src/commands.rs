//! Resolution of commands (S2.50): a line of a `cmd` block, `use_skill`, `skill_run`, `deft cmd` and calls in
//! JSON are resolved only here.
//!
//! A front end passes words or values; [`Commands`] returns a page to show, a template to follow, a run, or
//! all problems. A request for help never becomes a run. Values are checked against the page, given their
//! defaults and cast by the schema of the tool in one place ([`Commands::check_arguments`]), which admission uses
//! too: a command that resolves is admitted unchanged.
//!
//! Not here: who may run what (`deft-agents`), running it (`deft-engine`), and how a front end shows the
//! result.

use std::sync::Arc;

use deft_command::{
    CommandResult, Line, Problem, ProblemKind, Route, cast_by_schema, check, fill_flags, fill_page,
    from_json, reads_only, require, route,
};
use deft_model::{
    Body, Choice, Effects, Flag, FlagValue, Handler, Input, InputType, Object, Skill, nearest_name,
};
use deft_registry::{LoadedSkill, Snapshot, discovery};
use deft_tools::{Router, ToolLookup};
use deft_workflow::read_input;
use jiff::Zoned;
use serde_json::{Value, json};

use crate::Library;

/// The skills that commands can name.
pub trait CommandSkills {
    /// Returns the skill with this name.
    fn find(&self, name: &str) -> Option<Arc<LoadedSkill>>;

    /// Returns the names of all skills.
    fn names(&self) -> Vec<String>;
}

impl CommandSkills for Snapshot {
    fn find(&self, name: &str) -> Option<Arc<LoadedSkill>> {
        Self::find(self, name).cloned()
    }

    fn names(&self) -> Vec<String> {
        let ids = self.skills().map(|loaded| loaded.skill.id.to_string());
        ids.collect()
    }
}

/// The meaning of a command.
#[derive(Clone, Debug)]
pub enum Command {
    /// A text about skills is shown, and nothing runs.
    Page {
        /// The topic, as for `get_skill`.
        topic: String,
    },
    /// A page without a handler, with its placeholders filled in, for a model to follow (S2.47).
    Template(CommandResult),
    /// A run of a skill.
    Run {
        /// The skill.
        skill: Arc<LoadedSkill>,
        /// Its arguments, checked and cast.
        inputs: Object,
    },
}

/// Resolves commands.
pub struct Commands<'a> {
    skills: &'a dyn CommandSkills,
    router: Option<&'a Router>,
    start: Zoned,
}

type Resolution = Result<Command, Vec<Problem>>;

impl<'a> Commands<'a> {
    /// Returns a resolver for these skills. `router` has the schemas of the tools, if given; `start` is the
    /// day of `{today}`.
    pub fn new(skills: &'a dyn CommandSkills, router: Option<&'a Router>, start: Zoned) -> Self {
        Self {
            skills,
            router,
            start,
        }
    }

    /// Resolves a line that a model or a person has written.
    pub fn line(&self, line: &Line) -> Resolution {
        self.resolve_route(route(line, |name| self.table(name)))
    }

    /// Resolves a call in JSON, `{"skill": …, "flags": {…}}`.
    pub fn json(&self, call: &Value) -> Resolution {
        let named = call.get("skill").and_then(Value::as_str);
        let found = named.and_then(|name| self.skills.find(name.trim()));
        match (found, flags_of(call)) {
            // Inputs of a workflow may be nested, which a line cannot express.
            (Some(skill), Some(flags)) if !is_page(&skill.skill) => {
                self.resolve_values(skill, flags)
            }
            _ => self.resolve_route(from_json(call, |name| self.table(name))),
        }
    }

    /// Resolves a skill by name, with its inputs as values.
    pub fn resolve_named(&self, name: &str, inputs: Object) -> Resolution {
        match self.skills.find(name) {
            Some(skill) => self.resolve_values(skill, inputs),
            None => Err(vec![self.unknown(name)]),
        }
    }

    fn resolve_route(&self, routed: Result<Route, Vec<Problem>>) -> Resolution {
        match routed? {
            Route::GetSkill { topic } => Ok(Command::Page { topic }),
            Route::Command(command) if command.help => Ok(Command::Page {
                topic: command.skill_name,
            }),
            Route::Command(command) => match self.skills.find(&command.skill_name) {
                Some(skill) => self.resolve_flags(skill, command.flags),
                None => Err(vec![self.unknown(&command.skill_name)]),
            },
        }
    }

    /// Resolves values from a program, which keep their types. `help` works here too, and empty values of a
    /// page count as absent.
    fn resolve_values(&self, skill: Arc<LoadedSkill>, inputs: Object) -> Resolution {
        let page = is_page(&skill.skill);
        let mut given = Object::new();
        for (name, value) in inputs {
            let bare = name.trim_start_matches("--");
            let declared = || {
                inputs_of(&skill.skill)
                    .iter()
                    .any(|input| input.name == bare)
            };
            if bare.eq_ignore_ascii_case("help") && !declared() {
                if is_off(&value) {
                    continue;
                }
                let topic = skill.skill.id.to_string();
                return Ok(Command::Page { topic });
            }
            let empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
            if !(page && empty) {
                given.insert(bare.to_owned(), value);
            }
        }
        self.resolve_flags(skill, given)
    }

    fn resolve_flags(&self, skill: Arc<LoadedSkill>, flags: Object) -> Resolution {
        if let Body::Manual { text, .. } = &skill.skill.body {
            match handler(&skill.skill) {
                None => {
                    let page = text.read();
                    let flags = follow(&page, flags)?;
                    let page = fill_page(&page, &self.start, &flags);
                    return Ok(Command::Template(CommandResult::template(page)));
                }
                Some(Handler::BuiltIn(name)) if !Handler::is_there(&name) => {
                    let kind = ProblemKind::MissingHandler {
                        skill: skill.skill.id.to_string(),
                        handler: name,
                    };
                    return Err(vec![kind.into()]);
                }
                Some(_) => {}
            }
        }
        let inputs = self.check_arguments(&skill.skill, flags)?;
        Ok(Command::Run { skill, inputs })
    }

    /// Checks the arguments of a skill. The flags of a page get their defaults and dates, and are cast by the
    /// schema of the tool; the inputs of a workflow are checked by their types.
    pub fn check_arguments(&self, skill: &Skill, given: Object) -> Result<Object, Vec<Problem>> {
        let Body::Manual { text, .. } = &skill.body else {
            return checked_inputs(inputs_of(skill), given);
        };
        let table = deft_skillfile::flags(&text.read());
        let mut flags = check(&table, given)?;
        // `{today}` is the day on which the run starts, even if it is resumed later.
        fill_flags(&mut flags, &self.start);
        // On a command line every value is text; the handler determines its type.
        match handler(skill) {
            Some(Handler::Tool(tool)) => match self.router.map(|router| router.find(&tool)) {
                Some(ToolLookup::Tool(info)) => cast_by_schema(flags, &info.input_schema),
                _ => Ok(flags),
            },
            Some(Handler::Skill(name)) => match self.skills.find(&name) {
                Some(other) if matches!(other.skill.body, Body::Steps(_)) => {
                    checked_inputs(inputs_of(&other.skill), flags)
                }
                _ => Ok(flags),
            },
            Some(Handler::BuiltIn(_)) | None => Ok(flags),
        }
    }

    /// Returns the flags that a line for this skill may have.
    fn table(&self, name: &str) -> Result<Vec<Flag>, Problem> {
        let found = self.skills.find(name);
        let skill = found.ok_or_else(|| self.unknown(name))?;
        Ok(match &skill.skill.body {
            Body::Manual { text, .. } => deft_skillfile::flags(&text.read()),
            Body::Call { .. } | Body::Steps(_) | Body::Instructions(_) => {
                inputs_of(&skill.skill).iter().map(flag).collect()
            }
        })
    }

    fn unknown(&self, name: &str) -> Problem {
        let names = self.skills.names();
        let near = nearest_name(name, names.iter().map(String::as_str));
        Problem::unknown_skill(name, near.map(str::to_owned))
    }

    /// Returns why a command cannot be run now; `None` if no reason is known. With `guess`, a tool that no
    /// known catalog has counts as missing, although some servers have not been listed.
    pub fn unavailable(&self, skill: &Skill, guess: bool) -> Option<String> {
        if let Some(why) = discovery::missing_handler(skill) {
            return Some(why);
        }
        match handler(skill)? {
            Handler::Tool(tool) => match self.router?.find(&tool) {
                ToolLookup::Missing { .. } => {
                    Some(format!("no connected server provides `{tool}`"))
                }
                ToolLookup::Unknown { .. } if guess => {
                    Some(format!("no server is known to provide `{tool}`"))
                }
                ToolLookup::Tool(_) | ToolLookup::Ambiguous(_) | ToolLookup::Unknown { .. } => None,
            },
            Handler::Skill(name) => {
                let missing = self.skills.find(&name).is_none();
                missing.then(|| format!("unknown skill `{name}`"))
            }
            Handler::BuiltIn(_) => None,
        }
    }
}

fn is_page(skill: &Skill) -> bool {
    matches!(skill.body, Body::Manual { .. })
}

fn is_off(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => matches!(text.as_str(), "false" | "no" | "off" | "0"),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

fn flags_of(call: &Value) -> Option<Object> {
    let flags = match (call.get("flags"), call.get("arguments")) {
        (Some(_), Some(_)) => return None,
        (Some(flags), None) | (None, Some(flags)) => flags,
        (None, None) => &Value::Null,
    };
    match flags {
        Value::Object(flags) => Some(flags.clone()),
        Value::Null => Some(Object::new()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

fn inputs_of(skill: &Skill) -> &[Input] {
    match &skill.body {
        Body::Steps(workflow) => &workflow.inputs,
        Body::Call { .. } | Body::Instructions(_) | Body::Manual { .. } => &[],
    }
}

/// Checks the flags of a page that is only read. A missing one is no error: the reader may need the page to
/// learn about it.
fn follow(page: &str, flags: Object) -> Result<Object, Vec<Problem>> {
    let mut table = deft_skillfile::flags(page);
    table.iter_mut().for_each(|flag| flag.required = false);
    check(&table, flags)
}

/// Returns an input of a workflow as a flag. Its type decides later how a text is parsed.
fn flag(input: &Input) -> Flag {
    Flag {
        name: input.name.clone(),
        description: input.description.clone().unwrap_or_default(),
        required: false,
        value: match input.kind {
            InputType::Boolean => FlagValue::Presence,
            InputType::String
            | InputType::Date
            | InputType::Integer
            | InputType::Number
            | InputType::Array
            | InputType::Object
            | InputType::Any => FlagValue::Any,
        },
        default: Vec::new(),
    }
}

/// Checks the inputs of a workflow by name and type. Defaults and patterns are left to the workflow, which
/// also applies them without a command.
fn checked_inputs(declared: &[Input], given: Object) -> Result<Object, Vec<Problem>> {
    let known = |name: &str| declared.iter().find(|input| input.name == name);
    let optional = |name: &str| known(name).is_some_and(|input| !input.required);
    let given = given
        .into_iter()
        .filter(|(name, value)| !(value.is_null() && optional(name)));
    let typed = parse_by_type(given.collect(), declared);
    let properties = declared.iter().map(|input| {
        let kind = match input.kind.word() {
            "any" => Value::Object(Object::new()),
            kind @ ("integer" | "number" | "boolean" | "array" | "object") => {
                json!({ "type": kind })
            }
            _ => json!({ "type": "string" }),
        };
        let mut schema = kind;
        if !input.choices.is_empty() {
            schema["enum"] = Value::Array(input.choices.clone());
        }
        (input.name.clone(), schema)
    });
    let properties: Object = properties.collect();
    let schema = json!({ "properties": properties, "additionalProperties": false });
    let mut problems = Vec::new();
    let required = declared
        .iter()
        .filter(|input| input.required && input.default.is_none());
    let required: Vec<&str> = required.map(|input| input.name.as_str()).collect();
    match cast_by_schema(typed, &schema) {
        Ok(inputs) => match require(&inputs, &required) {
            Ok(()) => return Ok(inputs),
            Err(problem) => problems.push(problem),
        },
        Err(wrong) => problems = wrong,
    }
    Err(problems)
}

/// Parses the texts of a command line by the types of a workflow's inputs.
pub(crate) fn parse_by_type(flags: Object, inputs: &[Input]) -> Object {
    let cast = |(name, value): (String, Value)| match value {
        Value::String(text) => (name.clone(), read_input(inputs, &name, &text)),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => (name, other),
    };
    flags.into_iter().map(cast).collect()
}

/// Returns the tool or built-in that handles a command; `None` if a skill does, or if it has no handler.
pub fn handler_tool(skill: &Skill) -> Option<String> {
    match handler(skill)? {
        Handler::Tool(tool) | Handler::BuiltIn(tool) => Some(tool),
        Handler::Skill(_) => None,
    }
}

/// Returns the handler of a command; `None` if it has none or is not a command.
pub fn handler(skill: &Skill) -> Option<Handler> {
    match &skill.body {
        Body::Manual { handler, .. } => handler.as_deref().map(Handler::from_text),
        Body::Call { .. } | Body::Steps(_) | Body::Instructions(_) => None,
    }
}

/// Whether a skill only reads: by its policy, else by its tool, else by its name (S2.58).
pub fn is_read_only(skill: &Skill, router: &Router) -> bool {
    let effects = skill.policy.effects.or_else(|| {
        let tool = handler_tool(skill)?;
        router.effects(&tool)
    });
    effects.map_or_else(
        || reads_only(skill.id.as_str()),
        |effects| effects == Effects::None,
    )
}

impl Library {
    /// Returns a resolver for these skills with the tools of the router.
    pub fn commands<'a>(&'a self, skills: &'a dyn CommandSkills) -> Commands<'a> {
        let start = self.base.now().to_zoned(self.base.host_zone());
        Commands::new(skills, Some(&self.router), start)
    }
}

impl Library {
    /// Returns the output of a handler as the result of a command (S2.46). A handler that may have changed
    /// something and reports no side effects is itself reported as the side effect.
    pub fn command_result(&self, skill: &Skill, output: &Value) -> CommandResult {
        let mut result = CommandResult::from_output(output);
        let Some(handler) = handler(skill) else {
            return result;
        };
        if result.side_effects.is_empty() && !is_read_only(skill, &self.router) {
            let name = match &handler {
                Handler::Tool(name) | Handler::Skill(name) | Handler::BuiltIn(name) => name,
            };
            result.side_effects.push(name.clone());
        }
        let handler = Value::from(handler.to_string());
        result.metadata.entry("handler").or_insert(handler);
        result
    }
}
