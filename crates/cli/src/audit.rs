//! Which commands are changes, and their entries in the audit log. An entry has the command and what it
//! concerns, such as a skill; never a value, an input or a message.
//!
//! Not here: commands that only read, write files for other programs (`deft man`), or serve others
//! (`deft up`, `deft mcp serve`), whose requests have entries of their own.

use std::process::ExitCode;

use deft_service::{Workspace, audit};

use crate::args::{
    Approvals, Args, Budget, Chat, Command, Config, Conversations, Export, Jobs, Mcp, Notices,
    Runs, Schedule, Secrets, Skills, Tokens, Tools,
};
use crate::exit::Exit;
use crate::failure::{Done, exit_code};

/// A command that may change something.
pub(crate) struct Change {
    workspace: Workspace,
    text: String,
}

impl Change {
    /// Returns the change that `args` asks for, if it is one.
    pub(crate) fn read(args: &Args) -> Option<Self> {
        let text = command(args.command.as_ref()?)?;
        Some(Self {
            workspace: args.global.workspace(),
            text: format!("deft {text}"),
        })
    }

    /// Adds the entry, after the command has ended.
    pub(crate) fn note(&self, done: &Done) {
        let code = match done {
            Ok(code) => *code,
            Err(failure) => exit_code(failure.kind),
        };
        audit::note_command(&self.workspace, &self.text, Exit::number(code));
    }
}

fn command(command: &Command) -> Option<String> {
    match command {
        Command::Setup(_) => some("setup"),
        Command::Init { .. } => some("init"),
        Command::Doctor { fix } => fix.then(|| "doctor --fix".to_owned()),
        Command::Skills(command) => skills(command),
        Command::Export(args) => export(args),
        Command::Run(args) => (!args.only_show).then(|| format!("run {}", args.name)),
        Command::Chat(args) => chat(args),
        Command::Budget(command) => budget(command),
        Command::Runs(command) => runs(command),
        Command::Remind(_) => some("remind"),
        Command::Schedule(command) => schedule(command),
        Command::Tick(_) => some("tick"),
        Command::Jobs(command) => jobs(command),
        Command::Notices(Notices::Retry { id }) => about("notices retry", id.as_deref()),
        Command::Approvals(command) => approvals(command),
        Command::Tools(command) => tools(command),
        Command::Mcp(command) => mcp(command),
        Command::Config(Config::Set { key, value: _ }) => about("config set", Some(key)),
        Command::Secrets(command) => secrets(command),
        Command::Tokens(command) => tokens(command),
        Command::Undo { list } => (!list).then(|| "undo".to_owned()),
        // A line may contain secrets; its calls are in the journal.
        Command::Cmd { .. } => some("cmd"),
        Command::Open(_) => some("open"),
        Command::Notices(Notices::List { .. })
        | Command::Config(
            Config::Show { .. } | Config::Get { .. } | Config::Validate | Config::Path,
        )
        | Command::Up(_)
        | Command::Status(_)
        | Command::Logs(_)
        | Command::Hooks(_)
        | Command::Demo(_)
        | Command::Schema { .. }
        | Command::Completions { .. }
        | Command::Man { .. }
        | Command::ComputeWorker => None,
    }
}

fn some(command: &str) -> Option<String> {
    about(command, None)
}

fn about(command: &str, subject: Option<&str>) -> Option<String> {
    Some(match subject {
        Some(subject) => format!("{command} {subject}"),
        None => command.to_owned(),
    })
}

fn skills(command: &Skills) -> Option<String> {
    match command {
        Skills::New(args) => about("skills new", Some(&args.name)),
        Skills::Enable { name } => about("skills enable", Some(name)),
        Skills::Disable { name } => about("skills disable", Some(name)),
        Skills::Approve { skill, .. } => about("skills approve", Some(skill)),
        Skills::Revoke { skill } => about("skills revoke", Some(skill)),
        Skills::Restore { name } => about("skills restore", Some(name)),
        Skills::Delete { name, .. } => about("skills delete", Some(name)),
        Skills::Import(args) => (!args.dry_run).then(|| "skills import".to_owned()),
        Skills::Export(args) => export(args),
        Skills::List(_)
        | Skills::Show { .. }
        | Skills::Validate(_)
        | Skills::Doctor { .. }
        | Skills::Prompt(_)
        | Skills::Watch { .. } => None,
    }
}

