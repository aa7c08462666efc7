//! `deft chat -p` with a model: stdout, stderr and exit codes.

use std::net::TcpListener;

use deft_testkit::ModelAnswer;
use serde_json::{Value, json};

use crate::chat_support::{deft, home, messages, model, piped, section, tools};
use crate::support::World;

/// A call without effects.
fn look() -> ModelAnswer {
    ModelAnswer::call("time_now", json!({}))
}

/// A call with an effect.
fn notify_call(text: &str) -> ModelAnswer {
    ModelAnswer::call("notify", json!({"message": text}))
}

fn conversations(world: &World) -> Vec<Value> {
    let listed = world.json(&["chat", "list", "--json"]);
    listed["conversations"].as_array().unwrap().clone()
}

#[test]
fn only_the_answer_goes_to_stdout() {
    for (more, beside) in [(None, true), (Some("--quiet"), false)] {
        let model = model([
            look().with_text("Let me see."),
            ModelAnswer::text("It is **noon**."),
        ]);
        let world = home(&model, "");
        let args: Vec<&str> = ["chat", "-p", "What time is it?"]
            .into_iter()
            .chain(more)
            .collect();
        let output = deft(&world, &args);
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (0, "It is **noon**.\n"),
            "{output:?}"
        );
        let lines: Vec<&str> = output.stderr.lines().collect();
        assert_eq!(lines.len(), usize::from(beside), "{output:?}");
        let call = |line: &&str| line.starts_with("⚙ time.now ✓ ");
        assert!(lines.iter().all(call), "{output:?}");
        let asked = model.requests();
        assert_eq!(asked.len(), 2);
        let prompt = messages(&asked[0]);
        let question = ("user".to_owned(), "What time is it?".to_owned());
        assert_eq!(prompt.last(), Some(&question));
        assert!(prompt[0].1.contains("No user is present"), "{prompt:?}");
        assert!(tools(&asked[0]).contains(&"time_now".to_owned()));
        let (role, result) = messages(&asked[1]).pop().unwrap();
        assert_eq!(role, "tool");
        assert!(result.contains("Europe/Berlin"), "{result}");
    }
}

#[test]
fn the_json_document_is_complete() {
    let model = model([look(), ModelAnswer::text("Noon.")]);
    let world = home(&model, "");
    let output = deft(&world, &["chat", "-p", "What time is it?", "--json"]);
    let mut answer = output.json();
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    for id in ["conversation", "run"] {
        assert!(answer[id].take().as_str().is_some_and(|id| !id.is_empty()));
    }
    assert!(answer["calls"][0]["duration_ms"].take().is_u64());
    assert_eq!(
        answer,
        json!({
            "conversation": null, "run": null, "status": "done", "outcome": "success", "text": "Noon.",
            "usage": {"input_tokens": 20, "output_tokens": 10, "cost_usd": 0.04, "llm_calls": 2},
            "calls": [{
                "tool": "time.now", "args": {}, "depth": 0, "status": "success",
                "duration_ms": null, "note": null,
            }],
            "error": null,
        })
    );
}

#[test]
fn piped_input_is_part_of_the_message() {
    let model = model([ModelAnswer::text("Short."), ModelAnswer::text("Short.")]);
    let world = home(&model, "");
    let given = [
        ("Sum it up.", "Sum it up.\n\na long report"),
        ("", "a long report"),
    ];
    for (text, _) in given {
        let output = piped(&world, &["chat", "-p", text], "a long report\n");
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (0, "Short.\n"),
            "{output:?}"
        );
    }
    let asked = model.requests();
    let said: Vec<String> = asked
        .iter()
        .map(|request| messages(request).pop().unwrap().1)
        .collect();
    assert_eq!(said, given.map(|(_, said)| said));
    assert_eq!(deft(&world, &["chat", "-p", ""]).code, 2);
    assert_eq!(model.requests().len(), 2);
}

