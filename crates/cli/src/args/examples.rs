//! Examples below the help of every command.
//!
//! They are added only when help is shown, so other commands do not pay for them. A test parses each one.

use clap::{Command, CommandFactory};

use super::Args;

/// Examples by command. The command has no leading `deft`; the lines do.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "",
        &["deft setup", "deft up", "deft run countdown", "deft chat"],
    ),
    (
        "up",
        &["deft up", "deft up --log json", "deft up --for 10m"],
    ),
    (
        "setup",
        &[
            "deft setup",
            "deft setup --yes --json",
            "deft setup --provider ollama --model qwen3:8b",
        ],
    ),
    ("init", &["deft init", "deft init --home /srv/deft"]),
    ("doctor", &["deft doctor", "deft doctor --fix"]),
    ("open", &["deft open", "deft open --no-browser"]),
    (
        "status",
        &["deft status", "deft status --watch", "deft status --json"],
    ),
    ("logs", &["deft logs", "deft logs -f", "deft logs -n 500"]),
    ("demo", &["deft demo crash"]),
    ("demo crash", &["deft demo crash"]),
    (
        "remind",
        &[
            "deft remind drink water in 5m",
            "deft remind call mom tomorrow 9:00",
            "deft remind 'stand up' every weekday 9:00",
            "deft remind pay the rent 1st of the month 9:00",
        ],
    ),
    (
        "skills",
        &["deft skills list", "deft skills new code-review"],
    ),
    (
        "skills list",
        &["deft skills list", "deft skills list mail --tier workflow"],
    ),
    (
        "skills show",
        &[
            "deft skills show countdown",
            "deft skills show countdown --json",
        ],
    ),
    (
        "skills new",
        &[
            "deft skills new code-review -d 'Review a change'",
            "deft skills new email.send",
            "deft skills new nightly-backup --kind workflow",
        ],
    ),
    (
        "skills validate",
        &[
            "deft skills validate ~/.claude/skills",
            "deft skills validate --profile agentskills my-skill",
            "deft skills validate --format github .",
        ],
    ),
    ("skills doctor", &["deft skills doctor"]),
    ("skills enable", &["deft skills enable morning-briefing"]),
    ("skills disable", &["deft skills disable morning-briefing"]),
    ("skills approve", &["deft skills approve docs/pdf"]),
    ("skills revoke", &["deft skills revoke docs/pdf"]),
    ("skills restore", &["deft skills restore morning-briefing"]),
    (
        "skills delete",
        &[
            "deft skills delete hello-deft",
            "deft skills delete hello-deft --yes",
        ],
    ),
    (
        "skills import",
        &[
            "deft skills import ~/.claude/skills",
            "deft skills import github:owner/repo/skills@main --dry-run",
            "deft skills import crontab",
        ],
    ),
    (
        "skills export",
        &[
            "deft skills export countdown",
            "deft skills export countdown --to out",
            "deft skills export --to cursor --dry-run",
            "deft skills export report --to claude --commands",
        ],
    ),
    (
        "export",
        &[
            "deft export --to claude",
            "deft export --to claude countdown --dir out",
        ],
    ),
    ("skills prompt", &["deft skills prompt"]),
    ("skills watch", &["deft skills watch"]),
    (
        "run",
        &[
            "deft run countdown",
            "deft run countdown --dry-run",
            "deft run start-work --issue_key ABC-12 --yes",
            "deft run countdown --help",
        ],
    ),
    (
        "chat",
        &[
            "deft chat",
            "deft chat -p 'What is on my calendar?'",
            "deft chat --resume last",
        ],
    ),
    (
        "chat list",
        &["deft chat list", "deft chat list --channel cli"],
    ),
    ("chat show", &["deft chat show last"]),
    ("chat search", &["deft chat search dentist"]),
    ("chat delete", &["deft chat delete last"]),
    (
        "budget",
        &["deft budget show", "deft budget set --usd-per-day 5"],
    ),
    ("budget show", &["deft budget show"]),
    (
        "budget set",
        &[
            "deft budget set --usd-per-day 5",
            "deft budget set --agent main --tokens-per-day 200000",
        ],
    ),
    ("budget resume", &["deft budget resume main"]),
    ("runs", &["deft runs list", "deft runs show last"]),
    (
        "runs list",
        &[
            "deft runs list",
            "deft runs list --skill countdown --outcome error",
        ],
    ),
    (
        "runs show",
        &["deft runs show last", "deft runs show run_01a1"],
    ),
    (
        "runs logs",
        &["deft runs logs last", "deft runs logs last --follow"],
    ),
    ("runs cancel", &["deft runs cancel last"]),
    ("runs resume", &["deft runs resume last"]),
    (
        "runs rerun",
        &["deft runs rerun last", "deft runs rerun last --from send"],
    ),
    (
        "runs export",
        &[
            "deft runs export last",
            "deft runs export last --to run.json",
        ],
    ),
    (
        "runs prune",
        &[
            "deft runs prune --older-than 90d --dry-run",
            "deft runs prune --older-than 90d",
        ],
    ),
    (
        "schedule",
        &["deft schedule list", "deft schedule preview '0 9 * * 1-5'"],
    ),
    ("schedule list", &["deft schedule list"]),
    (
        "schedule add",
        &[
            "deft schedule add countdown 'weekdays 9:00'",
            "deft schedule add countdown daily 02:30 --tz America/New_York",
            "deft schedule add countdown '0 9 * * 1-5'",
        ],
    ),
    ("schedule pause", &["deft schedule pause countdown"]),
    ("schedule resume", &["deft schedule resume countdown"]),
    ("schedule remove", &["deft schedule remove countdown"]),
    (
        "schedule next",
        &["deft schedule next morning-briefing -n 5"],
    ),
    (
        "schedule preview",
        &["deft schedule preview '0 9 * * 1-5' --tz Europe/Berlin"],
    ),
    (
        "schedule simulate",
        &["deft schedule simulate --from 2026-12-01 --to 2026-12-08"],
    ),
    ("tick", &["deft tick", "deft tick --now 2026-12-01T09:00"]),
    ("jobs", &["deft jobs list", "deft jobs show last"]),
    ("jobs queue", &["deft jobs queue name=report tool=time.now"]),
    ("jobs list", &["deft jobs list"]),
    ("jobs show", &["deft jobs show last"]),
    ("jobs halt", &["deft jobs halt"]),
    ("jobs resume", &["deft jobs resume"]),
    ("notices", &["deft notices list", "deft notices retry"]),
    (
        "notices list",
        &["deft notices list", "deft notices list --dead"],
    ),
    (
        "notices retry",
        &["deft notices retry", "deft notices retry 12"],
    ),
    (
        "approvals",
        &["deft approvals list", "deft approvals approve last"],
    ),
    (
        "approvals list",
        &["deft approvals list", "deft approvals list --all"],
    ),
    (
        "approvals approve",
        &[
            "deft approvals approve last",
            "deft approvals approve last --always",
        ],
    ),
    ("approvals grants", &["deft approvals grants"]),
    ("approvals revoke", &["deft approvals revoke grant_01a1"]),
    ("approvals reject", &["deft approvals reject last"]),
    ("tools", &["deft tools list", "deft tools call time.now"]),
    (
        "tools list",
        &["deft tools list", "deft tools list mail --refresh"],
    ),
    ("tools show", &["deft tools show notify"]),
    ("tools forget", &["deft tools forget notify"]),
    (
        "tools call",
        &[
            "deft tools call time.now",
            "deft tools call notify message=hello",
        ],
    ),
    ("tools catalog", &["deft tools catalog"]),
    (
        "mcp",
        &["deft mcp serve", "deft mcp list", "deft mcp probe"],
    ),
    (
        "mcp serve",
        &["deft mcp serve", "deft mcp serve --home /srv/deft"],
    ),
    ("mcp list", &["deft mcp list"]),
    (
        "mcp add",
        &[
            "deft mcp add files -- npx -y @modelcontextprotocol/server-filesystem .",
            "deft mcp add docs --url https://example.com/mcp",
        ],
    ),
    ("mcp remove", &["deft mcp remove files"]),
    (
        "mcp login",
        &[
            "deft mcp login docs",
            "deft mcp login docs --scope files:write --no-browser",
        ],
    ),
    ("mcp logout", &["deft mcp logout docs"]),
    ("mcp probe", &["deft mcp probe", "deft mcp probe files"]),
    (
        "mcp install",
        &[
            "deft mcp install --client cursor",
            "deft mcp install --client vscode --scope project --dry-run",
            "deft mcp install --client codex --http",
            "deft mcp install --client goose --remove",
        ],
    ),
    ("mcp import", &["deft mcp import ~/.cursor/mcp.json"]),
    (
        "config",
        &[
            "deft config show --origin",
            "deft config set time.zone Europe/Berlin",
        ],
    ),
    (
        "config show",
        &["deft config show", "deft config show --origin"],
    ),
    ("config get", &["deft config get time.zone"]),
    ("config set", &["deft config set time.zone Europe/Berlin"]),
    ("config validate", &["deft config validate"]),
    ("config path", &["deft config path"]),
    (
        "secrets",
        &["deft secrets list", "deft secrets set ANTHROPIC_API_KEY"],
    ),
    (
        "secrets set",
        &[
            "deft secrets set ANTHROPIC_API_KEY",
            "deft secrets set MAIL_PASSWORD --file",
        ],
    ),
    ("secrets list", &["deft secrets list"]),
    ("secrets rm", &["deft secrets rm MAIL_PASSWORD"]),
    (
        "secrets test",
        &["deft secrets test", "deft secrets test MAIL_PASSWORD"],
    ),
    (
        "tokens",
        &["deft tokens list", "deft tokens add phone --scope read"],
    ),
    (
        "tokens add",
        &[
            "deft tokens add phone --scope read",
            "deft tokens add ci --scope run --json",
        ],
    ),
    ("tokens list", &["deft tokens list"]),
    ("tokens revoke", &["deft tokens revoke phone"]),
    ("hooks", &["deft hooks list"]),
    ("hooks list", &["deft hooks list", "deft hooks list --json"]),
    (
        "hooks test",
        &[
            "deft hooks test deploys",
            "deft hooks test deploys --payload delivery.json --json",
        ],
    ),
    ("undo", &["deft undo", "deft undo --list"]),
    ("cmd", &["deft cmd 'get_skill: email'"]),
    ("schema", &["deft schema workflow"]),
    (
        "completions",
        &["deft completions bash", "deft completions zsh"],
    ),
    ("man", &["deft man --dir ~/.local/share/man/man1"]),
];

