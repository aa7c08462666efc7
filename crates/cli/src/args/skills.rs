//! `deft skills …`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

use super::Roots;
use crate::complete;

#[derive(Debug, Subcommand)]
pub(crate) enum Skills {
    /// List skills
    List(List),
    /// Show one skill; `SERVER/NAME` reads it from an MCP server
    Show {
        /// The skill's id or name; `SERVER/NAME/FILE` shows one file of a server's skill
        #[arg(add = complete::skills())]
        name: String,
        #[command(flatten)]
        roots: Roots,
    },
    /// Create a skill file
    New(New),
    /// Check skill files; needs no home
    Validate(Validate),
    /// Explain for each file whether it is loaded, hidden, shadowed or broken
    Doctor {
        #[command(flatten)]
        roots: Roots,
    },
    /// Enable a skill and reset its failure count
    Enable {
        /// The skill's id, number or name
        #[arg(add = complete::skills())]
        name: String,
    },
    /// Disable a skill
    Disable {
        /// The skill's id, number or name
        #[arg(add = complete::skills())]
        name: String,
    },
    /// Allow agents to load a skill of an MCP server while its files are unchanged
    Approve {
        /// The skill, as `deft skills list` shows it
        #[arg(value_name = "SERVER/NAME")]
        skill: String,
        /// Approve only this revision, as `deft skills show` prints it
        #[arg(long, value_name = "REVISION")]
        revision: Option<String>,
    },
    /// Revoke the approval of a skill of an MCP server
    Revoke {
        /// The skill, as `deft skills list` shows it
        #[arg(value_name = "SERVER/NAME")]
        skill: String,
    },
    /// Discard the changes that assistants made to a skill, and use its file again
    Restore {
        /// The skill's id, number or name
        #[arg(add = complete::skills())]
        name: String,
    },
    /// Delete a stored skill, or a skill file in the home; `deft undo` restores it
    Delete {
        /// The skill's id, number or name
        #[arg(add = complete::skills())]
        name: String,
        /// Delete without asking
        #[arg(long, short)]
        yes: bool,
    },
    /// Import skills into the home
    Import(Import),
    /// Export skills, as they are or in another dialect
    Export(Export),
    /// Print the skill list that a model gets
    Prompt(Prompt),
    /// Watch skill files for changes
    Watch {
        #[command(flatten)]
        roots: Roots,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct List {
    /// Words to search for in names, tags and descriptions
    pub words: Vec<String>,
    /// Only skills of this domain
    #[arg(long)]
    pub domain: Option<String>,
    /// Only skills with this tag
    #[arg(long)]
    pub tag: Option<String>,
    /// Only skills of this tier
    #[arg(long, value_parser = ["direct", "workflow", "agent", "command"])]
    pub tier: Option<String>,
    /// Maximum number of results
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub roots: Roots,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct New {
    /// The name: `code-review` for a SKILL.md, `email.send` for a man page
    pub name: String,
    /// The kind of file [default: a man page for a dotted name, else a SKILL.md]
    #[arg(long)]
    pub kind: Option<NewKind>,
    /// One-line description
    #[arg(long, short)]
    pub description: Option<String>,
    /// The folder to create it in [default: the skills of the home]
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
    /// Files and folders to check
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The set of rules to apply
    #[arg(long, default_value = "deft")]
    pub profile: ProfileName,
    /// Output format
    #[arg(long)]
    pub format: Option<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProfileName {
    /// Lenient: load what can be loaded and warn about the rest
    Deft,
    /// The rules of the open format's reference validator, for SKILL.md files only
    Agentskills,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text with source excerpts
    Text,
    /// One JSON document
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// GitHub workflow annotations
    Github,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Import {
    /// Files, folders, archives, `github:owner/repo[/path][@ref]`, git addresses, `mcp:SERVER/NAME`, or `crontab`
    #[arg(required = true, value_name = "SOURCE")]
    pub sources: Vec<PathBuf>,
    /// The format of the files, if their names do not show it
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<SourceFormat>,
    /// Replace existing skills
    #[arg(long)]
    pub force: bool,
    /// Skip existing skills
    #[arg(long, conflicts_with = "force")]
    pub keep: bool,
    /// Show what would be done without doing it
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SourceFormat {
    /// Lines as `crontab -l` prints them
    Crontab,
    /// A workflow that n8n exported
    N8n,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Export {
    /// Ids or names [default with `--to`: all skills]
    #[arg(required_unless_present = "to", value_name = "NAME")]
    pub names: Vec<String>,
    /// The folder to write to; `claude` for skills and commands of Claude Code, `cursor` for commands of Cursor
    /// [default: print]
    #[arg(long, value_name = "DIR|claude|cursor")]
    pub to: Option<PathBuf>,
    /// The skills folder for `--to claude` [default: `~/.claude/skills`], or the project folder for commands
    #[arg(long, value_name = "DIR", requires = "to")]
    pub dir: Option<PathBuf>,
    /// Write only command files, for the named skills or for all skills with `expose: true`
    #[arg(long, requires = "to")]
    pub commands: bool,
    /// The dialect to write [default: the files as they are]
    #[arg(long, conflicts_with = "dir")]
    pub format: Option<ExportFormat>,
    /// Replace existing files
    #[arg(long)]
    pub force: bool,
    /// Show what would be written without writing it
    #[arg(long, requires = "to")]
    pub dry_run: bool,
    #[command(flatten)]
    pub roots: Roots,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A SKILL.md that passes the open format's validator
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
    /// Output format
    #[arg(long, default_value = "xml")]
    pub format: PromptFormat,
    /// Maximum length of the list in characters
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
