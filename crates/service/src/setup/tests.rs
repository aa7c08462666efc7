//! Discovery on prepared machines, and the choice of a model without a person.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use deft_llm::{ProviderKind, ProviderPlace};
use deft_wire::setup::{FoundKey, FoundModels, FoundServers, FoundSkills, SetupFindings};
use tempfile::TempDir;

use super::discover::{ModelSearch, discover};
use super::machine::{Machine, System};
use super::model::{ModelPreferences, candidates, choose};
use crate::workspace::Workspace;

/// An empty machine.
fn machine(home: &Path) -> Machine {
    Machine {
        system: System::Linux,
        environment: BTreeMap::new(),
        user_home: Some(home.join("user")),
        folder: home.join("work"),
        probe: Box::new(|places: &[ProviderPlace]| vec![None; places.len()]),
        crontab: None,
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn set(machine: &mut Machine, name: &str, value: &str) {
    machine
        .environment
        .insert(name.to_owned(), value.to_owned());
}

fn find(machine: &Machine) -> SetupFindings {
    discover(machine, &ModelSearch::UsualPorts)
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn an_empty_machine_has_no_candidates() {
    let folder = folder();
    assert!(find(&machine(folder.path())).is_empty());
    let homeless = Machine {
        user_home: None,
        ..machine(folder.path())
    };
    assert!(find(&homeless).is_empty());
}

#[test]
fn keys_are_found_by_their_variables_and_never_copied() {
    let folder = folder();
    let mut machine = machine(folder.path());
    set(&mut machine, "GOOGLE_API_KEY", "AIza-secret");
    set(&mut machine, "OPENAI_API_KEY", " ");
    set(&mut machine, "GROQ_API_KEY", "gsk-secret");
    let found = find(&machine);
    let key = |provider: &str, title: &str, variable: &str| FoundKey {
        provider: provider.to_owned(),
        title: title.to_owned(),
        variable: variable.to_owned(),
    };
    let expected = [
        key("gemini", "Google Gemini", "GOOGLE_API_KEY"),
        key("groq", "Groq", "GROQ_API_KEY"),
    ];
    assert_eq!(found.keys, expected);
    assert!(!format!("{found:?}").contains("secret"));
}

/// Returns a probe in which these addresses answer, each in one wire format.
fn servers(known: &'static [(&'static str, ProviderKind)]) -> super::machine::Probe {
    Box::new(move |places: &[ProviderPlace]| {
        let answers = |place: &ProviderPlace| {
            let url = place.base_url.as_deref();
            let mut known = known.iter();
            known
                .any(|(address, wire)| url == Some(*address) && *wire == place.provider)
                .then(|| texts(&["small", "large"]))
        };
        places.iter().map(answers).collect()
    })
}

#[test]
fn model_servers_are_found_at_their_default_ports() {
    let folder = folder();
    let found = |search: ModelSearch, host: Option<&str>| {
        let mut machine = machine(folder.path());
        machine.probe = servers(&[
            ("http://127.0.0.1:11434", ProviderKind::Ollama),
            ("http://127.0.0.1:8080", ProviderKind::OpenAi),
            ("http://box:9000", ProviderKind::OpenAi),
            ("http://box:11434", ProviderKind::Ollama),
            ("http://box:11434", ProviderKind::OpenAi),
        ]);
        if let Some(host) = host {
            set(&mut machine, "OLLAMA_HOST", host);
        }
        let found = discover(&machine, &search).models;
        found
            .into_iter()
            .map(|one| format!("{} {}", one.provider, one.base_url))
            .collect::<Vec<_>>()
    };
    let usual = [
        "ollama http://127.0.0.1:11434",
        "llamacpp http://127.0.0.1:8080",
    ];
    assert_eq!(found(ModelSearch::UsualPorts, None), usual);
    assert_eq!(found(ModelSearch::UsualPorts, Some("0.0.0.0")), usual);
    let elsewhere = ["ollama http://box:11434", "llamacpp http://127.0.0.1:8080"];
    assert_eq!(found(ModelSearch::UsualPorts, Some("box")), elsewhere);
    let given = ModelSearch::Addresses(texts(&["box:9000", "http://box:11434/"]));
    let expected = ["local http://box:9000", "ollama http://box:11434"];
    assert_eq!(found(given, None), expected);
    let nowhere = ModelSearch::Addresses(Vec::new());
    assert_eq!(found(nowhere.clone(), None), Vec::<String>::new());
    assert_eq!(found(nowhere, Some("box")), ["ollama http://box:11434"]);
}

#[test]
fn skills_and_servers_of_other_hosts_are_found() {
    let folder = folder();
    let root = folder.path();
    write(root, "user/.claude/skills/a/SKILL.md", "");
    write(root, "user/.claude/skills/group/b/skill.md", "");
    write(root, "user/.claude/skills/notes/README.md", "");
    write(root, "work/.agents/skills/c/SKILL.md", "");
    let desktop = r#"{"mcpServers": {"files": {"command": "npx"}}}"#;
    write(
        root,
        "user/.config/Claude/claude_desktop_config.json",
        desktop,
    );
    let code = r#"{"mcpServers": {}, "projects": {"/p": {"mcpServers": {"jira": {"url": "https://j"}}}, "/q": {}}}"#;
    write(root, "user/.claude.json", code);
    write(root, "user/.cursor/mcp.json", "not json");
    let codex = "model = \"x\"\n[mcp_servers.docs]\ncommand = \"docs\"\n";
    write(root, "user/.codex/config.toml", codex);
    let project = r#"{"servers": {"build": {"command": "make"}}, /* mine */}"#;
    write(root, "work/.vscode/mcp.json", project);
    let found = find(&machine(root));
    let work = |path: &str| root.join("work").join(path).display().to_string();
    let skills = |path: &str, skills, project| FoundSkills {
        path: path.to_owned(),
        skills,
        project,
    };
    let expected = [
        skills("~/.claude/skills", 2, false),
        skills(&work(".agents/skills"), 1, true),
    ];
    assert_eq!(found.skills, expected);
    let servers = |title: &str, path: &str, name: &str, project| FoundServers {
        title: title.to_owned(),
        path: path.to_owned(),
        servers: texts(&[name]),
        project,
    };
    let desktop = "~/.config/Claude/claude_desktop_config.json";
    let expected = [
        servers("Claude Desktop", desktop, "files", false),
        servers("Claude Code", "~/.claude.json", "jira", false),
        servers("Codex", "~/.codex/config.toml", "docs", false),
        servers(
            "VS Code, this folder",
            &work(".vscode/mcp.json"),
            "build",
            true,
        ),
    ];
    assert_eq!(found.servers, expected);
}

#[test]
fn macos_keeps_its_files_in_the_library() {
    let folder = folder();
    let settings = "user/Library/Application Support";
    let text = r#"{"mcpServers": {"files": {"command": "npx"}}}"#;
    let path = format!("{settings}/Claude/claude_desktop_config.json");
    write(folder.path(), &path, text);
    let mac = Machine {
        system: System::MacOs,
        ..machine(folder.path())
    };
    assert_eq!(find(&mac).servers.len(), 1);
    assert_eq!(find(&machine(folder.path())).servers.len(), 0);
}

/// In the user's home, both places are the same folder.
#[test]
fn a_folder_is_found_once() {
    let folder = folder();
    write(folder.path(), "user/.agents/skills/a/SKILL.md", "");
    let at_home = Machine {
        folder: folder.path().join("user"),
        ..machine(folder.path())
    };
    let found = find(&at_home).skills;
    assert_eq!(found.len(), 1);
    assert!(!found[0].project);
}

#[test]
fn lines_of_a_crontab_are_counted_without_comments_and_variables() {
    let folder = folder();
    let table = "# m h dom mon dow command\nMAILTO=ada@example.com\nPATH = /bin\n\n\
                 0 9 * * 1-5 /home/ada/report.sh\n@daily backup\n*/5 * * * * X=1 ping\n";
    let mut machine = machine(folder.path());
    machine.crontab = Some(table.to_owned());
    assert_eq!(find(&machine).crontab, 3);
}

fn preferences(
    provider: Option<&str>,
    model: Option<&str>,
    base_url: Option<&str>,
) -> ModelPreferences {
    ModelPreferences {
        provider: provider.map(str::to_owned),
        model: model.map(str::to_owned),
        base_url: base_url.map(str::to_owned),
    }
}

#[test]
fn without_a_person_flags_or_the_first_candidate_are_used() {
    let folder = folder();
    let mut machine = machine(folder.path());
    set(&mut machine, "OPENAI_API_KEY", "sk-1");
    set(&mut machine, "OPENAI_BASE_URL", "http://proxy");
    let found = SetupFindings {
        models: vec![FoundModels {
            provider: "ollama".to_owned(),
            title: "Ollama".to_owned(),
            base_url: "http://127.0.0.1:11434".to_owned(),
            models: texts(&["qwen3:8b"]),
        }],
        ..find(&machine)
    };
    let all = candidates(
        &Workspace::for_test(&folder.path().join("home")),
        &machine,
        &found,
    )
    .unwrap();
    let decide = |provider, model, base_url| {
        let choice = choose(&all, &preferences(provider, model, base_url));
        choice.map(|choice| {
            let choice = choice.unwrap();
            let url = choice.base_url.unwrap_or_default();
            format!("{} {} {url}", choice.provider, choice.model)
        })
    };
    let good = |provider, model, base_url| decide(provider, model, base_url).unwrap();
    assert_eq!(good(None, None, None), "openai gpt-5-mini http://proxy");
    assert_eq!(good(None, Some("o9"), None), "openai o9 http://proxy");
    assert_eq!(
        good(Some("ollama"), None, None),
        "ollama qwen3:8b http://127.0.0.1:11434"
    );
    assert_eq!(good(None, Some("m"), Some("http://b")), "local m http://b");
    assert_eq!(
        good(Some("openai"), None, Some("http://b")),
        "openai gpt-5-mini http://b"
    );
    let bad = |provider, base_url| decide(provider, None, base_url).unwrap_err();
    let hint = |provider| bad(Some(provider), None).hint.unwrap();
    assert!(hint("anthropic").contains("`deft secrets set ANTHROPIC_API_KEY`"));
    let keyless = bad(Some("anthropic"), Some("http://b")).hint.unwrap();
    assert!(keyless.ends_with("leave out `--provider` and name the model with `--model`"));
    assert!(hint("vllm").starts_with("start it"));
    assert!(hint("nowhere").contains("anthropic, openai"));
    assert_eq!(bad(None, Some("http://b")).code, "no_model");
    assert_eq!(choose(&[], &ModelPreferences::default()).unwrap(), None);
}
