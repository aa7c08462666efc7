//! `deft cmd`, `deft schema`, `deft completions` and usage.

use crate::support::{PAGE, SKILL, WORKFLOW, World};

fn world() -> World {
    let world = World::new();
    world
        .write("home/skills/greet/SKILL.md", SKILL)
        .write("home/skills/email/send.md", PAGE)
        .write("home/skills/report.yaml", WORKFLOW);
    world
}

#[test]
fn get_skill() {
    let world = world();
    insta::assert_snapshot!(world.run(&["cmd", "get_skill"]));
    insta::assert_snapshot!(world.run(&["cmd", "get_skill: email"]));
    insta::assert_snapshot!(world.run(&["cmd", "get_skill:email.send"]));
    insta::assert_snapshot!(world.run(&["cmd", "get_skill: email.all"]));
    insta::assert_snapshot!(world.run(&["cmd", "get_skill: mail"]));
    insta::assert_snapshot!(world.run(&["cmd", "get_skill: email.sent", "--json"]));
    insta::assert_snapshot!(world.run(&["cmd", "get_skill: a b"]));
}

/// S2.71: `--help` does not execute the command.
#[test]
fn help_shows_the_page() {
    let world = world();
    let page = world.run(&["cmd", "get_skill: email.send"]);
    assert_eq!(world.run(&["cmd", "email.send --help"]), page);
    assert_eq!(world.run(&["cmd", "email.send --to bob --help"]), page);
}

#[test]
fn invalid_commands_are_explained() {
    let world = world();
    insta::assert_snapshot!(world.run(&["cmd", "email.send --to bob"]));
    insta::assert_snapshot!(world.run(&["cmd", "email.sned --to bob"]));
    insta::assert_snapshot!(world.run(&["cmd", "email.send --to \"bob"]));
    insta::assert_snapshot!(world.run(&["cmd", ""]));
    world.write(
        "home/skills/torn.yaml",
        "name: torn\ndescription: d\nsteps: []\n",
    );
    insta::assert_snapshot!(world.run(&["cmd", "torn"]));
}

/// Data goes to stdout and everything else to stderr, also for a failed run.
#[test]
fn errors_are_not_data() {
    let world = world();
    world
        .write("home/skills/notes/add.md", PAGE.replace("email.send", "notes.add").replace("tags:", "handler: tool:nothing.here\ntags:"))
        .write(
            "home/skills/ask.yaml",
            "name: ask\ndescription: Asks\nsteps:\n  - {id: a, tool: time.now}\nconfirmations:\n  - {step: a, message: Sure}\n",
        );
    for (line, code, said) in [
        ("notes.add --to bob", 1, "error: "),
        ("notes.add", 2, "error: `--to` is missing"),
        ("ask", 5, "error: run run_"),
    ] {
        let output = world.output(&["cmd", line]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}: {error}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "{line}");
        assert!(error.starts_with(said), "{line}: {error}");
        assert!(error.contains("\nhint: "), "{line}: {error}");
        let output = world.output(&["cmd", line, "--json"]);
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["ok"], false, "{line}: {document:#}");
        assert_eq!(output.status.code(), Some(code), "{line}: {document:#}");
    }
    // A failed command does not affect the others; results go to stdout and errors to stderr.
    let output = world.output(&["cmd", "notes.add\nget_skill: email"]);
    assert_eq!(output.status.code(), Some(1));
    let (data, error) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(
        data.contains("email.send") && !data.contains("missing"),
        "{data}"
    );
    assert!(data.starts_with("command: get_skill: email\n"), "{data}");
    assert!(
        error.starts_with("command: notes.add\nerror: `--to` is missing"),
        "{error}"
    );
}

const ECHO: &str = "---\nname: notes.search\ndescription: Looks\nhandler: skill:look\n---\n\n# notes.search\n\n## Flags\n\n--n      How many (required)\n--sort   Sort by: date, name (default: date)\n";
const LOOK: &str = "name: look\ndescription: Looks\ninputs:\n  - {name: n, type: integer, required: true}\n  - {name: sort, type: string, required: true}\nsteps:\n  - id: a\n    compute: |\n      result = {'n': inputs['n'] + 1, 'sort': inputs['sort']}\noutputs:\n  n: \"{{ a.n }}\"\n  sort: \"{{ a.sort }}\"\n";

fn world_with_search() -> World {
    let world = World::new();
    world
        .write("home/skills/notes/search.md", ECHO)
        .write("home/skills/look.yaml", LOOK);
    world
}

