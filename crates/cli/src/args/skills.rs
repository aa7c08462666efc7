//! `deft skills …`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::Roots;

#[derive(Debug, Subcommand)]
pub(crate) enum Skills {
    /// List skills
    List(List),
    /// Show one skill
    Show {
        /// Its id or name
        name: String,
        #[command(flatten)]
        roots: Roots,
    },
    /// Write a new skill file
    New(New),
    /// Check skill files; needs no home
    Validate(Validate),
    /// Say for each file whether it is loaded, hidden, shadowed or broken, and why
    Doctor {
        #[command(flatten)]
        roots: Roots,
    },
    /// Let a skill fire; its failures are forgiven
    Enable {
        /// Its id, number or name
        name: String,
    },
    /// Let a skill not fire any more
    Disable {
        /// Its id, number or name
        name: String,
    },
    /// Drop what assistants changed about a skill of a file, so that the file counts again
    Restore {
        /// Its id, number or name
        name: String,
    },
    /// Delete a stored skill, or the file of one in the home
    Delete {
        /// Its id, number or name
        name: String,
    },
    /// Copy skills into the home
    Import(Import),
    /// Write skills out, as they are or in another dialect
    Export(Export),
    /// Print what a model is shown of the skills
    Prompt(Prompt),
    /// Follow changes until interrupted
    Watch {
        #[command(flatten)]
        roots: Roots,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct List {
    /// Words to look for in names, tags and descriptions
    pub words: Vec<String>,
    /// Only this domain
    #[arg(long)]
    pub domain: Option<String>,
    /// Only skills with this tag
    #[arg(long)]
    pub tag: Option<String>,
    /// Only this tier
    #[arg(long, value_parser = ["direct", "workflow", "agent", "command"])]
    pub tier: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub roots: Roots,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct New {
    /// The name: `code-review` for a SKILL.md, `email.send` for a man page
    pub name: String,
    /// What to write; a dotted name makes a man page, any other a SKILL.md
    #[arg(long)]
    pub kind: Option<NewKind>,
    /// What it is for, in a line
    #[arg(long, short)]
    pub description: Option<String>,
    /// Where to write it [default: the skills of the home]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewKind {
    /// A SKILL.md folder of the open format
    Skill,
    /// A man page, `domain/action.md`
    Manpage,
    /// A YAML workflow
    Workflow,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Validate {
    /// Files and folders
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Whose rules decide
    #[arg(long, default_value = "deft")]
    pub profile: ProfileName,
    /// How to print what was found
    #[arg(long)]
    pub format: Option<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// Load what can be loaded, and say what was forgiven
    Deft,
    /// The open format's reference validator, for SKILL.md files only
    Agentskills,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// With excerpts, for people
    Text,
    /// One JSON document
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of a GitHub workflow
    Github,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Import {
    /// Files and folders
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Replace skills that are there already
    #[arg(long)]
    pub force: bool,
    /// Leave skills alone that are there already
    #[arg(long, conflicts_with = "force")]
    pub keep: bool,
    /// Only say what would be done
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Export {
    /// Ids or names
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// The folder to write to [default: print]
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,
    /// The dialect to write [default: the files as they are]
    #[arg(long)]
    pub format: Option<ExportFormat>,
    /// Replace files that are there already
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub roots: Roots,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A SKILL.md that the open format's validator takes
    Agentskills,
    /// A man page
    Manpage,
    /// A YAML workflow
    Workflow,
    /// A JSON record
    Record,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Prompt {
    /// Skill folders, in this order [default: the skills of the home]
    pub paths: Vec<PathBuf>,
    /// What to print
    #[arg(long, default_value = "xml")]
    pub format: PromptFormat,
    /// The most characters the list may have
    #[arg(long, value_name = "CHARS", default_value_t = 8000)]
    pub budget: usize,
    #[command(flatten)]
    pub roots: Roots,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PromptFormat {
    /// `<available_skills>`, as the open format's reference writes it
    Xml,
    /// The `skill` tool with its schema
    Tool,
}
