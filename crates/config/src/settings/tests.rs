//! Tests of settings: tables of mistakes and values.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::table::KEYS;
use super::tree::{Data, Node, Settings, read_value};
use super::{Config, Kind, read};

fn problems(text: &str) -> Vec<String> {
    let settings = match Settings::parse(text) {
        Ok(settings) => settings,
        Err(problem) => return vec![line(&problem)],
    };
    settings.check().iter().map(line).collect()
}

fn line(problem: &super::Problem) -> String {
    let at = problem
        .line()
        .map_or("-".to_owned(), |line| line.to_string());
    let hint = problem.hint.as_ref().map(|hint| format!(" | {hint}"));
    format!("{at}: {}{}", problem.message, hint.unwrap_or_default())
}

fn config(text: &str) -> Config {
    let settings = Settings::parse(text).unwrap();
    assert_eq!(settings.check(), []);
    read::config(settings, Path::new("/home/me/.deft")).unwrap()
}

/// A file, and the problems it causes.
const MISTAKES: &[(&str, &str)] = &[
    (
        "[skils]\n",
        "1: unknown key `skils` | did you mean `skills`?",
    ),
    (
        "\n[skills]\npath = []\n",
        "3: unknown key `skills.path` | did you mean `skills.paths`?",
    ),
    (
        "[time]\ncolour = 1\n",
        "2: unknown key `time.colour` | known keys: zone",
    ),
    ("skills = 3\n", "1: `skills` is a section: write `[skills]`"),
    ("[skills\n", "1: not TOML: unclosed table, expected `]`"),
    (
        "[skills]\npaths = \"x\"\n",
        "2: `skills.paths` takes a list of strings, not the string `x`",
    ),
    (
        "[time]\nzone = \"Europe/Berln\"\n",
        "2: `time.zone` is invalid: unknown time zone `Europe/Berln` | did you mean `Europe/Berlin`?",
    ),
    (
        "[engine]\nmax_running = -1\n",
        "2: `engine.max_running` takes a whole number, not `-1`",
    ),
    (
        "[engine]\nlease = \"30\"\n",
        "2: `engine.lease` is invalid: duration `30` has no unit | write `30m` for minutes",
    ),
    (
        "[engine]\nlease = 0\n",
        "2: `engine.lease` takes a duration such as `30s` or `5m`, or a number of seconds, not `0`",
    ),
    (
        "[[engine.heal]]\nwhen = \"auth\"\ntool = \"login\"\n[[engine.heal]]\nwhen = \"atuh\"\ntool = \"x\"\n",
        "4: `engine.heal` has a `heal` rule for `atuh`, which is not a failure class | did you mean `auth`?",
    ),
    (
        "[store]\nurl = \"postgres://h/db\"\n",
        "2: `store.url` names a PostgreSQL database, which is not supported | leave it out to use `data/deft.db` in the home",
    ),
    (
        "[mcp_servers.a]\nargs = []\n",
        "1: the server `a` has neither `command` nor `url` | give either `url` or `command`",
    ),
    (
        "[mcp_servers.a]\ncommand = \"x\"\nurl = \"http://x\"\n",
        "1: the server `a` has both `command` and `url` | give either `url` or `command`",
    ),
    (
        "[mcp_servers.\"a.b\"]\ncommand = \"x\"\n",
        "1: the server name `a.b` must not be empty or contain a dot, a slash or a space",
    ),
    (
        "[mcp_servers.a]\ncommand = \"x\"\nenvs = {}\n",
        "3: unknown key `mcp_servers.a.envs` | did you mean `mcp_servers.a.env`?",
    ),
    (
        "[mcp_servers.a]\nurl = \"localhost:1\"\n",
        "2: `mcp_servers.a.url` takes a URL that starts with `http://` or `https://`, not the string `localhost:1`",
    ),
    (
        "[tools.htpp]\n",
        "1: unknown key `tools.htpp` | did you mean `tools.http`?",
    ),
    (
        "[secrets]\nMAIL = \"hunter2\"\n",
        "2: `secrets.MAIL` takes a reference and not the secret itself, because this file is read, copied and shown | `deft secrets set NAME` stores the value and prints the reference to write here",
    ),
    (
        "[llm.main]\nprovider = \"open-ai\"\nmodel = \"x\"\n",
        "2: `llm.main.provider` takes `openai`, `anthropic`, `gemini`, `ollama`, not the string `open-ai` | did you mean `openai`?",
    ),
    (
        "[llm.main]\nmodel = \"x\"\nfallback = [\"mian\"]\n",
        "3: `llm.main.fallback` names the unknown model `mian` | did you mean `main`?",
    ),
    (
        "[agent]\nllm = \"local\"\n",
        "2: `agent.llm` names the unknown model `local` | write a section `[llm.local]`",
    ),
    (
        "[budget.agents.thinker]\ntokens = 1\n",
        "2: unknown key `budget.agents.thinker.tokens` | did you mean `budget.agents.thinker.tokens_per_day`?",
    ),
    (
        "[hooks.a]\nscheme = \"plain\"\n",
        "1: the hook `a` has no `secret` | `deft secrets set NAME` stores one; write `secret = \"keyring:NAME\"`",
    ),
    (
        "[hooks.\"a/b\"]\nsecret = \"env:X\"\n",
        "1: `a/b` cannot be the name of a hook | use up to 64 letters, digits, `-` and `_`",
    ),
    (
        "[server]\nlisten = \"9876\"\n",
        "2: `server.listen` takes a host and a port such as `127.0.0.1:9876`, not the string `9876`",
    ),
];