/// An export into files of another program is a change; one to the terminal is not.
fn export(args: &Export) -> Option<String> {
    let changes = args.to.is_some() && !args.dry_run;
    changes.then(|| {
        format!("skills export {}", args.names.join(" "))
            .trim_end()
            .to_owned()
    })
}

fn chat(args: &Chat) -> Option<String> {
    match &args.command {
        None => (!args.show_prompt).then(|| "chat".to_owned()),
        Some(Conversations::Delete { id, .. }) => about("chat delete", Some(id)),
        Some(
            Conversations::List { .. } | Conversations::Show { .. } | Conversations::Search { .. },
        ) => None,
    }
}

fn budget(command: &Budget) -> Option<String> {
    match command {
        Budget::Show => None,
        Budget::Set(args) => about("budget set", args.agent.as_deref()),
        Budget::Resume { agent } => about("budget resume", Some(agent)),
    }
}

fn runs(command: &Runs) -> Option<String> {
    match command {
        Runs::Cancel { id } => about("runs cancel", Some(id)),
        Runs::Resume(args) => about("runs resume", Some(&args.id)),
        Runs::Rerun { id, .. } => about("runs rerun", Some(id)),
        Runs::Prune(args) => (!args.dry_run).then(|| "runs prune".to_owned()),
        Runs::List(_) | Runs::Show { .. } | Runs::Logs { .. } | Runs::Export(_) => None,
    }
}

fn schedule(command: &Schedule) -> Option<String> {
    match command {
        Schedule::Add(args) => about("schedule add", Some(&args.name)),
        Schedule::Pause { name } => about("schedule pause", Some(&name.join(" "))),
        Schedule::Resume { name } => about("schedule resume", Some(&name.join(" "))),
        Schedule::Remove { name } => about("schedule remove", Some(&name.join(" "))),
        Schedule::List { .. }
        | Schedule::Next(_)
        | Schedule::Preview(_)
        | Schedule::Simulate(_) => None,
    }
}

fn jobs(command: &Jobs) -> Option<String> {
    match command {
        Jobs::Queue { .. } => some("jobs queue"),
        Jobs::Halt => some("jobs halt"),
        Jobs::Resume => some("jobs resume"),
        Jobs::List { .. } | Jobs::Show { .. } => None,
    }
}

fn approvals(command: &Approvals) -> Option<String> {
    match command {
        Approvals::Approve { id, always, .. } => {
            let always = if *always { " --always" } else { "" };
            Some(format!("approvals approve {id}{always}"))
        }
        Approvals::Revoke { id } => about("approvals revoke", Some(id)),
        Approvals::Reject { id, .. } => about("approvals reject", Some(id)),
        Approvals::List { .. } | Approvals::Grants => None,
    }
}

fn tools(command: &Tools) -> Option<String> {
    match command {
        Tools::Forget { name } => about("tools forget", Some(name)),
        Tools::Call(args) => about("tools call", Some(&args.name)),
        Tools::List(_) | Tools::Show { .. } | Tools::Catalog => None,
    }
}

fn mcp(command: &Mcp) -> Option<String> {
    match command {
        Mcp::Add(args) => about("mcp add", Some(&args.name)),
        Mcp::Remove { name } => about("mcp remove", Some(name)),
        Mcp::Login(args) => about("mcp login", Some(&args.name)),
        Mcp::Logout { name } => about("mcp logout", Some(name)),
        Mcp::Install(args) => (!args.dry_run).then(|| "mcp install".to_owned()),
        Mcp::Import { dry_run, .. } => (!dry_run).then(|| "mcp import".to_owned()),
        Mcp::Serve | Mcp::List | Mcp::Probe { .. } => None,
    }
}

fn secrets(command: &Secrets) -> Option<String> {
    match command {
        Secrets::Set { name, .. } => about("secrets set", Some(name)),
        Secrets::Rm { name } => about("secrets rm", Some(name)),
        Secrets::List | Secrets::Test { .. } => None,
    }
}

fn tokens(command: &Tokens) -> Option<String> {
    match command {
        Tokens::Add { name, .. } => about("tokens add", Some(name)),
        Tokens::Revoke { name } => about("tokens revoke", Some(name)),
        Tokens::List => None,
    }
}