/// The approval is stored, and can be answered with another command.
#[test]
fn a_question_without_a_person_stays_pending() {
    let model = model([notify_call("hello"), ModelAnswer::text("Sent.")]);
    let world = home(
        &model,
        "[agent]\napprove = [\"notify\"]\ntools = [\"needed\", \"notify\"]\n",
    );
    let output = deft(&world, &["chat", "-p", "Say hello", "--no-input", "--json"]);
    let waiting = output.json();
    assert_eq!(
        (output.code, &waiting["status"], &waiting["outcome"]),
        (5, &json!("waiting"), &Value::Null),
        "{waiting:#}"
    );
    assert_eq!(
        world.json(&["notices", "list", "--json"])["notices"],
        json!([])
    );
    // The message is stored and can be found before it is answered.
    let conversation = waiting["conversation"].as_str().unwrap();
    let shown = || {
        let kept = world.json(&["chat", "show", conversation, "--json"]);
        let lines = kept["conversation"]["messages"].as_array().unwrap().clone();
        let text = |line: &Value| line["text"].as_str().unwrap().to_owned();
        lines.iter().map(text).collect::<Vec<_>>()
    };
    assert_eq!(shown(), ["Say hello"]);
    let seen = deft(&world, &["chat", "show", conversation]).stderr;
    let stands = format!(
        "… run {} waits for approval: ",
        waiting["run"].as_str().unwrap()
    );
    assert!(seen.contains(&stands), "{seen}");
    let listed = world.json(&["chat", "list", "--json"]);
    assert_eq!(listed["conversations"][0]["message_count"], 1);
    let found = world.json(&["chat", "search", "hello", "--json"]);
    assert_eq!(found["messages"][0]["conversation"], conversation);
    let asked = world.json(&["approvals", "list", "--json"]);
    let approval = asked["approvals"][0]["id"].as_str().unwrap();
    let answered = deft(&world, &["approvals", "approve", approval]);
    assert_eq!(answered.code, 0, "{answered:?}");
    let run = waiting["run"].as_str().unwrap();
    let resume = format!("`deft runs resume {run}`");
    assert!(answered.stderr.contains(&resume), "{answered:?}");
    let resumed = world.json(&["runs", "resume", run, "--json"]);
    assert_eq!(resumed["outcome"], "success", "{resumed:#}");
    let lines = shown();
    assert_eq!(lines.first().unwrap(), "Say hello", "{lines:?}");
    assert_eq!(lines.last().unwrap(), "Sent.", "{lines:?}");
    let asked = |line: &&String| *line == "Say hello";
    assert_eq!(lines.iter().filter(asked).count(), 1, "{lines:?}");
    let notices = world.json(&["notices", "list", "--json"]);
    assert_eq!(notices["notices"].as_array().unwrap().len(), 1);
}

/// A standing approval with a pattern covers only calls that match the pattern.
#[test]
fn calls_like_an_approved_one_need_no_question() {
    let model = model([
        notify_call("hello Ada"),
        ModelAnswer::text("Ada knows."),
        notify_call("hello Bob"),
        ModelAnswer::text("Bob knows."),
        notify_call("bye Bob"),
    ]);
    let world = home(
        &model,
        "[agent]\napprove = [\"notify\"]\ntools = [\"needed\", \"notify\"]\n",
    );
    let chat = |text: &str| deft(&world, &["chat", "-p", text, "--no-input", "--json"]);
    let waiting = chat("Greet Ada").json();
    assert_eq!(waiting["status"], "waiting", "{waiting:#}");
    let asked = world.json(&["approvals", "list", "--json"]);
    let approval = asked["approvals"][0]["id"].as_str().unwrap();
    let approve = |more: &[&str]| {
        deft(
            &world,
            &[&["approvals", "approve", approval], more].concat(),
        )
    };
    let refused = [
        (&["--allow", "message=hello *"][..], "--always"),
        (&["--always", "--allow", "message"], "`--allow 'to="),
        (&["--always", "--allow", "message=bye *"], "bye *"),
        (&["--always", "--allow", "whom=*"], "whom"),
    ];
    for (more, says) in refused {
        let output = approve(more);
        assert_eq!(output.code, 2, "{output:?}");
        assert!(output.stderr.contains(says), "{output:?}");
    }
    let answered = approve(&["--always", "--allow", "message=hello *"]);
    assert_eq!(answered.code, 0, "{answered:?}");
    let grants = world.json(&["approvals", "grants", "--json"]);
    assert_eq!(grants["grants"].as_array().unwrap().len(), 1, "{grants:#}");
    let run = waiting["run"].as_str().unwrap();
    let resumed = world.json(&["runs", "resume", run, "--json"]);
    assert_eq!(resumed["outcome"], "success", "{resumed:#}");
    let like = chat("Greet Bob").json();
    assert_eq!(
        (&like["status"], &like["text"]),
        (&json!("done"), &json!("Bob knows.")),
        "{like:#}"
    );
    let unlike = chat("Send Bob away");
    assert_eq!(unlike.code, 5, "{unlike:?}");
}

