//! Input values, waits, and checks with the tools of the home.

use serde_json::json;

use crate::mcp::with_server;
use crate::support::World;

const NAMED: &str = "name: named\ndescription: d\ninputs:\n  - {name: key, type: string, required: true}\n  - {name: json, type: string}\n  - {name: day, type: date}\nsteps:\n  - {id: show_it, compute: 'result = [inputs.key, inputs.json, day]'}\noutputs: {all: \"{{ show_it }}\"}\n";

/// S3.2: an input with the name of a flag of deft must be given with `--input`, as the message explains.
#[test]
fn an_input_may_have_the_name_of_a_flag() {
    let world = World::new();
    world.write("home/skills/named.yaml", NAMED);
    let text = world.run(&["run", "named", "--key", "k"]);
    assert!(text.contains("input `key` is missing"), "{text}");
    assert!(
        text.contains("`--key` is a flag of deft; give the input with `--input key=VALUE`"),
        "{text}"
    );
    let text = world.run(&["run", "named", "--input", "key=k", "--yes", "now"]);
    assert!(
        text.contains("give the input with `--input yes=VALUE`"),
        "{text}"
    );
    let shown = world.json(&[
        "run", "named", "--input", "key=k", "--input", "json={}", "--json",
    ]);
    assert_eq!(
        shown["outputs"],
        json!({"all": ["k", "{}", null]}),
        "{shown:#}"
    );
    let text = world.run(&["run", "named", "--input", "key=k", "--day", "2026-02-30"]);
    assert!(
        text.contains("input `day` must be a date, not `2026-02-30`"),
        "{text}"
    );
}

const WRONG: &str = "name: wrong\ndescription: d\nsteps:\n  - {id: say_it, tool: ehco, args: {text: hi}}\n  - {id: say_more, tool: echo, args: {txt: hi, count: many}}\n  - {id: run_it, skill: wrogn}\noutputs: {a: \"{{ say_it }}\"}\n";

/// Checks use the stored catalog of servers; without one, tools are not checked.
#[test]
fn checks_use_the_tools_of_the_home() {
    let world = with_server();
    world.write("home/skills/wrong.yaml", WRONG);
    let skills = world.path("home/skills");
    let skills = skills.to_str().unwrap();
    let text = world.run(&["skills", "validate", skills]);
    assert!(
        !text.contains("unknown_tool") && !text.contains("tool_argument"),
        "{text}"
    );
    assert_eq!(world.code(&["tools", "list", "--refresh"]), 0);
    let wanted = [
        "no server provides `ehco`",
        "did you mean `echo`?",
        "`echo` has no argument `txt`",
        "`echo` needs the argument `text`",
        "`count` of `echo` must be a whole number",
        "unknown skill `wrogn`",
        "did you mean `wrong`?",
    ];
    let text = world.run(&["doctor"]);
    assert!(text.contains("skills.tools"), "{text}");
    let file = format!("{skills}/wrong.yaml");
    for words in [
        vec!["skills", "validate", skills],
        vec!["skills", "validate", &file],
        vec!["skills", "doctor"],
        vec!["run", "wrong", "--dry-run"],
    ] {
        let text = world.run(&words);
        for part in wanted {
            assert!(text.contains(part), "{words:?}: {part}\n{text}");
        }
    }
}

#[test]
fn a_broken_file_is_explained_when_it_is_run() {
    let world = World::new();
    world.write(
        "home/skills/broken.yaml",
        "name: broken\ndescription: d\nsteps:\n  - {id: one_it}\n",
    );
    let text = world.run(&["run", "broken"]);
    assert!(text.contains("the step `one_it` does nothing"), "{text}");
    assert!(text.contains("broken.yaml:4"), "{text}");
    let shown = world.json(&["run", "broken", "--json"]);
    let message = shown["error"]["message"].as_str().unwrap();
    assert!(
        message.ends_with("the step `one_it` does nothing"),
        "{message}"
    );
}

const RESTS: &str = "name: rests\ndescription: d\nsteps:\n  - {id: rest_it, wait: 90d}\n  - {id: log_it, tool: log, args: {message: up}}\n";