#[test]
fn mistakes_are_explained() {
    for (text, expected) in MISTAKES {
        assert_eq!(problems(text), [*expected], "{text}");
    }
}

#[test]
fn every_mistake_is_found() {
    let found = problems("[a]\n[b]\n[skills]\npaths = 1\n[time]\nzone = 2\n");
    let lines: Vec<&str> = found.iter().map(|line| &line[..1]).collect();
    assert_eq!(lines, ["1", "2", "4", "6"]);
}

#[test]
fn values_become_options() {
    let config = config(
        "\u{feff}[engine]\nmax_running = 0\nlease = \"1m30s\"\nrun_timeout = 2.5\n\
         heal = [{when = [\"auth\", \"network\"], tool = \"login\", args = {a = 1}}]\n\
         [mcp_servers.files]\ncommand = \"~/bin/x\"\ntimeout = \"2d\"\ncwd = \"work\"\n\
         env = {TOKEN = \"env:T\"}\n\
         [tools.file]\nfolders = [\"/a\", \"b\"]\n[secrets]\nMAIL = \"env:M\"\n\
         [store]\nurl = \"sqlite:///var/x.db\"\n[server]\nlisten = \"h:1\"\n",
    );
    let mut options = deft_engine::Options::for_home(Path::new("/h"));
    config.engine.apply(&mut options);
    assert_eq!(options.max_running, None);
    assert_eq!(options.lease, Duration::from_secs(90));
    assert_eq!(options.run_timeout, Some(Duration::from_millis(2500)));
    assert_eq!(options.tool_timeout, None);
    assert_eq!(options.heals[0].when.len(), 2);
    assert_eq!(options.heals[0].args, json!({"a": 1}));
    let server = &config.tools.servers["files"];
    assert_eq!(server.timeout, Duration::from_hours(48));
    assert_eq!(
        server.cwd.as_deref(),
        Some(Path::new("/home/me/.deft/work"))
    );
    assert!(server.env["TOKEN"].is_secret());
    assert!(!server.command.as_ref().unwrap().starts_with('~'));
    assert_eq!(config.tools.file.folders[0], Path::new("/a"));
    assert_eq!(config.tools.file.folders[1], Path::new("/home/me/.deft/b"));
    assert_eq!(config.secrets["MAIL"], "env:M");
    assert_eq!(config.store.path, Path::new("/var/x.db"));
    assert!(config.settings.get(&["server", "listen"]).is_some());
}

struct NoSecrets;

impl deft_tools::SecretSource for NoSecrets {
    fn secret(&self, reference: &str) -> Result<deft_tools::Secret, String> {
        match reference {
            "env:KEY" => Ok(deft_tools::Secret::new("k")),
            _ => Err("the variable is not set".to_owned()),
        }
    }
}