/// Ids of the same day have a common prefix.
#[test]
fn an_ambiguous_id_names_the_conversations() {
    let model = model([ModelAnswer::text("Hi."), ModelAnswer::text("Bye.")]);
    let world = home(&model, "");
    for text in ["Say hi", "Say bye"] {
        assert_eq!(deft(&world, &["chat", "-p", text]).code, 0);
    }
    let listed = world.json(&["chat", "list", "--json"]);
    for command in ["show", "delete"] {
        let output = deft(&world, &["chat", command, "conv_"]);
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{output:?}");
        assert!(
            output.stderr.contains("`conv_` matches 2 conversations"),
            "{output:?}"
        );
        for one in listed["conversations"].as_array().unwrap() {
            let (id, title) = (one["id"].as_str().unwrap(), one["title"].as_str().unwrap());
            let named = format!("{id} ({title})");
            assert!(output.stderr.contains(&named), "{output:?}");
        }
    }
    let unknown = deft(&world, &["chat", "show", "conv_x"]);
    assert!(
        unknown.stderr.contains("unknown conversation `conv_x`"),
        "{unknown:?}"
    );
}

#[test]
fn the_flag_yes_approves_calls() {
    let model = model([notify_call("hello"), ModelAnswer::text("Sent.")]);
    let world = home(
        &model,
        "[agent]\napprove = [\"notify\"]\ntools = [\"needed\", \"notify\"]\n",
    );
    let output = deft(&world, &["chat", "-p", "Say hello", "--yes"]);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (0, "Sent.\n"),
        "{output:?}"
    );
    // The call and who approved it can be inspected afterwards.
    let runs = world.json(&["runs", "list", "--chats", "--json"]);
    let shown = world.run(&["runs", "show", runs["runs"][0]["id"].as_str().unwrap()]);
    let call = shown.lines().find(|line| line.contains("✓ notify"));
    let call = call.unwrap_or_else(|| panic!("{shown}"));
    assert!(
        call.contains("hello") && call.contains("approved by"),
        "{call}"
    );
}