/// S2.44, S2.48: error codes are kept in batches, and each result names its command.
#[test]
fn a_batch_has_codes_and_commands() {
    let world = world_with_search();
    let lines = "notes.search\nnotes.search --n many\nnotes.search --n 1 --sort size\n\
                 notes.search --m 1\nnotes.serch --n 1\nnotes.search --n 1 | cat\nnotes.search --n 1";
    let document = world.json(&["cmd", lines, "--json"]);
    assert_eq!(document["ok"], false);
    let results = document["results"].as_array().unwrap();
    let codes: Vec<(&str, &str)> = results
        .iter()
        .map(|result| {
            let code = result["metadata"]["errors"][0]["code"].as_str();
            (result["command"].as_str().unwrap(), code.unwrap_or("ok"))
        })
        .collect();
    assert_eq!(
        codes,
        [
            ("notes.search", "missing_flags"),
            ("notes.search --n many", "invalid_type"),
            ("notes.search --n 1 --sort size", "invalid_value"),
            ("notes.search --m 1", "unknown_flag"),
            ("notes.serch --n 1", "unknown_skill"),
            ("notes.search --n 1 | cat", "shell_syntax"),
            ("notes.search --n 1", "ok"),
        ]
    );
    // S2.43, S2.46: the string was converted to a number once, the default was applied, the result is
    // complete.
    let last = &results[6];
    assert_eq!(last["status"], "ok");
    assert_eq!(last["side_effects"], serde_json::json!([]));
    assert_eq!(last["metadata"]["handler"], "skill:look");
    let content: serde_json::Value =
        serde_json::from_str(last["content"].as_str().unwrap()).unwrap();
    assert_eq!(content, serde_json::json!({"n": 2, "sort": "date"}));
}

