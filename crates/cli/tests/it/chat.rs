//! `deft chat` and `deft budget` without a model.

use crate::support::World;

#[test]
fn without_a_model_the_hint_names_setup() {
    let world = World::new();
    for args in [&["chat"][..], &["chat", "-p", "hello"]] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(world.run(args));
        }
    }
    let failed = world.json(&["chat", "-p", "hello", "--json"]);
    assert_eq!(failed["error"]["code"], "no_model");
}

#[test]
fn conflicting_flags_are_usage_errors() {
    let world = World::new();
    for args in [
        &["chat", "--key", "k"][..],
        &["chat", "-p", "x", "list"],
        &["chat", "search"],
        &["budget", "set"],
        &["budget", "set", "--spike-tokens", "5"],
    ] {
        assert_eq!(world.code(args), 2, "{args:?}");
    }
}

#[test]
fn limits_are_stored_in_the_configuration() {
    let world = World::new();
    world.write(
        "home/config.toml",
        "# mine\n[budget]\nusd_per_day = 1 # a dollar\n",
    );
    let set = |args: &[&str]| {
        let args: Vec<&str> = ["budget", "set"].iter().chain(args).copied().collect();
        world.run(&args)
    };
    insta::assert_snapshot!(set(&["--tokens-per-day", "200000", "--usd-per-day", "2.5"]));
    insta::assert_snapshot!(set(&[
        "--agent",
        "scout",
        "--tokens-per-day",
        "9000",
        "--on-exhausted",
        "ask"
    ]));
    insta::assert_snapshot!(set(&["--agent", "scout", "--tokens-per-day", "none"]));
    insta::assert_snapshot!(set(&["--on-exhausted", "exit"]));
    insta::assert_snapshot!(world.read("home/config.toml"));
}
