//! Control sequences in text from every source, printed by every command: stdout, stderr and logs contain
//! them only as visible characters.

use std::process::Output;

use deft_testkit::{ModelAnswer, RemoteSkills, Script, server_binary, skill_md};
use serde_json::{Value, json};

use crate::chat_support::{model, piped, section};
use crate::daemon::{Daemon, used_home};
use crate::support::World;
use crate::terminal::Terminal;

/// Control characters that hide text, set the title, clear the screen, ring the bell, reverse the line, or
/// are invisible.
const EVIL: &str =
    "evil\u{1b}[8m\u{1b}]0;owned\u{7}\u{9b}2J\u{85}\u{202e}\u{2066}\u{200b}\u{7f}\u{8}live";

/// Returns [`EVIL`] as a double-quoted YAML scalar, in which most of its characters must be escaped.
fn yaml() -> String {
    let mut out = "\"".to_owned();
    for c in EVIL.chars() {
        match u32::from(c) {
            code if c.is_ascii_graphic() => out.push(char::from_u32(code).unwrap()),
            code => out.push_str(&format!("\\U{code:08X}")),
        }
    }
    out + "\""
}

/// Fails if `text` contains characters that could control a terminal or deceive a reader. With `colors`,
/// deft's own styles are ignored; none of them hides text, as the one in `EVIL` does.
fn check(what: &str, text: &str, colors: bool) {
    let text = if colors {
        without_styles(text)
    } else {
        text.to_owned()
    };
    let bad = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let found: Vec<(usize, char)> = text.char_indices().filter(|(_, c)| bad(*c)).collect();
    assert!(found.is_empty(), "{what}: {found:?} in {text:?}");
}

fn without_styles(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let codes = piece
            .find(|c: char| !c.is_ascii_digit() && c != ';')
            .unwrap_or(piece.len());
        let own =
            piece[codes..].starts_with('m') && !piece[..codes].split(';').any(|code| code == "8");
        if own {
            out.push_str(&piece[codes + 1..]);
        } else {
            out.push_str("\u{1b}[");
            out.push_str(piece);
        }
    }
    out
}

fn checked(what: &str, output: &Output, colors: bool) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    check(&format!("{what}: stdout"), &stdout, colors);
    check(&format!("{what}: stderr"), &stderr, colors);
    stdout + &stderr
}

/// Writes files with hostile text: valid ones, whose text is shown in many places, and broken ones, whose
/// problems are shown.
fn skills(world: &World) {
    let evil = yaml();
    let folder = |name: &str| format!("home/skills/{name}/SKILL.md");
    world.write(
        &folder("shady"),
        format!(
            "---\nname: shady\ndescription: {evil}\nlicense: {evil}\n---\n\n# Shady\n\n{EVIL}\n"
        ),
    );
    world.write(
        &folder(&format!("n{EVIL}")),
        format!("---\nname: {evil}\ndescription: {evil}\n---\nBody {EVIL}\n"),
    );
    world.write(&folder("broken"), format!("---\nname: [{EVIL}\n---\n"));
    world.write(
        &folder("wrong"),
        format!("---\nname: wrong\ndescription: x\nunknown{EVIL}: {evil}\n---\nx\n"),
    );
    world.write("home/skills/mail/send.md", format!("---\nname: mail.send\ndescription: {evil}\ntags: [{evil}]\n---\n\n# mail.send\n\n{EVIL}\n\n## Flags\n\n--to   {EVIL} (required)\n"));
    world.write(
        "home/skills/flow.yaml",
        format!(
            "name: flow\ndescription: {evil}\nschedule: \"0 8 * * *\"\ninputs:\n  - {{name: who, type: string, default: {evil}}}\n\
             steps:\n  - {{id: say, tool: log, args: {{message: \"{{{{ inputs.who }}}}\"}}}}\n\
             \x20 - {{id: tell, tool: notify, args: {{message: \"{{{{ inputs.who }}}}\"}}}}\n\
             \x20 - {{id: get, tool: demo.echo, args: {{text: \"{{{{ inputs.who }}}}\"}}}}\n\
             \x20 - {{id: calc, compute: \"print(inputs.who)\\nresult = inputs.who\"}}\n\
             outputs:\n  got: \"{{{{ get }}}}\"\n"
        ),
    );
    world.write(
        "home/skills/fails.yaml",
        "name: fails\ndescription: d\nsteps:\n  - {id: get, tool: demo.fail}\n",
    );
    world.write(
        "home/skills/asks.yaml",
        format!("name: asks\ndescription: d\nsteps:\n  - id: get\n    tool: demo.echo\n    args: {{text: {evil}}}\nconfirmations:\n  - {{step: get, message: {evil}}}\n"),
    );
    world.write(
        "home/agents/rogue/AGENT.md",
        format!("---\nname: rogue\ndescription: {evil}\nunknown: {evil}\n---\n{EVIL}\n"),
    );
    world.write(
        "home/agents/bad/AGENT.md",
        format!("---\nname: [{EVIL}\n---\n"),
    );
}