#[test]
fn a_model_has_the_options_of_its_section() {
    let config = config(
        "[llm.big]\nprovider = \"anthropic\"\nmodel = \"m\"\napi_key = \"env:KEY\"\n\
         timeout = \"30s\"\nprice_input = 3\nprice_output = 15.5\nfallback = [\"small\"]\n\
         tools = false\n[llm.big.extra]\ntop_k = 4\nthinking = {on = true}\n\
         [llm.small]\nprovider = \"ollama\"\nmodel = \"s\"\n",
    );
    let [big, small] = config.models.as_slice() else {
        panic!("two models");
    };
    let big = big.options(&NoSecrets).unwrap();
    assert_eq!(big.api_key.as_deref(), Some("k"));
    assert_eq!(big.timeout, Duration::from_secs(30));
    assert_eq!(big.fallback, ["small"]);
    assert!(!big.tools);
    let price = deft_llm::Price {
        input: 3.0,
        cached: None,
        cache_write: Some(3.75),
        output: 15.5,
    };
    assert_eq!(big.price, Some(price));
    assert_eq!(
        serde_json::Value::Object(big.extra),
        json!({"top_k": 4, "thinking": {"on": true}})
    );
    let small = small.options(&NoSecrets).unwrap();
    assert_eq!((small.max_tokens, small.retries), (4096, 2));
    assert_eq!((small.concurrency, small.price), (4, None));
    assert!(small.tools && small.api_key.is_none());
}

/// Settings are made one at a time, and an API key may be missing for a while: other commands must not fail.
#[test]
fn an_unusable_model_is_reported_with_the_reason() {
    for (text, why) in [
        (
            "[llm.a]\nmodel = \"m\"\n",
            "it is not complete: `llm.a.provider` is not set",
        ),
        (
            "[llm.a]\nprovider = \"openai\"\n",
            "it is not complete: `llm.a.model` is not set",
        ),
        (
            "[llm.a]\nprovider = \"openai\"\nmodel = \"m\"\napi_key = \"env:NO\"\n",
            "it has no key: `env:NO` is not available: the variable is not set",
        ),
    ] {
        let config = config(text);
        let failure = config.models[0].options(&NoSecrets).map(drop).unwrap_err();
        assert_eq!((failure.message.as_str(), failure.blocked), (why, true));
    }
}

#[test]
fn budgets_of_agents_inherit_the_action_on_exhaustion() {
    let config = config(
        "[budget]\ntokens_per_day = 9\non_exhausted = \"skip\"\n[budget.agents.a]\nusd_per_day = 1.5\n\
         spike_tokens = 7\n[budget.agents.b]\non_exhausted = \"ask\"\n",
    );
    let budget = config.budget;
    assert_eq!(budget.all.tokens_per_day, Some(9));
    let (a, b) = (budget.agents["a"], budget.agents["b"]);
    assert_eq!(a.limits.usd_per_day, Some(1.5));
    assert_eq!(a.limits.on_exhausted, deft_model::ExhaustedAction::Skip);
    assert_eq!((a.spike_tokens, a.spike_factor), (Some(7), None));
    assert_eq!(b.limits.on_exhausted, deft_model::ExhaustedAction::Ask);
}

#[test]
fn the_chat_of_notices_is_the_primary_chat() {
    let bot = "[telegram]\nchat = false\ntoken = \"env:BOT\"\nallowed_chats = [-100123, \"@news\"]\n[notify]\n";
    for (notify, chat) in [
        ("", "-100123"),
        ("target = \"42\"\n", "42"),
        ("channel = \"telegram\"\ntarget = \"42\"\n", "42"),
        (
            "channel = \"webhook\"\ntarget = \"https://x.org\"\n",
            "-100123",
        ),
    ] {
        let telegram = config(&format!("{bot}{notify}")).tools.telegram;
        assert_eq!(telegram.primary_chat().as_deref(), Some(chat), "{notify}");
        assert!(telegram.token.is_some_and(|token| token.is_secret()));
        assert_eq!(telegram.allowed_chats, ["-100123", "@news"]);
    }
}

