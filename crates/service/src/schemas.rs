//! JSON Schemas for editors and programs.

use deft_config::config_schema;
use deft_skillfile::{Schema, schema as file_schema};
use deft_wire::event_schema;
use deft_wire::skill_files::SchemaDocument;

/// The kind of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaKind {
    /// The frontmatter of a `SKILL.md` or man page.
    Skill,
    /// A YAML workflow.
    Workflow,
    /// A JSON record.
    Record,
    /// An `AGENT.md`.
    Agent,
    /// `config.toml`.
    Config,
    /// The events of runs.
    Events,
}

impl SchemaKind {
    /// Parses the word for a kind.
    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "skill" => Self::Skill,
            "workflow" => Self::Workflow,
            "record" => Self::Record,
            "agent" => Self::Agent,
            "config" => Self::Config,
            "events" => Self::Events,
            _ => return None,
        })
    }
}

/// Returns the schema of a kind of document.
pub fn schema(kind: SchemaKind) -> SchemaDocument {
    SchemaDocument(match kind {
        SchemaKind::Skill => file_schema(Schema::Skill),
        SchemaKind::Workflow => file_schema(Schema::Workflow),
        SchemaKind::Record => file_schema(Schema::Record),
        SchemaKind::Agent => file_schema(Schema::Agent),
        SchemaKind::Config => config_schema(),
        SchemaKind::Events => event_schema(),
    })
}