/// Configures two servers: one responds with hostile text, the other prints it and exits.
fn servers(world: &World) -> String {
    world.write("server/x", "");
    let (text, mut described) = skill_md("shady", "d", EVIL);
    let (plain, frontmatter) = (text.clone(), described.clone());
    described["description"] = json!(EVIL);
    let skills = RemoteSkills::new(&world.path("server"), "demo")
        .skill("shady", described, &[("SKILL.md", &text)])
        .skill("plain/shady", frontmatter, &[("SKILL.md", &plain)])
        .skill(
            EVIL,
            json!({"name": EVIL, "description": EVIL}),
            &[("SKILL.md", &plain)],
        );
    skills.write();
    let demo = Script::new()
        .with("stderr", json!(EVIL))
        .with("skills", skills.path())
        .tool("echo", json!({"description": EVIL, "text": format!("said {EVIL}"), "annotations": {"title": EVIL},
            "schema": {"type": "object", "properties": {"text": {"type": "string", "description": EVIL}}}}))
        .tool("shape", json!({"description": "d", "structured": {"result": {EVIL: [EVIL]}}}))
        .tool("fail", json!({"description": EVIL, "error": format!("no {EVIL}")}))
        .tool("rpc", json!({"description": "d", "rpc_error": {"code": -32000, "message": EVIL}}))
        .tool(&format!("t{EVIL}"), json!({"description": "d", "text": "x"}));
    let dies = Script::new()
        .with("stderr", json!(EVIL))
        .with("start", json!({"die": true}));
    let section = |name: &str, script: &Script| {
        let arguments = script.write(&world.path("server"), name);
        format!(
            "[mcp_servers.{name}]\ncommand = {}\nargs = {}\n\n",
            json!(server_binary()),
            json!(arguments.list())
        )
    };
    section("demo", &demo) + &section("dies", &dies)
}

fn home(url: &str) -> World {
    let world = used_home();
    skills(&world);
    let servers = servers(&world);
    world.write("home/config.toml", section(url) + &servers);
    world
}

/// Returns every command that prints, with arguments that make it print hostile text if possible.
fn commands() -> Vec<Vec<String>> {
    let plain = [
        "mcp probe",
        "tools list --refresh",
        "tools list",
        "tools show demo.echo",
        "tools catalog",
        "tools call demo.echo text=x",
        "tools call demo.shape",
        "tools call demo.fail",
        "tools call demo.rpc",
        "mcp list",
        "skills list",
        "skills show shady",
        "skills show mail.send",
        "skills show demo/shady",
        "skills show demo/plain/shady",
        "skills approve demo/plain/shady",
        "tools call get_skill topic=demo/plain/shady",
        "skills doctor",
        "skills validate home/skills",
        "skills validate home/skills --format github",
        "skills validate home/skills --format sarif",
        "skills validate home/skills --profile agentskills",
        "skills import home/skills --dry-run",
        "run flow",
        "run flow --dry-run",
        "run fails",
        "run asks --no-input",
        "cmd get_skill:mail",
        "cmd mail.send",
        "runs list",
        "approvals list",
        "notices list",
        "schedule list",
        "schedule next flow",
        "schedule simulate flow --from 2026-01-01 --to 2026-01-03",
        "skills disable flow",
        "skills enable flow",
        "tick",
        "jobs list",
        "budget show",
        "config show",
        "config validate",
        "doctor",
        "chat --list",
        "schema skill",
        "",
    ];
    let mut all: Vec<Vec<String>> = plain
        .iter()
        .map(|line| line.split_whitespace().map(str::to_owned).collect())
        .collect();
    // Hostile arguments, as from a script that calls deft.
    for start in [
        "run",
        "skills show",
        "runs show",
        "tools show",
        "tools call",
        "mcp remove",
        "config get",
        "config set",
        "cmd",
        "skills validate",
        "skills import",
        "skills enable",
        "skills delete",
        "approvals approve",
        "schedule next",
        "jobs show",
        "mcp import",
        "run flow --inputs",
        "skills list",
        "chat --resume",
        "--home",
        "no-such-command",
        "mcp add",
        "notices retry",
    ] {
        let mut words: Vec<String> = start.split_whitespace().map(str::to_owned).collect();
        words.push(EVIL.to_owned());
        all.push(words);
    }
    all
}

