//! Converts a job of a crontab into a workflow: one call of `shell.run` with the same effect as cron.

use std::path::Path;
use std::sync::Arc;

use deft_model::{Misfire, Object, Policy, Skill, Step, StepKind, Workflow, clip};
use deft_skillfile::slug;
use serde_json::{Value, json};

use super::lines::CrontabJob;
use crate::skills::import::escape::escape;
use crate::skills::import::workflow::{timing, workflow_skill};

/// The key below `metadata` with the original line.
pub(super) const LINE: &str = "crontab";

/// Shells that support the lines added to a command.
const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "ksh", "zsh"];

/// Variables for cron itself, which commands do not need.
const FOR_CRON: &[&str] = &["SHELL", "MAILTO", "MAILFROM", "CRON_TZ", "CRON_WITHIN"];

/// Returns the workflow of a job, and notes about differences.
pub(super) fn workflow(id: &str, job: &CrontabJob) -> Result<(Skill, Vec<String>), String> {
    let step = StepKind::Tool {
        tool: "shell.run".to_owned(),
        args: Value::Object(arguments(job)?),
    };
    let steps = Workflow {
        steps: vec![Step::new("run", step)],
        ..Workflow::default()
    };
    let mut skill = workflow_skill(id, description(job), steps);
    skill.timing = Some(timing(&job.schedule, variable(job, "CRON_TZ")));
    skill.policy = Arc::new(Policy {
        // The user must enable it first, because the crontab still runs the line.
        enabled: false,
        // cron does not report successful jobs, and does not catch up on missed ones.
        notify_on_completion: false,
        misfire: Misfire::Skip,
        ..Policy::default()
    });
    let line = (LINE.to_owned(), Value::from(job.line.as_str()));
    skill.open.metadata = Object::from_iter([line]);
    let mail = variable(job, "MAILTO").filter(|address| !address.is_empty());
    let notes = mail.map(|address| {
        format!(
            "not kept: mail to `{address}`; `deft runs show` has the output, failures are notices"
        )
    });
    Ok((skill, notes.into_iter().collect()))
}

/// Returns the arguments of `shell.run`. Like cron, the script sets the variables and runs the command in the
/// user's home.
fn arguments(job: &CrontabJob) -> Result<Object, String> {
    let shell = variable(job, "SHELL").unwrap_or("/bin/sh");
    let name = Path::new(shell).file_name().unwrap_or_default();
    if !SHELLS.contains(&&*name.to_string_lossy()) {
        return Err(format!("its shell is `{shell}`; deft writes lines for sh"));
    }
    let others = job.variables.iter();
    let others = others.filter(|(name, _)| !FOR_CRON.contains(&name.as_str()));
    let mut script: String = others
        .map(|(name, value)| format!("export {name}={}\n", quote(value)))
        .collect();
    script.push_str("cd \"$HOME\" || exit\n");
    script.push_str(&job.command);
    let script = escape(&script);
    let command = if shell == "/bin/sh" {
        json!(script)
    } else {
        json!([shell, "-c", script])
    };
    let mut arguments = Object::from_iter([("command".to_owned(), command)]);
    if let Some(stdin) = &job.stdin {
        arguments.insert("stdin".to_owned(), json!(escape(stdin)));
    }
    Ok(arguments)
}

/// Quotes a value for sh.
fn quote(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,@%+=".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}

fn variable<'a>(job: &'a CrontabJob, name: &str) -> Option<&'a str> {
    let (_, value) = job.variables.iter().find(|(known, _)| known == name)?;
    Some(value)
}

fn description(job: &CrontabJob) -> String {
    let words = match &job.comment {
        Some(comment) => comment.clone(),
        None => format!("Runs `{}`", job.command),
    };
    clip(&words, 160)
}

/// Derives a name from the program that the command runs: `cron-backup` for `cd /srv && ./backup.sh -q`.
pub(super) fn name(job: &CrontabJob) -> String {
    let mut parts = job.command.split(['&', '|', ';', '(', ')']);
    let program = parts.find_map(program).unwrap_or("job");
    let stem = Path::new(program).file_stem().unwrap_or_default();
    let name: String = slug(&stem.to_string_lossy()).chars().take(40).collect();
    match name.as_str() {
        "" => "cron-job".to_owned(),
        name => format!("cron-{name}"),
    }
}

/// Returns the program of a simple command; `None` if the command only prepares another one.
fn program(command: &str) -> Option<&str> {
    const PREPARE: &[&str] = &[
        "cd", "test", "[", "export", ".", "source", "sleep", "set", "umask",
    ];
    const AROUND: &[&str] = &[
        "sudo", "nice", "ionice", "env", "timeout", "nohup", "exec", "time", "chronic", "flock",
        "sh", "bash", "python", "python3", "perl", "php", "ruby", "node",
    ];
    let mut last = None;
    for word in command.split_whitespace() {
        let word = word.trim_matches(['"', '\'']);
        let base = word.rsplit('/').next().unwrap_or(word);
        if last.is_none() && PREPARE.contains(&base) {
            return None;
        }
        let is_setting =
            word.starts_with('-') || word.contains('=') || word.starts_with(['>', '<', '2']);
        let is_number = word
            .chars()
            .all(|c| c.is_ascii_digit() || c.is_ascii_punctuation());
        if is_setting || is_number {
            continue;
        }
        last = Some(word);
        if !AROUND.contains(&base) {
            break;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::super::lines::Crontab;
    use super::*;

    fn name_command(command: &str) -> String {
        name(&Crontab::parse(&format!("* * * * * {command}\n")).jobs[0])
    }

    #[test]
    fn names_come_from_the_program() {
        assert_eq!(
            name_command("/usr/local/bin/backup.sh -q >/dev/null 2>&1"),
            "cron-backup"
        );
        assert_eq!(name_command("cd /srv/app && ./sync --all"), "cron-sync");
        assert_eq!(
            name_command("nice -n 10 /usr/bin/python3 /opt/report.py"),
            "cron-report"
        );
        assert_eq!(name_command("TZ=UTC FOO=1 certbot renew"), "cron-certbot");
        assert_eq!(
            name_command("test -x /usr/sbin/anacron || run-parts /etc"),
            "cron-run-parts"
        );
        assert_eq!(name_command("'::'"), "cron-job");
    }

    #[test]
    fn words_are_quoted_for_sh() {
        assert_eq!(quote("/usr/bin:/bin"), "/usr/bin:/bin");
        assert_eq!(quote("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quote(""), "''");
    }
}
