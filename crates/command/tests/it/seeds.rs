//! The examples of the seeds are valid commands.

use deft_command::{CommandResult, Problem, Route, check, from_json, route, split};
use deft_model::Flag;
use serde_json::json;

const PAGES: [(&str, &str); 5] = [
    ("email.send", include_str!("../pages/email.send.md")),
    ("email.draft", include_str!("../pages/email.draft.md")),
    ("tasks.search", include_str!("../pages/tasks.search.md")),
    ("workflow.build", include_str!("../pages/workflow.build.md")),
    (
        "workflows.daily_digest",
        include_str!("../pages/workflows.daily_digest.md"),
    ),
];

fn table(name: &str) -> Result<Vec<Flag>, Problem> {
    let page = PAGES.iter().find(|(page, _)| *page == name);
    page.map(|(_, page)| deft_skillfile::flags(page))
        .ok_or_else(|| Problem::unknown_skill(name, None))
}

/// Returns the commands below `## Examples`.
fn examples(page: &str) -> &str {
    page.split_once("## Examples\n").expect("examples").1
}

#[test]
fn examples_of_pages_fit_their_own_flags() {
    let mut count = 0;
    for (name, page) in PAGES {
        for line in split(examples(page)) {
            let line = line.expect("a line");
            let Route::Command(command) = route(&line, table).expect("a command") else {
                panic!("not a command: {}", line.raw);
            };
            assert_eq!(command.skill_name, name);
            let flags = table(name).expect("a page");
            check(&flags, command.flags).unwrap_or_else(|problems| {
                panic!("{}: {problems:?}", line.raw);
            });
            count += 1;
        }
    }
    assert_eq!(count, 12);
}

#[test]
fn overdue_is_a_flag_if_the_status_lacks_it() {
    let line = split("tasks.search --status overdue --assignee me").remove(0);
    let Ok(Route::Command(command)) = route(&line.expect("a line"), table) else {
        panic!("not a command");
    };
    let flags = check(&table("tasks.search").expect("a page"), command.flags).expect("good flags");
    assert_eq!(
        json!(flags),
        json!({
            "assignee": "me", "overdue": true, "sort": "due_date", "limit": "20",
            "status": ["todo", "in_progress", "blocked"],
        })
    );
}

/// Section 11.3: JSON and text give the same command.
/// S2.41, S2.50.
#[test]
fn json_and_text_give_the_same_command() {
    let pairs = [
        (
            json!({"skill": "tasks.search", "arguments": {"status": ["overdue"]}}),
            "tasks.search --status overdue",
        ),
        (
            json!({"skill": "tasks.search", "flags": {"tags": ["Q1", "back end"], "overdue": true}}),
            "tasks.search --tags Q1 \"back end\" --overdue",
        ),
        (
            json!({"skill": "tasks.search", "flags": {"limit": 5, "sort": "priority"}}),
            "tasks.search --limit 5 --sort priority",
        ),
        (
            json!({"skill": "email.send", "flags": {"to": "a@b.c", "body": "-- \n\"x\" \\ $(y)"}}),
            "email.send --to a@b.c --body \"-- \n\\\"x\\\" \\\\ $(y)\"",
        ),
        (
            json!({"skill": "workflows.daily_digest"}),
            "workflows.daily_digest",
        ),
        (
            json!({"skill": "tasks.search", "flags": {"help": true}}),
            "tasks.search --help",
        ),
    ];
    for (call, text) in pairs {
        let line = split(text).remove(0).expect("a line");
        assert_eq!(from_json(&call, table), route(&line, table), "{text}");
    }
}

/// S2.42: a page's rules for its flags are checked before the handler runs.
#[test]
fn a_missing_flag_is_named() {
    let line = split("email.send --to bob@co.com")
        .remove(0)
        .expect("a line");
    let Ok(Route::Command(command)) = route(&line, table) else {
        panic!("not a command");
    };
    let flags = table("email.send").expect("a page");
    let problems = check(&flags, command.flags).expect_err("two are missing");
    assert_eq!(
        CommandResult::from_problems(&problems).to_string(),
        "status: error\n\n\
         error (missing_flags): `--subject` and `--body` are missing\n\
         hint: `--help` shows what each flag takes"
    );
}

#[test]
fn three_commands_come_in_order() {
    let text = "tasks.search --overdue\n\nget_skill: email\nworkflows.daily_digest\n";
    let names = split(text).into_iter().map(|line| {
        match route(&line.expect("a line"), table).expect("a command") {
            Route::GetSkill { topic } => format!("get_skill {topic}"),
            Route::Command(command) => command.skill_name,
        }
    });
    let names: Vec<String> = names.collect();
    assert_eq!(
        names,
        ["tasks.search", "get_skill email", "workflows.daily_digest"]
    );
}
