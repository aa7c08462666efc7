//! Skills: list, show, check, switch, create, import and export them.
//!
//! One lookup serves all of it: [`SkillCatalog`] joins the files of a workspace with the records and
//! rows of its store. `view` is the only place that fills the shape of a skill. Not here: running a skill.

mod catalog;
mod list;
mod show;
mod switch;
mod view;

pub use catalog::SkillCatalog;
pub use list::{SkillListing, SkillQuery};
pub use show::SkillPage;
pub use switch::{DeletedFrom, SwitchedSkill, delete, disable, enable, restore};

pub(crate) use catalog::find_file;
pub(crate) use view::zone;