/// A long wait parks the run; the end of the wait is shown, and the run can be cancelled.
#[test]
fn a_long_wait_is_parked_shown_and_cancelled() {
    let world = World::new();
    world.write("home/skills/rests.yaml", RESTS);
    let text = world.run(&["run", "rests", "--dry-run"]);
    assert!(
        text.contains("for: 90d") && text.contains("waits until "),
        "{text}"
    );
    assert_eq!(world.code(&["run", "rests"]), 0);
    // The only run.
    let id = "run_";
    let text = world.run(&["runs", "show", id]);
    assert!(text.contains("waits for  a wait until "), "{text}");
    assert!(text.contains("? rest_it  wait  until "), "{text}");
    assert_eq!(world.code(&["tick"]), 0);
    let shown = world.json(&["runs", "show", id, "--json"]);
    assert_eq!(shown["run"]["status"], "waiting", "{shown:#}");
    assert_eq!(world.code(&["runs", "cancel", id]), 0);
    let shown = world.json(&["runs", "show", id, "--json"]);
    assert_eq!(shown["run"]["outcome"], "cancelled", "{shown:#}");
}

/// Hints suggest commands that can work: not resuming a run with a cycle, but rerunning a changed skill from
/// a step.
#[test]
fn hints_suggest_valid_values() {
    let world = World::new();
    let skill = |name: &str, other: &str| {
        format!("name: {name}\ndescription: d\nsteps:\n  - {{id: run_it, skill: {other}}}\n")
    };
    world.write("home/skills/a.yaml", skill("a", "b"));
    world.write("home/skills/b.yaml", skill("b", "a"));
    let text = world.run(&["run", "a"]);
    assert!(
        text.contains("skills are nested more than 8 levels; `a` calls itself through `b`")
            || text.contains("skills are nested more than 8 levels; `b` calls itself through `a`"),
        "{text}"
    );
    assert!(!text.contains("runs resume"), "{text}");
    assert!(text.contains("--from run_it"), "{text}");
    let text = world.run(&["run", "a", "--dry-run"]);
    assert!(text.contains("`a` runs itself through `b`"), "{text}");
    let fails =
        "name: fails\ndescription: d\nsteps:\n  - {id: read_it, compute: 'result = 1 / 0'}\n";
    world.write("home/skills/fails.yaml", fails);
    let run = world.json(&["run", "fails", "--json"]);
    let id = run["id"].as_str().unwrap();
    world.write("home/skills/fails.yaml", fails.replace("1 / 0", "1 / 1"));
    let text = world.run(&["runs", "resume", id]);
    assert!(
        text.contains("--from read_it` runs the skill as it is now"),
        "{text}"
    );
}

const SKIPS: &str = r#"name: skips
description: d
steps:
  - {id: left_out, condition: "False", tool: log, args: {message: hi}, output: found}
  - {id: as_condition, condition: "left_out is None and found.field is None", compute: result = "None in a condition"}
  - {id: as_code, compute: "result = [left_out, found, (found or {}).get('field')]"}
  - {id: as_text, skill: echoes, args: {text: "it is {{ left_out }}", value: "{{ left_out.field }}"}}
outputs: {value: "{{ left_out }}", field: "{{ found.field }}", condition: "{{ as_condition }}", code: "{{ as_code }}", text: "{{ as_text }}"}
"#;

const ECHOES: &str = "name: echoes\ndescription: d\ninputs: [{name: text, type: string}, {name: value, type: string}]\nsteps:\n  - {id: show_it, compute: 'result = [text, value]'}\noutputs: {all: \"{{ show_it }}\"}\n";

const READS: &str = "name: reads\ndescription: d\nsteps:\n  - {id: left_out, condition: 'False', tool: log, args: {message: hi}, output: found}\n  - {id: read_it, compute: 'result = found.field'}\n";

/// S3.14, S3.15: a skipped step is None in a condition, a template, an output and a compute block. Reading an
/// attribute of it in a compute block fails as in Python, and the hint names the value of the step.
#[test]
fn a_skipped_step_is_none_everywhere() {
    let world = World::new();
    world.write("home/skills/skips.yaml", SKIPS);
    world.write("home/skills/echoes.yaml", ECHOES);
    world.write("home/skills/reads.yaml", READS);
    let shown = world.json(&["run", "skips", "--json"]);
    let expected = json!({
        "value": null,
        "field": null,
        "condition": "None in a condition",
        "code": [null, null, null],
        "text": {"all": ["it is None", null]},
    });
    assert_eq!(shown["outputs"], expected, "{shown:#}");
    let shown = world.json(&["run", "reads", "--json"]);
    let hint = "the step of `found` was skipped, so `found` is None; test it first, such as `if found:`, \
                or write `(found or {}).get('key')`";
    assert_eq!(shown["error"]["hint"], json!(hint), "{shown:#}");
}
