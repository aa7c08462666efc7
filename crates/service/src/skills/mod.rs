//! Skills: list, show, check, enable, disable, create, import and export them.
//!
//! [`SkillCatalog`] is the common lookup: it joins the files of a workspace with the records and rows of its
//! store. Only `view` converts a skill for output. Not here: running a skill.

mod catalog;
mod create;
mod diff;
mod editor_commands;
mod examine;
mod export;
mod files;
mod finding;
mod host;
mod import;
mod input;
mod list;
mod overview;
mod prompt;
mod remote;
mod revisions;
mod show;
mod source;
mod surroundings;
mod switch;
mod validate;
mod view;
mod watch;

pub use catalog::SkillCatalog;
pub use create::{NewSkill, NewSkillKind, create};
pub use editor_commands::{CommandEditor, CommandExport, export_commands};
pub use examine::{Examination, FileNotes, examine};
pub use export::{Export, ExportDialect, HostFolders, export, export_for_host};
pub use finding::{CheckedFile, Finding, Place, RuleInfo, read_text, rules};
pub use import::{Import, ImportFormat, ImportRequest, import, import_crontab};
pub use input::OfferedInput;
pub use list::{SkillListing, SkillQuery};
pub use overview::overview;
pub use prompt::{prompt, prompt_folders, prompt_tool};
pub use remote::{approve_remote, is_remote, read_remote, revoke_remote};
pub use revisions::{revision, revisions};
pub use show::SkillPage;
pub use source::{source, write_source};
pub use switch::{
    ChangedSkill, DeletedFrom, Deletion, SwitchedOffTool, delete, disable, enable, find_deletion,
    restore,
};
pub use validate::{ValidationProfile, validate, validate_file, validate_text};
pub use watch::{SkillFileChange, SkillWatch};

pub(crate) use examine::{SkillHealth, health};
pub(crate) use host::exported_name;
pub(crate) use input::inputs as skill_inputs;
pub(crate) use view::zone;