/// S1.3: the target of a server's tool for notices is the primary chat too.
#[test]
fn the_target_of_a_tool_is_the_primary_chat() {
    let bot = "[telegram]\ntoken = \"env:BOT\"\nallowed_chats = [7]\n";
    let by = |tool: &str| format!("[notify]\nchannel = \"tool:{tool}\"\ntarget = \"42\"\n");
    for (text, chat, takes_notices) in [
        (by("desk.send"), Some("42"), false),
        (format!("{bot}{}", by("desk.send")), Some("7"), false),
        (
            format!("{bot}{}", by("telegram_send_message")),
            Some("42"),
            false,
        ),
        (bot.to_owned(), Some("7"), true),
        (
            "[notify]\nchannel = \"log\"\ntarget = \"42\"\n".to_owned(),
            None,
            false,
        ),
    ] {
        let telegram = config(&text).tools.telegram;
        assert_eq!(telegram.primary_chat().as_deref(), chat, "{text}");
        assert_eq!(telegram.takes_notices, takes_notices, "{text}");
    }
}

/// The examples in the documents are valid.
#[test]
fn examples_in_documents_are_right() {
    for document in [
        include_str!("../../../../docs/chat.md"),
        include_str!("../../../../docs/configuration.md"),
    ] {
        let blocks = document.split("```toml\n").skip(1);
        let blocks: Vec<&str> = blocks
            .filter_map(|block| block.split("```").next())
            .collect();
        assert!(!blocks.is_empty());
        for block in blocks {
            assert_eq!(problems(block), [""; 0], "{block}");
        }
    }
}

#[test]
fn keys_of_models_and_hooks_are_withheld_from_tools() {
    let text = "[llm.a]\nprovider = \"openai\"\nmodel = \"m\"\napi_key = \"env:KEY\"\n\
                [llm.b]\nprovider = \"ollama\"\nmodel = \"m\"\n";
    let withheld = config(text).tools.withheld;
    assert_eq!(withheld, [deft_tools::Reference::new("env:KEY")]);
}

/// The defaults in the table are those that apply without a file.
#[test]
fn defaults_equal_those_of_their_crates() {
    let nothing = config("");
    assert_eq!(nothing.tools, deft_tools::Options::default());
    assert_eq!(nothing.store.path, Path::new("/home/me/.deft/data/deft.db"));
    let mut text = String::new();
    for key in KEYS.iter().filter(|key| !key.path.contains("KEY")) {
        if let Some(value) = key.preset.toml() {
            text.push_str(&format!("{} = {value}\n", key.path.replace("NAME", "x")));
        }
    }
    text.push_str("mcp_servers.x.command = \"x\"\nhooks.x.secret = \"env:X\"\n");
    let mut given = config(&text);
    let hook = config("hooks.x.secret = \"env:X\"\n").hooks;
    assert_eq!((&given.hooks, &given.server), (&hook, &nothing.server));
    given.tools.withheld.clear();
    let server = given.tools.servers.remove("x").unwrap();
    assert_eq!(server, deft_tools::ServerOptions::command("x", &[]));
    assert_eq!(given.tools, nothing.tools);
    let mut options = deft_engine::Options::for_home(Path::new("/h"));
    let before = format!("{options:?}");
    given.engine.apply(&mut options);
    assert_eq!(format!("{options:?}"), before);
    assert_eq!(given.store, nothing.store);
    assert_eq!(
        (&given.agent, &given.budget),
        (&nothing.agent, &nothing.budget)
    );
    assert_eq!(given.telegram_chat, nothing.telegram_chat);
    let model = |text: &str| {
        let config = config(&format!(
            "llm.x.provider = \"ollama\"\nllm.x.model = \"m\"\n{text}"
        ));
        let model = config.models[0].options(&NoSecrets).unwrap();
        (
            model.tools,
            model.max_tokens,
            model.timeout,
            model.retries,
            model.concurrency,
        )
    };
    assert_eq!(model(&text), model(""));
}