/// S2.50: a call in JSON is equivalent to the command line, and help runs nothing.
#[test]
fn a_call_in_json_is_a_command() {
    let world = world_with_search();
    let by_line = world.json(&["cmd", "notes.search --n 1", "--json"]);
    let call = r#"{"skill": "notes.search", "arguments": {"n": 1}}"#;
    let by_call = world.json(&["cmd", call, "--json"]);
    assert_eq!(by_call["content"], by_line["content"]);
    assert_eq!(by_call["command"], call);
    let page = world.run(&["cmd", "get_skill: notes.search"]);
    for help in [
        "notes.search --help=true",
        "notes.search --n 1 --HELP",
        r#"{"skill": "notes.search", "flags": {"n": 1, "help": "yes"}}"#,
    ] {
        assert_eq!(world.run(&["cmd", help]), page, "{help}");
    }
    let wrong = world.json(&["cmd", r#"{"skill": "notes.search"}"#, "--json"]);
    assert_eq!(wrong["error"]["code"], "missing_flags");
    let broken = world.json(&["cmd", r#"{"skill": "#, "--json"]);
    assert_eq!(broken["error"]["code"], "invalid_call");
    assert_eq!(
        world.json(&["runs", "list", "--json"])["runs"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
}

/// S2.50: the tools for workflows and programs resolve commands like `deft cmd`.
#[test]
fn tools_and_the_command_line_resolve_commands_alike() {
    let world = world_with_search();
    let call = |tool: &str, args: serde_json::Value| {
        world.json(&["tools", "call", tool, "--args", &args.to_string(), "--json"])
    };
    let page = world.json(&["cmd", "notes.search --help", "--json"])["content"].clone();
    for (tool, given) in [("use_skill", "arguments"), ("skill_run", "inputs")] {
        let ask = |inputs: serde_json::Value| {
            call(
                tool,
                serde_json::json!({"skill": "notes.search", given: inputs}),
            )
        };
        let help = ask(serde_json::json!({"n": 1, "help": true}));
        assert_eq!(help["value"], page, "{help:#}");
        for (inputs, code) in [
            (serde_json::json!({}), "missing_flags"),
            (serde_json::json!({"n": "many"}), "invalid_type"),
            (serde_json::json!({"n": 1, "sort": "size"}), "invalid_value"),
            (serde_json::json!({"n": 1, "m": 2}), "unknown_flag"),
        ] {
            let refused = ask(inputs);
            assert_eq!(refused["error"]["code"], code, "{refused:#}");
        }
        let runs = || {
            world.json(&["runs", "list", "--json"])["runs"]
                .as_array()
                .map(Vec::len)
        };
        let before = runs().unwrap();
        let done = ask(serde_json::json!({"n": "1"}));
        let expected = serde_json::json!({
            "status": "ok", "content": r#"{"n":2,"sort":"date"}"#, "side_effects": [],
            "metadata": {"handler": "skill:look"},
        });
        assert_eq!(done["value"], expected, "{done:#}");
        assert_eq!(runs(), Some(before + 1));
    }
}

/// S2.9: dates and flags are substituted in a page without a handler.
#[test]
fn a_page_is_filled() {
    let world = World::new();
    world.write(
        "home/skills/flows/digest.md",
        "---\nname: flows.digest\ndescription: Digest\n---\n\n# flows.digest\n\nTo {recipient} since {yesterday}: {digest}\n\n## Flags\n\n--recipient  Who (required)\n",
    );
    let shown = world.json(&["cmd", "flows.digest --recipient bob@co.com", "--json"]);
    let content = shown["content"].as_str().unwrap();
    assert!(content.contains("To bob@co.com since 20"), "{content}");
    assert!(content.contains(": {digest}"), "{content}");
    assert_eq!(shown["metadata"]["requires_interpretation"], true);
}

/// S2.31: a page shows that its handler is missing, and its command is refused with a code.
#[test]
fn a_missing_handler_is_reported() {
    let world = World::new();
    let page = |handler: &str| PAGE.replace("tags:", &format!("handler: {handler}\ntags:"));
    world
        .write("home/skills/email/send.md", page("email.send"))
        .write(
            "home/skills/notes/add.md",
            page("tool:nothing.here").replace("email.send", "notes.add"),
        );
    for (name, why) in [
        (
            "email.send",
            "the handler `email.send` is not available in this version",
        ),
        ("notes.add", "no connected server provides `nothing.here`"),
    ] {
        let shown = world.json(&["cmd", &format!("{name} --help"), "--json"]);
        let content = shown["content"].as_str().unwrap();
        assert!(
            content.ends_with(&format!("Not available now: {why}")),
            "{content}"
        );
        let shown = world.json(&["skills", "show", name, "--json"]);
        assert_eq!(shown["skill"]["unavailable"], why, "{shown:#}");
    }
    let refused = world.json(&["cmd", "email.send --to bob", "--json"]);
    assert_eq!(refused["error"]["code"], "missing_handler");
}

/// S2.18: after a broken edit, short-lived commands use the last good revision and print a warning;
/// `validate` shows the problem.
#[test]
fn a_broken_edit_leaves_the_last_good_revision() {
    let world = world_with_search();
    let good = world.json(&["cmd", "notes.search --n 1", "--json"]);
    world
        .write("home/skills/look.yaml", LOOK.replace("steps:", "stps:"))
        .write(
            "home/skills/notes/search.md",
            ECHO.replace("description: Looks", "description: [Looks"),
        );
    let line = world.output(&["cmd", "notes.search --n 1"]);
    let error = String::from_utf8(line.stderr).unwrap();
    assert!(line.status.success(), "{error}");
    let path = world.path("home/skills/notes/search.md");
    assert_eq!(
        error,
        format!(
            "warning: the file of `notes.search` has errors; its last good version is in use; hint: `deft skills validate {}` shows the problems\n",
            path.display()
        )
    );
    let again = world.json(&["cmd", "notes.search --n 1", "--json"]);
    assert_eq!(again["content"], good["content"]);
    let run = world.output(&["run", "look", "--n", "1", "--sort", "x", "--quiet"]);
    let error = String::from_utf8(run.stderr).unwrap();
    assert!(run.status.success(), "{error}");
    assert!(
        error.starts_with(
            "warning: the file of `look` has errors; its last good version is in use; hint: "
        ),
        "{error}"
    );
    let page = world.json(&["cmd", "notes.search --help", "--json"]);
    assert!(
        page["content"]
            .as_str()
            .unwrap()
            .starts_with("# notes.search")
    );
    for file in ["home/skills/look.yaml", "home/skills/notes/search.md"] {
        let file = world.path(file).display().to_string();
        assert_eq!(world.code(&["skills", "validate", &file]), 1);
    }
    // A repaired file is used again, and the skill of a deleted file is removed.
    world.write("home/skills/look.yaml", LOOK.replace("+ 1", "+ 2"));
    let mended = world.json(&["run", "look", "--n", "1", "--sort", "x", "--json"]);
    assert_eq!(mended["outputs"]["n"], 3);
    std::fs::remove_file(path).unwrap();
    let gone = world.json(&["cmd", "notes.search --n 1", "--json"]);
    assert_eq!(gone["error"]["code"], "unknown_skill");
}

#[test]
fn schemas_are_of_draft_7() {
    let world = World::new();
    for what in ["skill", "workflow", "record"] {
        let schema = world.json(&["schema", what]);
        assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
        assert!(schema["properties"]["description"].is_object());
    }
    let mut workflow = world.json(&["schema", "workflow"]);
    let step = &mut workflow["properties"]["steps"]["items"];
    let kinds = step["oneOf"].take();
    let keys = step["properties"].as_object_mut().unwrap();
    for kind in kinds.as_array().unwrap() {
        let key = kind["required"][0].as_str().unwrap();
        let takes = keys
            .get(key)
            .unwrap_or_else(|| panic!("`{key}` has no schema"));
        assert!(takes["description"].is_string(), "{takes}");
    }
    // Keep only common keys, so a new kind of step does not change the snapshot.
    keys.retain(|key, _| STEP_KEYS.split(' ').any(|one| one == key));
    insta::assert_json_snapshot!(step);
}

/// The keys common to all kinds of steps.
const STEP_KEYS: &str = "id description output condition on_error timeout loop loop_var loop_concurrency \
    parallel_group depends_on cache effects heal max_heals expect";

#[test]
fn usage_mistakes_exit_2() {
    let world = World::new();
    insta::assert_snapshot!(world.run(&["skils", "list"]));
    insta::assert_snapshot!(world.run(&["skills", "list", "--tier", "fast", "--json"]));
    assert_eq!(world.code(&["--version"]), 0);
    assert_eq!(world.code(&["--help"]), 0);
}