/// Limits of steps, repetitions and money have different messages but the same exit code.
#[test]
fn limits_have_a_separate_exit_code() {
    let spent = || ModelAnswer::text("Hello.").usage(5000, 0, 100);
    for (config, answers, class, words) in [
        (
            "[agent]\nmax_steps = 2\n",
            vec![notify_call("a"), notify_call("b"), notify_call("c")],
            "limit",
            "2 ",
        ),
        (
            "",
            vec![
                notify_call("a"),
                notify_call("a"),
                notify_call("a"),
                notify_call("a"),
            ],
            "limit",
            "3 times with the same result",
        ),
        (
            "[budget]\ntokens_per_day = 100\non_exhausted = \"skip\"\n",
            vec![spent()],
            "budget",
            "100",
        ),
        (
            "[budget]\nusd_per_day = 0.01\n",
            vec![spent()],
            "budget",
            "0.01",
        ),
    ] {
        let model = model(answers);
        let world = home(&model, config);
        let output = deft(&world, &["chat", "-p", "Go on", "--json"]);
        let answer = output.json();
        let error = &answer["error"];
        assert_eq!(
            (output.code, &error["class"]),
            (6, &json!(class)),
            "{answer:#}"
        );
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn a_conversation_is_continued() {
    let model = model([
        look(),
        ModelAnswer::text("Noon."),
        ModelAnswer::text("You asked for the time."),
        ModelAnswer::text("Hello."),
    ]);
    let world = home(&model, "");
    let first = deft(&world, &["chat", "-p", "What time is it?", "--json"]).json();
    let id = first["conversation"].as_str().unwrap();
    let second = ["chat", "-p", "What did I ask?", "--resume", id, "--json"];
    let second = deft(&world, &second).json();
    assert_eq!(second["conversation"], id);
    let asked = model.requests();
    let prompt: Vec<(String, String)> = messages(&asked[2])
        .into_iter()
        .filter(|(role, _)| role == "user" || role == "assistant")
        .filter(|(_, text)| !text.is_empty())
        .collect();
    let line = |role: &str, text: &str| (role.to_owned(), text.to_owned());
    assert_eq!(
        prompt,
        [
            line("user", "What time is it?"),
            line("assistant", "Noon."),
            line("user", "What did I ask?"),
        ]
    );
    // Without the flag, a new conversation begins.
    let third = deft(&world, &["chat", "-p", "Hi", "--json"]).json();
    assert_ne!(third["conversation"], id);
    assert!(!asked[2].to_string().contains("Hello."));
    assert_eq!(conversations(&world).len(), 2);
}

#[test]
fn conversations_are_kept_found_and_deleted() {
    let model = model([
        ModelAnswer::text("Ada wrote it."),
        ModelAnswer::text("Fine."),
    ]);
    let world = home(&model, "");
    for text in ["Who wrote the invoice?", "How are you?"] {
        assert_eq!(deft(&world, &["chat", "-p", text]).code, 0);
    }
    let all = conversations(&world);
    let titles: Vec<&Value> = all.iter().map(|one| &one["title"]).collect();
    assert_eq!(titles, ["How are you?", "Who wrote the invoice?"]);
    let id = all[1]["id"].as_str().unwrap();
    // Ids differ in their last letters.
    let shown = world.run(&["chat", "show", &id[..id.len() - 1]]);
    for text in ["exit 0", "Who wrote the invoice?", "Ada wrote it."] {
        assert!(shown.contains(text), "{shown}");
    }
    let found = world.json(&["chat", "search", "invoi", "--json"]);
    assert_eq!(found["messages"].as_array().unwrap().len(), 1, "{found:#}");
    assert_eq!(found["messages"][0]["conversation"], id);
    assert_eq!(world.code(&["chat", "delete", id]), 0);
    assert_eq!(conversations(&world).len(), 1);
    let found = world.json(&["chat", "search", "invoi", "--json"]);
    assert_eq!(found["messages"], json!([]));
    for args in [["chat", "show", id], ["chat", "delete", id]] {
        let output = deft(&world, &args);
        assert_eq!(output.code, 2, "{output:?}");
        assert!(output.stderr.contains("`deft chat list`"), "{output:?}");
    }
}

#[test]
fn invalid_requests_do_not_reach_the_model() {
    let model = model([]);
    let world = home(&model, "");
    for args in [
        &["chat", "-p", "x", "--agent", "nobody", "--json"][..],
        &["chat", "-p", "x", "--resume", "conv_nix", "--json"],
        &["chat", "-p", "x", "--resume", "--json"],
    ] {
        let output = deft(&world, args);
        assert_eq!(output.code, 2, "{output:?}");
        assert!(output.json()["error"]["code"].is_string(), "{output:?}");
    }
    let shown = deft(&world, &["chat", "-p", "What time is it?", "--show-prompt"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    for text in [
        "agent thinker, model main",
        "--- user ---\nWhat time is it?",
        "time_now  ",
        "more tools when looked up ---\nconversation_list, ",
        "--- size: about ",
        "\ntool time_now ",
    ] {
        assert!(shown.stdout.contains(text), "{}", shown.stdout);
    }
    assert_eq!(model.requests(), Vec::<Value>::new());
    assert_eq!(conversations(&world), Vec::<Value>::new());
}

/// Returns an address that nothing listens on.
fn unused_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[test]
fn an_unusable_model_is_reported_with_the_reason() {
    let whole = "[llm.main]\nprovider = \"openai\"\nmodel = \"x\"\n";
    for (config, class, message, hint) in [
        (
            section(&unused_address()),
            "network",
            "127.0.0.1",
            "is the model server running, and is `base_url` right?",
        ),
        (
            "[llm.main]\nprovider = \"openai\"\n".to_owned(),
            "invalid",
            "`llm.main.model` is not set",
            "`deft config set llm.main.model MODEL`",
        ),
        (
            format!("{whole}api_key = \"env:NOT_SET\"\n"),
            "auth",
            "the variable `NOT_SET` is not set",
            "set it, or change `llm.main.api_key`",
        ),
    ] {
        let world = crate::daemon::used_home();
        world.write("home/config.toml", &config);
        let output = deft(&world, &["chat", "-p", "x", "--json"]);
        let error = output.json()["error"].take();
        assert_eq!(
            (output.code, &error["class"], &error["hint"]),
            (1, &json!(class), &json!(hint)),
            "{error:#}"
        );
        let text = error["message"].as_str().unwrap();
        assert!(text.contains(message), "{text}");
        let people = deft(&world, &["chat", "-p", "x"]);
        assert_eq!((people.code, people.stdout.as_str()), (1, ""));
        assert!(
            people.stderr.contains(&format!("hint: {hint}")),
            "{people:?}"
        );
        // Other commands still work.
        assert_eq!(deft(&world, &["runs", "list"]).code, 0);
    }
}

/// No message was sent, so no run failed.
#[test]
fn several_models_without_a_default_are_an_error() {
    let model = model([]);
    let more = section(&model.url).replace("llm.main", "llm.other");
    let world = home(&model, &more);
    let output = deft(&world, &["chat", "-p", "x"]);
    assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{output:?}");
    assert!(output.stderr.contains("several models"), "{output:?}");
    assert!(output.stderr.contains("hint: "), "{output:?}");
    assert_eq!(crate::daemon::runs(&world, "chat").len(), 0);
}