/// Returns the clap command with the examples in the help of each subcommand.
pub(crate) fn command() -> Command {
    let mut command = Args::command();
    for (path, lines) in EXAMPLES {
        let path: Vec<&str> = path.split_whitespace().collect();
        command = add(command, &path, lines);
    }
    command
}

fn add(command: Command, path: &[&str], lines: &[&str]) -> Command {
    match path.split_first() {
        Some((name, rest)) => command.mut_subcommand(*name, |command| add(command, rest, lines)),
        None => {
            let mut text = String::from("Examples:\n");
            text.extend(lines.iter().map(|line| format!("  {line}\n")));
            if let Some(before) = command.get_after_help() {
                text.push_str(&format!("\n{before}\n"));
            }
            command.after_help(text.trim_end().to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::Parser;

    use super::*;

    /// Splits `line` into words. Text in single quotes is one word.
    fn words(line: &str) -> Vec<OsString> {
        let parts = line.split('\'').enumerate();
        let words = parts.flat_map(|(at, part)| match at % 2 {
            0 => part.split_whitespace().map(OsString::from).collect(),
            _ => vec![OsString::from(part)],
        });
        words.collect()
    }

    #[test]
    fn every_example_is_a_command() {
        for (path, lines) in EXAMPLES {
            for line in *lines {
                let parsed = Args::try_parse_from(super::super::rewrite(words(line)));
                let help = line.ends_with("--help");
                assert!(parsed.is_ok() || help, "{line}: {}", parsed.unwrap_err());
                assert!(
                    line.starts_with(format!("deft {path}").trim_end()),
                    "{line}"
                );
            }
        }
    }

    #[test]
    fn every_command_has_an_example() {
        fn collect_missing(command: &Command, path: &str, found: &mut Vec<String>) {
            for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
                let path = format!("{path} {}", sub.get_name());
                if !EXAMPLES.iter().any(|(known, _)| *known == path.trim()) {
                    found.push(path.clone());
                }
                collect_missing(sub, &path, found);
            }
        }
        let mut found = Vec::new();
        collect_missing(&Args::command(), "", &mut found);
        assert_eq!(found, Vec::<String>::new());
    }
}
