//! Which commands are changes, and their entries in the audit log. An entry has the command and what it
//! concerns, such as a skill; never a value, an input or a message.
//!
//! Not here: commands that only read, write files for other programs (`deft man`), or serve others
//! (`deft up`, `deft mcp serve`), whose requests have entries of their own.

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
        Command::Setup(_) => Some("setup".to_owned()),
        Command::Init { .. } => Some("init".to_owned()),
        Command::Doctor { fix } => fix.then(|| "doctor --fix".to_owned()),
        Command::Skills(command) => skills(command),
        Command::Export(args) => export(args),
        Command::Run(args) => (!args.only_show).then(|| format!("run {}", args.name)),
        Command::Chat(args) => chat(args),
        Command::Budget(command) => budget(command),
        Command::Runs(command) => runs(command),
        Command::Remind(_) => Some("remind".to_owned()),
        Command::Schedule(command) => schedule(command),
        Command::Tick(_) => Some("tick".to_owned()),
        Command::Jobs(command) => jobs(command),
        Command::Notices(Notices::Retry { id }) => Some(describe_command(
            "notices retry",
            id.as_deref().unwrap_or_default(),
        )),
        Command::Approvals(command) => approvals(command),
        Command::Tools(command) => tools(command),
        Command::Mcp(command) => mcp(command),
        Command::Config(Config::Set { key, value: _ }) => Some(describe_command("config set", key)),
        Command::Secrets(command) => secrets(command),
        Command::Tokens(command) => tokens(command),
        Command::Undo { list } => (!list).then(|| "undo".to_owned()),
        // A line may contain secrets; its calls are in the journal.
        Command::Cmd { .. } => Some("cmd".to_owned()),
        Command::Open(_) => Some("open".to_owned()),
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

/// Returns the text of a command that concerns `subject`, or nothing in particular.
fn describe_command(command: &str, subject: &str) -> String {
    format!("{command} {subject}").trim_end().to_owned()
}

fn skills(command: &Skills) -> Option<String> {
    match command {
        Skills::New(args) => Some(describe_command("skills new", &args.name)),
        Skills::Enable { name } => Some(describe_command("skills enable", name)),
        Skills::Disable { name } => Some(describe_command("skills disable", name)),
        Skills::Approve { skill, .. } => Some(describe_command("skills approve", skill)),
        Skills::Revoke { skill } => Some(describe_command("skills revoke", skill)),
        Skills::Restore { name } => Some(describe_command("skills restore", name)),
        Skills::Delete { name, .. } => Some(describe_command("skills delete", name)),
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
        Some(Conversations::Delete { id, .. }) => Some(describe_command("chat delete", id)),
        Some(
            Conversations::List { .. } | Conversations::Show { .. } | Conversations::Search { .. },
        ) => None,
    }
}

fn budget(command: &Budget) -> Option<String> {
    match command {
        Budget::Show => None,
        Budget::Set(args) => Some(describe_command(
            "budget set",
            args.agent.as_deref().unwrap_or_default(),
        )),
        Budget::Resume { agent } => Some(describe_command("budget resume", agent)),
    }
}

fn runs(command: &Runs) -> Option<String> {
    match command {
        Runs::Cancel { id } => Some(describe_command("runs cancel", id)),
        Runs::Resume(args) => Some(describe_command("runs resume", &args.id)),
        Runs::Rerun { id, .. } => Some(describe_command("runs rerun", id)),
        Runs::Prune(args) => (!args.dry_run).then(|| "runs prune".to_owned()),
        Runs::List(_) | Runs::Show { .. } | Runs::Logs { .. } | Runs::Export(_) => None,
    }
}

fn schedule(command: &Schedule) -> Option<String> {
    match command {
        Schedule::Add(args) => Some(describe_command("schedule add", &args.name)),
        Schedule::Pause { name } => Some(describe_command("schedule pause", &name.join(" "))),
        Schedule::Resume { name } => Some(describe_command("schedule resume", &name.join(" "))),
        Schedule::Remove { name } => Some(describe_command("schedule remove", &name.join(" "))),
        Schedule::List { .. }
        | Schedule::Next(_)
        | Schedule::Preview(_)
        | Schedule::Simulate(_) => None,
    }
}

fn jobs(command: &Jobs) -> Option<String> {
    match command {
        Jobs::Queue { .. } => Some("jobs queue".to_owned()),
        Jobs::Halt => Some("jobs halt".to_owned()),
        Jobs::Resume => Some("jobs resume".to_owned()),
        Jobs::List { .. } | Jobs::Show { .. } => None,
    }
}

fn approvals(command: &Approvals) -> Option<String> {
    match command {
        Approvals::Approve { id, always, .. } => {
            let always = if *always { " --always" } else { "" };
            Some(format!("approvals approve {id}{always}"))
        }
        Approvals::Revoke { id } => Some(describe_command("approvals revoke", id)),
        Approvals::Reject { id, .. } => Some(describe_command("approvals reject", id)),
        Approvals::List { .. } | Approvals::Grants => None,
    }
}

fn tools(command: &Tools) -> Option<String> {
    match command {
        Tools::Forget { name } => Some(describe_command("tools forget", name)),
        Tools::Call(args) => Some(describe_command("tools call", &args.name)),
        Tools::List(_) | Tools::Show { .. } | Tools::Catalog => None,
    }
}

fn mcp(command: &Mcp) -> Option<String> {
    match command {
        Mcp::Add(args) => Some(describe_command("mcp add", &args.name)),
        Mcp::Remove { name } => Some(describe_command("mcp remove", name)),
        Mcp::Login(args) => Some(describe_command("mcp login", &args.name)),
        Mcp::Logout { name } => Some(describe_command("mcp logout", name)),
        Mcp::Install(args) => (!args.dry_run).then(|| "mcp install".to_owned()),
        Mcp::Import { dry_run, .. } => (!dry_run).then(|| "mcp import".to_owned()),
        Mcp::Serve | Mcp::List | Mcp::Probe { .. } => None,
    }
}

fn secrets(command: &Secrets) -> Option<String> {
    match command {
        Secrets::Set { name, .. } => Some(describe_command("secrets set", name)),
        Secrets::Rm { name } => Some(describe_command("secrets rm", name)),
        Secrets::List | Secrets::Test { .. } => None,
    }
}

fn tokens(command: &Tokens) -> Option<String> {
    match command {
        Tokens::Add { name, .. } => Some(describe_command("tokens add", name)),
        Tokens::Revoke { name } => Some(describe_command("tokens revoke", name)),
        Tokens::List => None,
    }
}