#[test]
fn every_value_of_the_table_fits_the_schema() {
    let validator = jsonschema::validator_for(&super::config_schema()).unwrap();
    for (text, fits) in [
        (
            "[skills]\npaths = []\n[engine]\nlease = \"1m\"\nheal = [{when = \"auth\", tool = \"x\"}]\n",
            true,
        ),
        (
            "[mcp_servers.a]\ncommand = \"x\"\nenv = {A = \"b\"}\n[secrets]\nA = \"env:B\"\n",
            true,
        ),
        ("[skils]\n", false),
        ("[mcp_servers.a]\ncomand = \"x\"\n", false),
        ("[secrets]\nA = \"b\"\n", false),
        ("[engine]\nmax_running = -1\n", false),
    ] {
        let settings = Settings::parse(text).unwrap();
        let value = Node {
            data: Data::Table(settings.root),
            origin: super::Origin::Default,
        }
        .json();
        assert_eq!(validator.is_valid(&value), fits, "{text}");
        assert_eq!(problems(text).is_empty(), fits, "{text}");
    }
}

#[test]
fn environment_variables_override_the_file() {
    let mut settings =
        Settings::parse("[time]\nzone = \"UTC\"\n[mcp_servers.My-Files]\ncommand = \"x\"\n")
            .unwrap();
    let variables = [
        ("TIME__ZONE", "Asia/Tokyo"),
        ("SKILLS__PATHS", "more"),
        ("MCP_SERVERS__MY_FILES__ENV__TOKEN", "env:T"),
        ("MCP_SERVERS__WEB__URL", "http://h/mcp"),
        ("SECRETS__MAIL", "file:/m"),
        ("ENGINE__MAX_RUNNING", "3"),
        ("ENGINE__LEASE", ""),
    ];
    settings.overlay(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert_eq!(settings.check(), []);
    let value = |path: &[&str]| settings.get(path).map(Node::json);
    assert_eq!(value(&["time", "zone"]), Some(json!("Asia/Tokyo")));
    assert_eq!(value(&["skills", "paths"]), Some(json!(["more"])));
    assert_eq!(
        value(&["mcp_servers", "My-Files", "env", "TOKEN"]),
        Some(json!("env:T"))
    );
    assert_eq!(
        value(&["mcp_servers", "web", "url"]),
        Some(json!("http://h/mcp"))
    );
    assert_eq!(value(&["secrets", "MAIL"]), Some(json!("file:/m")));
    assert_eq!(value(&["engine", "max_running"]), Some(json!(3)));
    assert_eq!(value(&["engine", "lease"]), None);
    settings.overlay([("TIME__ZOEN".to_owned(), "x".to_owned())]);
    let place = settings.check()[0].place(Path::new("f"));
    assert_eq!(place, "the variable `DEFT__TIME__ZOEN`");
}

#[test]
fn variables_are_parsed_by_the_type_of_their_key() {
    for (text, kind, expected) in [
        ("4", Some(Kind::Text), json!("4")),
        ("4", Some(Kind::Count), json!(4)),
        ("\"4\"", Some(Kind::Text), json!("4")),
        ("a b", Some(Kind::Text), json!("a b")),
        ("a", Some(Kind::Texts), json!(["a"])),
        ("[\"a\"]", Some(Kind::Texts), json!(["a"])),
        ("true", Some(Kind::Truth), json!(true)),
        ("30s", Some(Kind::Duration), json!("30s")),
        ("1\nx = 2", Some(Kind::Count), json!("1\nx = 2")),
    ] {
        assert_eq!(read_value(text, kind), expected, "{text}");
    }
}

#[test]
fn logs_have_limits() {
    let usual = config("").logs;
    assert_eq!(usual.limits.max_bytes, 10 * 1024 * 1024);
    assert_eq!(usual.limits.keep, 5);
    assert_eq!(usual.limits.max_age, Duration::from_hours(30 * 24));
    assert_eq!(usual.sessions, Duration::from_hours(365 * 24));
    let text = "[logs]\nmax_mb = 1\nkeep = 0\nmax_age = \"2d\"\nsessions_max_age = \"1h\"\n";
    let given = config(text).logs;
    assert_eq!(given.limits.max_bytes, 1024 * 1024);
    assert_eq!(given.limits.keep, 0);
    assert_eq!(given.limits.max_age, Duration::from_hours(48));
    assert_eq!(given.sessions, Duration::from_hours(1));
}
