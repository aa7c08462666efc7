//! Checks the mechanical part of plain English (`docs/style.md`): types are nouns, functions are verbs, and
//! comments name the actor.
//!
//! Not here: whether a sentence is good. Reviewers decide that.

use crate::source::{blank, words};
use crate::support::{files, root};

/// Words that end like a participle but are nouns of the field, each with its meaning.
const NOUNS: &[(&str, &str)] = &[
    ("Finding", "one problem that a check reports"),
    ("Framing", "how a stream marks where an event ends"),
    ("Keyring", "the store of secrets of a host"),
    ("Listing", "the entries of a folder or list"),
    ("Lowering", "the compiler pass from one form to a lower one"),
    ("Mapping", "a YAML mapping"),
    ("Meaning", "what a key of the configuration stands for"),
    ("Nothing", "the empty scope of a test"),
    ("Setting", "one key of the configuration with its value"),
    (
        "Shared",
        "the state that all handles of a type share, as in tokio",
    ),
    ("Spending", "money and tokens that were spent"),
    ("Standing", "the state of a skill after its last runs"),
    ("Timing", "when a skill fires"),
];

/// Irregular participles, pronouns and adverbs. As the whole name of a type they are meaningless.
const VAGUE_TYPES: &[&str] = &[
    "Begun", "Broke", "Built", "Came", "Drawn", "Found", "Given", "Gone", "Heard", "Held", "How",
    "Kept", "Known", "Left", "Lost", "Made", "Met", "Put", "Said", "Seen", "Sent", "Shown",
    "Spent", "Stands", "Taken", "Then", "Told", "What", "When", "Where", "Who", "Whose", "Why",
    "Written",
];

/// Function names that do not describe an action.
const VAGUE_FUNCTIONS: &[&str] = &[
    "begun", "came", "gone", "heard", "how", "knowing", "of", "said", "told", "what", "when",
    "who", "whose",
];

/// Words that hide the actor of a sentence.
const HIDDEN_ACTORS: &[&str] = &[
    "anybody",
    "everybody",
    "nobody",
    "somebody",
    "somewhere else",
    "whoever",
];

#[test]
fn types_are_nouns() {
    let mut found = Vec::new();
    for path in files("rs") {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = blank(&text);
        let names = names_behind(&code, &["struct", "enum", "trait", "type"]);
        let vague = names.filter(|name| is_vague_type(name));
        found.extend(vague.map(|name| format!("{}: {name}", path.display())));
    }
    assert_eq!(
        found,
        Vec::<String>::new(),
        "a type is a noun that says what it holds"
    );
}

#[test]
fn functions_are_verbs() {
    let product = root().join("crates");
    let mut found = Vec::new();
    for path in files("rs") {
        let below = path.strip_prefix(&product).unwrap_or(&path);
        let is_source = below.components().any(|part| part.as_os_str() == "src");
        let text = std::fs::read_to_string(&path).unwrap();
        let code = blank(&text);
        let vague = names_behind(&code, &["fn"])
            .filter(|name| *name == "of" || is_source && VAGUE_FUNCTIONS.contains(name));
        found.extend(vague.map(|name| format!("{}: {name}", path.display())));
    }
    assert_eq!(
        found,
        Vec::<String>::new(),
        "a function is named by what it does"
    );
}

#[test]
fn comments_name_the_actor() {
    let mut found = Vec::new();
    for path in files("rs") {
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            if let Some(word) = hidden_actor(line) {
                found.push(format!("{}:{}: {word}", path.display(), number + 1));
            }
        }
    }
    assert_eq!(
        found,
        Vec::<String>::new(),
        "a sentence names who does something: the caller, another process, a person"
    );
}

/// Returns the identifiers that follow one of these keywords.
fn names_behind<'a>(code: &'a str, keywords: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let mut before = "";
    words(code).filter(move |word| {
        let follows = keywords.contains(&before);
        before = word;
        follows
    })
}

/// Whether a name is a single word that is not a noun.
fn is_vague_type(name: &str) -> bool {
    let one_word = name.chars().skip(1).all(char::is_lowercase);
    let noun = NOUNS.iter().any(|(noun, _)| *noun == name);
    let participle = name.len() > 4 && (name.ends_with("ed") || name.ends_with("ing"));
    one_word && !noun && (participle || VAGUE_TYPES.contains(&name))
}

/// Returns the first hidden actor in the comment of a line.
fn hidden_actor(line: &str) -> Option<&'static str> {
    let comment = line.split_once("//")?.1.to_lowercase();
    let words: Vec<&str> = comment
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let sentence = format!(" {} ", words.join(" "));
    let mut actors = HIDDEN_ACTORS.iter();
    actors
        .find(|actor| sentence.contains(&format!(" {actor} ")))
        .copied()
}

#[test]
fn the_scanner_knows_vague_names_and_hidden_actors() {
    let vague = ["Came", "Loaded", "Reading", "Unanswered", "Why"];
    let plain = [
        "AgentResult",
        "LoadedSkill",
        "BudgetExceeded",
        "Ring",
        "Setting",
        "Seed",
    ];
    assert!(vague.iter().all(|name| is_vague_type(name)));
    assert!(!plain.iter().any(|name| is_vague_type(name)));
    let code = "pub struct One; impl One { fn two() {} } type Three = u8;";
    let types: Vec<&str> = names_behind(code, &["struct", "type"]).collect();
    assert_eq!(types, ["One", "Three"]);
    // Built at run time, so this file passes its own test.
    let actor = HIDDEN_ACTORS[2];
    assert_eq!(
        hidden_actor(&format!("x(); // {actor}'s turn")),
        Some(actor)
    );
    assert_eq!(hidden_actor("x(); // the caller's turn"), None);
    assert_eq!(hidden_actor(&format!("x(\"{actor}\");")), None);
}
