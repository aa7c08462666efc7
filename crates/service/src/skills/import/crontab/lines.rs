//! Parses a crontab into jobs, each with its variables and comment, and invalid lines.

/// A job of a crontab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CrontabJob {
    /// The line number in the file, from 1.
    pub number: usize,
    /// The line as it was written.
    pub line: String,
    pub schedule: String,
    pub command: String,
    /// The text after the first `%`, which cron passes to the command as stdin.
    pub stdin: Option<String>,
    /// The comment directly above it.
    pub comment: Option<String>,
    /// Variables that are set above it, without duplicates.
    pub variables: Vec<(String, String)>,
}

/// A line that cannot become a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CrontabProblem {
    pub number: usize,
    pub line: String,
    pub reason: String,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Crontab {
    pub jobs: Vec<CrontabJob>,
    pub problems: Vec<CrontabProblem>,
}

impl Crontab {
    pub(super) fn parse(text: &str) -> Self {
        let mut crontab = Self::default();
        let mut variables: Vec<(String, String)> = Vec::new();
        let mut comment: Vec<String> = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if let Some(words) = line.strip_prefix('#') {
                add_comment(&mut comment, words.trim());
                continue;
            }
            let above = std::mem::take(&mut comment);
            if line.is_empty() {
                continue;
            }
            if let Some((name, value)) = variable(line) {
                variables.retain(|(known, _)| *known != name);
                variables.push((name, value));
                continue;
            }
            match job(line) {
                Ok((schedule, command)) => {
                    let (command, stdin) = split_percent(command);
                    crontab.jobs.push(CrontabJob {
                        number: at + 1,
                        line: line.to_owned(),
                        schedule,
                        command,
                        stdin,
                        comment: (!above.is_empty()).then(|| above.join(" ")),
                        variables: variables.clone(),
                    });
                }
                Err(reason) => crontab.problems.push(CrontabProblem {
                    number: at + 1,
                    line: line.to_owned(),
                    reason,
                }),
            }
        }
        crontab
    }
}

/// Collects a comment line. Comments about the file and disabled jobs do not describe the next job.
fn add_comment(comment: &mut Vec<String>, words: &str) {
    let is_header = words.contains("dom") && words.contains("dow");
    let is_job =
        job(words).is_ok_and(|(schedule, _)| deft_schedule::Cron::parse(&schedule).is_ok());
    if words.is_empty() || is_header || is_job {
        comment.clear();
    } else {
        comment.push(words.to_owned());
    }
}

/// Parses `NAME = value`, with quotes around the value removed.
fn variable(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim().trim_matches(['"', '\'']);
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !starts_well || !name.chars().all(fits) {
        return None;
    }
    let value = value.trim();
    let inner = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    let value = inner('"').or_else(|| inner('\'')).unwrap_or(value);
    Some((name.to_owned(), value.to_owned()))
}

/// Parses the schedule and the command of a line.
fn job(line: &str) -> Result<(String, &str), String> {
    let fields = if line.starts_with('@') { 1 } else { 5 };
    let mut rest = line;
    let mut schedule = Vec::new();
    for _ in 0..fields {
        let (word, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        schedule.push(word);
        rest = behind.trim_start();
    }
    if rest.is_empty() {
        return Err("it has no command".to_owned());
    }
    match schedule.join(" ") {
        reboot if reboot == "@reboot" => {
            Err("deft cannot run a skill when the machine starts".to_owned())
        }
        schedule => Ok((schedule, rest)),
    }
}

/// Splits a command from its stdin: the first unescaped `%` separates them, further ones are line breaks, and
/// `\%` is a percent sign.
fn split_percent(command: &str) -> (String, Option<String>) {
    let mut parts = vec![String::new()];
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        let escaped = c == '\\' && chars.peek() == Some(&'%');
        if c == '%' {
            parts.push(String::new());
        } else if let Some(last) = parts.last_mut() {
            last.push(if escaped { '%' } else { c });
        }
        if escaped {
            chars.next();
        }
    }
    let command = parts.remove(0).trim_end().to_owned();
    let stdin = (!parts.is_empty()).then(|| parts.join("\n") + "\n");
    (command, stdin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_signs_are_input() {
        let split = |text: &str| split_percent(text);
        assert_eq!(split(r"date +\%F"), ("date +%F".to_owned(), None));
        assert_eq!(
            split(r"mail -s x root%Hi,%50\% done"),
            (
                "mail -s x root".to_owned(),
                Some("Hi,\n50% done\n".to_owned())
            )
        );
        assert_eq!(split(r"echo a\b"), (r"echo a\b".to_owned(), None));
    }

    #[test]
    fn comments_describe_the_next_job_only() {
        let crontab = Crontab::parse(
            "# m h dom mon dow command\n1 2 * * * one\n\n# far\n\n1 2 * * * two\n# 5 5 * * * off\n1 2 * * * three\n# Saves\n# the files.\n1 2 * * * four\n",
        );
        let comments: Vec<Option<&str>> = crontab
            .jobs
            .iter()
            .map(|job| job.comment.as_deref())
            .collect();
        assert_eq!(comments, [None, None, None, Some("Saves the files.")]);
    }

    #[test]
    fn variables_apply_to_the_lines_below() {
        let crontab = Crontab::parse("A=1\n* * * * * x\nB = \"two words\"\nA='3'\n@daily y\n");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(crontab.jobs[0].variables, [pair("A", "1")]);
        assert_eq!(
            crontab.jobs[1].variables,
            [pair("B", "two words"), pair("A", "3")]
        );
        assert_eq!(crontab.jobs[1].schedule, "@daily");
    }

    #[test]
    fn invalid_lines_are_reported_with_a_reason() {
        let crontab = Crontab::parse("@reboot x\n* * * * *\nnonsense\n");
        let reasons: Vec<&str> = crontab
            .problems
            .iter()
            .map(|one| one.reason.as_str())
            .collect();
        assert_eq!(
            reasons,
            [
                "deft cannot run a skill when the machine starts",
                "it has no command",
                "it has no command"
            ]
        );
    }
}