#[test]
fn escape_sequences_do_not_reach_the_terminal() {
    let server = model([]);
    let world = home(&server.url);
    let mut seen = String::new();
    for words in commands() {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = world.command(&words).env("NO_COLOR", "1").output().unwrap();
        seen += &checked(&format!("{words:?}"), &output, false);
        let styled = [words.as_slice(), &["--color", "always"]].concat();
        let output = world.command(&styled).output().unwrap();
        checked(&format!("{styled:?}"), &output, true);
        let with_json = [words.as_slice(), &["--json"]].concat();
        let output = world.command(&with_json).output().unwrap();
        checked(&format!("{with_json:?}"), &output, false);
    }
    // Check that the hostile text was really printed.
    assert!(
        seen.matches("evil\\x1b[8m\\x1b]0;owned\\x07\\x9b2J\\x85\\u{202e}")
            .count()
            > 40,
        "{seen}"
    );
}

/// Commands that print runs and their events need ids, so they follow the runs.
#[test]
fn run_histories_are_escaped() {
    let server = model([]);
    let world = home(&server.url);
    for skill in ["flow", "fails"] {
        world.output(&["run", skill]);
    }
    world.output(&["run", "asks", "--no-input"]);
    let runs = world.json(&["runs", "list", "--json"])["runs"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(runs.len(), 3, "{runs:?}");
    let mut seen = String::new();
    for id in runs
        .iter()
        .map(|run| run["execution_id"].as_str().or(run["id"].as_str()).unwrap())
    {
        for words in [
            vec!["runs", "show", id],
            vec!["runs", "logs", id],
            vec!["runs", "export", id],
            vec!["runs", "resume", id, "--no-input"],
        ] {
            seen += &checked(&format!("{words:?}"), &world.output(&words), false);
            let with_json = [words.as_slice(), &["--json"]].concat();
            checked(&format!("{with_json:?}"), &world.output(&with_json), false);
        }
    }
    assert!(seen.contains("evil\\x1b[8m"), "{seen}");
}

#[test]
fn json_output_keeps_the_original_text() {
    let server = model([]);
    let world = home(&server.url);
    let shown = world.json(&["skills", "show", "shady", "--json"]);
    assert_eq!(shown["skill"]["description"], EVIL);
    let value = world.json(&["tools", "call", "demo.shape", "--json"])["value"].clone();
    let inner = value.get("result").unwrap_or(&value);
    assert_eq!(*inner, json!({EVIL: [EVIL]}));
    let files = world.json(&["skills", "validate", "home/skills", "--format", "json"]);
    let messages: Vec<&Value> = files["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| &file["path"])
        .collect();
    assert!(
        messages
            .iter()
            .any(|path| path.as_str().unwrap().contains(EVIL)),
        "{messages:?}"
    );
}

#[test]
fn answers_of_models_are_escaped() {
    let said = ModelAnswer::text(&format!("**bold** {EVIL}\n```\n{EVIL}\n```\n"));
    let calls = ModelAnswer::call("demo_echo", json!({"text": EVIL})).with_text(EVIL);
    let unknown = ModelAnswer::call(&format!("x{EVIL}"), json!({EVIL: EVIL}));
    let fails = ModelAnswer::error(400, EVIL);
    let server = model([
        calls,
        said.clone(),
        unknown,
        said.clone(),
        fails,
        said.clone(),
        said,
    ]);
    let world = home(&server.url);
    let mut seen = String::new();
    for _ in 0..3 {
        let output = piped(&world, &["chat", "-p", &format!("hi {EVIL}")], "");
        seen += &format!("{}{}", output.stdout, output.stderr);
    }
    let lines =
        format!("hello\n/agent {EVIL}\n/skills\n/search {EVIL}\n/history\n/{EVIL}\n/cost\n");
    let output = piped(&world, &["chat"], &lines);
    seen += &format!("{}{}", output.stdout, output.stderr);
    for words in [["chat", "--list"], ["chat", "--show=last"]] {
        let output = piped(&world, &words, "");
        seen += &format!("{}{}", output.stdout, output.stderr);
    }
    check("chat", &seen, false);
    assert!(seen.contains("evil\\x1b[8m"), "{seen}");
}

#[test]
fn escape_sequences_in_the_configuration_are_made_visible() {
    let world = used_home();
    for text in [
        format!("[{EVIL}"),
        format!("x = \"{}\"\n", "\\u001b[8m\\u202e"),
        format!(
            "[mcp_servers.\"{}\"]\ncommand = \"{}\"\n",
            "a\\u001b[8m", "no\\u009b2J\\u202esuch"
        ),
        "[time]\nzone = \"\\u001b[8m\\u202e\"\n".to_owned(),
        "[llm.\"\\u001b[8m\"]\nprovider = \"\\u202e\"\n".to_owned(),
    ] {
        world.write("home/config.toml", &text);
        for words in [
            &["config", "show"][..],
            &["config", "validate"],
            &["doctor"],
            &["skills", "list"],
            &["run", "x"],
            &["mcp", "list"],
            &["mcp", "probe"],
            &["tools", "list"],
        ] {
            checked(
                &format!("{words:?} with {text:?}"),
                &world.output(words),
                false,
            );
            let styled = [words, &["--color", "always"]].concat();
            checked(
                &format!("{styled:?} with {text:?}"),
                &world.output(&styled),
                true,
            );
        }
    }
}

/// The daemon's messages about servers, its log, and the logs of notices and sessions.
#[test]
fn logs_are_escaped() {
    let server = model([]);
    let world = home(&server.url);
    for (args, colors) in [
        (&[][..], false),
        (&["--color", "always"], true),
        (&["--log", "json"], false),
    ] {
        let mut daemon = Daemon::begin(&world, args);
        daemon.until("dies");
        world.output(&["run", "flow"]);
        world.output(&["run", "fails"]);
        check(&format!("up {args:?}"), &daemon.stop(), colors);
    }
    let mut seen = String::new();
    for folder in ["home/logs", "home/sessions"] {
        for entry in std::fs::read_dir(world.path(folder)).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            check(&path.display().to_string(), &text, false);
            seen += &text;
        }
    }
    assert!(seen.contains("evil"), "{seen}");
    let notices = world.read("home/logs/notices.log");
    let first: Value = serde_json::from_str(notices.lines().next().unwrap()).unwrap();
    assert_eq!(first["text"], EVIL);
}

/// In a pipe the content of a file is printed byte for byte; on a terminal it is escaped.
#[test]
fn content_is_exact_in_a_pipe_and_visible_on_a_terminal() {
    let server = model([]);
    let world = home(&server.url);
    let file = world.read("home/skills/mail/send.md");
    for words in [
        &["skills", "export", "mail.send"][..],
        &["skills", "prompt", "--root", "home/skills"],
    ] {
        let output = world.output(words);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(EVIL), "{words:?}: {text:?}");
        if words[1] == "export" {
            assert_eq!(text, file);
        }
        let mut terminal = Terminal::start(&world, words);
        terminal.until("evil\\x1b[8m\\x1b]0;owned\\x07\\x9b2J");
        let raw = terminal.raw.replace("\r\n", "\n");
        check(&format!("{words:?} on a terminal"), &raw, true);
    }
}
