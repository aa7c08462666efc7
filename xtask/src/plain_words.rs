//! Checks the mechanical part of plain English (`docs/style.md`): types are nouns, functions are verbs,
//! constants say what they limit, one word has one meaning, comments name the actor, and names of functions and
//! tests, comments, messages, default skills and examples use ordinary words.
//!
//! Not here: whether a sentence is good. Reviewers decide that.

use std::path::{Path, PathBuf};

use crate::source::{Source, blank, literals, product_sources, words};
use crate::support::{files, files_in, root};

/// Words that end like a participle but are nouns of the field, each with its meaning.
const NOUNS: &[(&str, &str)] = &[
    ("Finding", "one problem that a check reports"),
    ("Framing", "how a stream marks where an event ends"),
    ("Keyring", "the store of secrets of a host"),
    ("Listing", "the entries of a folder or list"),
    ("Lowering", "the compiler pass from one form to a lower one"),
    ("Mapping", "a YAML mapping"),
    ("Nothing", "the empty scope of a test"),
    ("Setting", "one key of the configuration with its value"),
    (
        "Shared",
        "the state that all handles of a type share, as in tokio",
    ),
    ("Spending", "money and tokens that were spent"),
    ("Timing", "when a skill fires"),
];

/// Irregular participles, pronouns and adverbs. As the whole name of a type they are meaningless.
const VAGUE_TYPES: &[&str] = &[
    "Above", "Begun", "Beside", "Broke", "Built", "Came", "Drawn", "Found", "Given", "Gone",
    "Hear", "Heard", "Held", "How", "Kept", "Known", "Late", "Later", "Left", "Lost", "Made",
    "Met", "Over", "Put", "Reach", "Responds", "Said", "Say", "Seen", "Sent", "Shown", "Spent",
    "Stands", "Taken", "Then", "Told", "Usable", "What", "When", "Where", "Who", "Whose", "Why",
    "Written",
];

/// Irregular participles, pronouns, adverbs and prepositions. As the whole name of a function they do not say
/// what it does. Words that are verbs too, such as `read` and `put`, are not listed.
const VAGUE_FUNCTIONS: &[&str] = &[
    "above", "after", "again", "before", "behind", "below", "beside", "by", "hear", "over", "to",
    "begun", "bound", "broken", "built", "came", "caught", "chosen", "done", "drawn", "driven",
    "found", "given", "gone", "heard", "held", "hidden", "how", "kept", "known", "left", "lent",
    "lost", "made", "met", "of", "paid", "said", "seen", "sent", "shown", "sold", "spent",
    "spoken", "stands", "stolen", "stood", "stuck", "taken", "then", "thought", "told", "what",
    "when", "where", "who", "whose", "why", "woken", "written",
];

/// Words that end like a participle but are verbs, or nouns for what the function returns.
const FUNCTION_WORDS: &[&str] = &[
    "embed", "exceed", "feed", "finding", "framing", "fstring", "heading", "listing", "mapping",
    "meaning", "need", "nothing", "ping", "proceed", "ring", "seed", "setting", "spending",
    "standing", "string", "succeed", "timing", "warning",
];

/// Constants whose name says neither what they limit nor how long they last, by their first word.
const VAGUE_CONSTANTS: &[&str] = &[
    "AGAIN", "GLANCE", "LARGEST", "LONGEST", "LOOK", "MOST", "PATIENCE", "REST",
];

/// The only type with the name `Place`, which is a position in a file.
const PLACE: &str = "service/src/skills/finding.rs";

/// Words that hide the actor of a sentence.
const HIDDEN_ACTORS: &[&str] = &[
    "anybody",
    "everybody",
    "nobody",
    "somebody",
    "somewhere else",
    "whoever",
];

/// Phrases that no text in the product uses, each with an example of what to write. Only phrases that have no
/// good use are listed.
const PHRASES: &[(&str, &str)] = &[
    ("again and again", "repeatedly"),
    ("anybody", "a person, a caller"),
    ("at most so", "maximum number of"),
    ("at work", "running"),
    ("became of", "the result of"),
    ("becomes of", "what happens to"),
    ("came of", "the result of"),
    ("counts more", "overrides"),
    ("deft is up", "the daemon is running"),
    ("due once", "run due schedules once"),
    ("everybody", "all users"),
    ("for good", "permanently"),
    ("forgiven", "the failure count is reset"),
    ("forgives", "resets the failure count"),
    ("from 0 on", "of at least 0"),
    ("from 1 on", "of at least 1"),
    ("goes on", "continues"),
    ("going on", "running"),
    ("hung up", "closed the connection"),
    ("in trouble", "failed"),
    ("is gone", "was removed, has exited"),
    ("is over", "has finished"),
    ("is settled", "was handled"),
    ("is up", "is running"),
    ("length of time", "duration"),
    ("list of texts", "list of strings"),
    ("mended", "repaired"),
    ("mending", "healing"),
    ("nobody", "no server, no person"),
    ("nothing says", "the setting does not select"),
    ("of peace", "retry after"),
    ("remedies", "`heal` rules"),
    ("remedy", "`heal` rule"),
    ("rests until", "next try at"),
    ("says more", "shows details"),
    ("says nothing", "default"),
    ("says which", "lists them"),
    ("says why", "shows why"),
    ("send out", "dispatch"),
    ("sends out", "dispatches"),
    ("sent out", "dispatched"),
    ("so many", "maximum number of"),
    ("so much", "maximum size of"),
    ("somebody", "a person, a process"),
    ("switched off", "disabled"),
    ("switches it on", "enables it"),
    ("takes it back", "revokes it"),
    ("taken back", "revoked, removed"),
    ("there is no skill", "unknown skill"),
    ("under way", "running"),
    ("were settled", "were handled"),
    ("what there is", "all skills"),
    ("which there is not", "unknown"),
    ("whoever", "the caller that"),
    ("written down", "in plain text"),
];

/// Further phrases that names of functions and tests do not use: they hide the subject or the result.
const NAME_PHRASES: &[(&str, &str)] = &[
    ("are heard", "are received"),
    ("are said", "are reported"),
    ("are told", "are reported, are sent"),
    ("comes back", "returns, is restored, is repeated"),
    ("gone on", "continued"),
    ("is heard", "is received"),
    ("is said", "is reported"),
    ("is told", "is reported, is sent"),
    ("told apart", "distinguished"),
    ("went on", "continued"),
    ("what", "due_slots, unknown_names"),
    ("whatever", "every, despite"),
];

/// The folders of the skills that deft ships, which models and people read.
const SKILL_FOLDERS: [&str; 2] = ["crates/service/defaults", "examples"];

/// The phrases that comments do not use either.
const COMMENT_PHRASES: &[&str] = &["for good", "is gone", "is over", "list of texts"];

/// Sentences that use one of the phrases in another meaning.
const OTHER_MEANINGS: &[&str] = &[" each command goes on its own line "];

#[test]
fn types_are_nouns() {
    let mut found = Vec::new();
    for path in files("rs") {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = blank(&text);
        let names = names_after(&code, &["struct", "enum", "trait", "type"]);
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
    let mut found = Vec::new();
    for path in files("rs") {
        let below = below_crates(&path);
        let is_source = below.contains("/src/");
        let text = std::fs::read_to_string(&path).unwrap();
        let code = blank(&text);
        let vague = names_after(&code, &["fn"])
            .filter(|name| *name == "of" || is_source && is_vague_function(name));
        found.extend(vague.map(|name| format!("{below}: {name}")));
    }
    assert_eq!(
        found,
        Vec::<String>::new(),
        "a function is named by what it does, or by what it returns"
    );
}

#[test]
fn function_names_use_ordinary_words() {
    let mut found = Vec::new();
    for path in files("rs") {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = blank(&text);
        for name in names_after(&code, &["fn"]) {
            if let Some(phrase) = indirect_phrase(name) {
                let place = format!("{}: {name}", below_crates(&path));
                found.push(describe_phrase(&place, phrase));
            }
        }
    }
    assert_eq!(
        found,
        Vec::<String>::new(),
        "a name, also of a test, states the subject and what it does: `an_unknown_job_is_an_error`"
    );
}

#[test]
fn constants_name_their_limit() {
    let mut found = Vec::new();
    for path in files("rs") {
        let below = below_crates(&path);
        if !below.contains("/src/") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let code = blank(&text);
        let vague = names_after(&code, &["const"]).filter(|name| {
            VAGUE_CONSTANTS
                .iter()
                .any(|word| starts_with_word(name, word))
        });
        found.extend(vague.map(|name| format!("{below}: {name}")));
    }
    assert_eq!(
        found,
        Vec::<String>::new(),
        "write for example `MAX_RUNS`, `CALL_TIMEOUT` or `POLL_INTERVAL`"
    );
}

#[test]
fn one_word_has_one_meaning() {
    let mut found = Vec::new();
    for path in files("rs") {
        let below = below_crates(&path);
        let text = std::fs::read_to_string(&path).unwrap();
        let code = blank(&text);
        let hits = words(&code).filter(|word| word.to_lowercase().contains("settle"));
        found.extend(hits.map(|word| format!("{below}: {word}")));
        let types = names_after(&code, &["struct", "enum", "trait", "type"]);
        let places = types.filter(|name| *name == "Place" && below != PLACE);
        found.extend(places.map(|name| format!("{below}: {name}")));
    }
    assert_eq!(
        found,
        Vec::<String>::new(),
        "`settle` had nine meanings and `Place` seven: say what happens, and what it is"
    );
}

#[test]
fn comments_name_the_actor() {
    let mut found = Vec::new();
    for path in files("rs") {
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            if let Some(word) = hidden_actor(line).or_else(|| comment_phrase(line)) {
                found.push(format!("{}:{}: {word}", path.display(), number + 1));
            }
        }
    }
    assert_eq!(
        found,
        Vec::<String>::new(),
        "a sentence names who does something (the caller, another process, a person), in ordinary words"
    );
}

#[test]
fn messages_use_ordinary_words() {
    let mut found = Vec::new();
    let is_product = |source: &Source| !source.krate.ends_with("testkit");
    for source in product_sources().into_iter().filter(is_product) {
        for (at, literal) in literals(&source.text) {
            if let Some(phrase) = unusual_phrase(&literal) {
                let line = source.text[..at].lines().count();
                let place = format!("crates/{}/src/{}:{line}", source.krate, source.path);
                found.push(describe_phrase(&place, phrase));
            }
        }
    }
    for path in skill_files() {
        let text = std::fs::read_to_string(&path).unwrap();
        for (line, paragraph) in paragraphs(&text) {
            if let Some(phrase) = unusual_phrase(&paragraph) {
                found.push(describe_phrase(
                    &format!("{}:{line}", path.display()),
                    phrase,
                ));
            }
        }
    }
    assert_eq!(
        found,
        Vec::<String>::new(),
        "people read these texts once, quickly: use the field's ordinary words"
    );
}

/// Returns the files of the skills that deft ships.
fn skill_files() -> Vec<PathBuf> {
    let folders = SKILL_FOLDERS.iter().map(|folder| root().join(folder));
    let found = folders.flat_map(|folder| {
        let kinds = ["json", "md", "yaml"].into_iter();
        kinds.flat_map(move |extension| files_in(&folder, extension))
    });
    let mut found: Vec<PathBuf> = found.collect();
    found.sort();
    found
}

/// Returns the paragraphs of a text, each with the number of its first line. Braces are left out: in a skill
/// they hold text of examples, not values as in a message.
fn paragraphs(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut next = 1;
    text.split("\n\n").map(move |paragraph| {
        let first = next;
        next += paragraph.lines().count() + 1;
        (first, paragraph.replace(['{', '}'], " "))
    })
}

fn describe_phrase(place: &str, (phrase, instead): (&str, &str)) -> String {
    format!("{place}: `{phrase}`; write for example `{instead}`")
}

/// Returns the identifiers that follow one of these keywords.
fn names_after<'a>(code: &'a str, keywords: &'a [&str]) -> impl Iterator<Item = &'a str> {
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

/// Whether the name of a function is a single word that does not say what the function does.
fn is_vague_function(name: &str) -> bool {
    let participle = name.len() > 4 && (name.ends_with("ed") || name.ends_with("ing"));
    let regular = participle && !name.contains('_') && !FUNCTION_WORDS.contains(&name);
    regular || VAGUE_FUNCTIONS.contains(&name)
}

/// Whether a name in capitals is this word, or begins with it.
fn starts_with_word(name: &str, word: &str) -> bool {
    name.strip_prefix(word)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// Returns the path of a file below `crates`, or below the root of the project.
fn below_crates(path: &Path) -> String {
    let root = root();
    let below = path.strip_prefix(root.join("crates"));
    let below = below.or_else(|_| path.strip_prefix(&root));
    below.unwrap_or(path).display().to_string()
}

/// Returns the first of [`COMMENT_PHRASES`] in the comment of a line.
fn comment_phrase(line: &str) -> Option<&'static str> {
    let sentence = sentence(line.split_once("//")?.1);
    let mut phrases = COMMENT_PHRASES.iter();
    phrases
        .find(|phrase| sentence.contains(&format!(" {phrase} ")))
        .copied()
}

/// Returns the first hidden actor in the comment of a line.
fn hidden_actor(line: &str) -> Option<&'static str> {
    let sentence = sentence(line.split_once("//")?.1);
    let mut actors = HIDDEN_ACTORS.iter();
    actors
        .find(|actor| sentence.contains(&format!(" {actor} ")))
        .copied()
}

/// Returns the first hidden actor or indirect phrase in the name of a function.
fn indirect_phrase(name: &str) -> Option<(&'static str, &'static str)> {
    let words = sentence(name);
    let actors = HIDDEN_ACTORS.iter().map(|actor| (*actor, "the_caller"));
    let mut phrases = actors.chain(PHRASES.iter().chain(NAME_PHRASES).copied());
    phrases.find(|(phrase, _)| words.contains(&format!(" {phrase} ")))
}

/// Returns the first of [`PHRASES`] in a literal.
fn unusual_phrase(literal: &str) -> Option<(&'static str, &'static str)> {
    let text = without_placeholders(&literal.replace("\\n", " "));
    let mut sentence = sentence(&text);
    for other in OTHER_MEANINGS {
        sentence = sentence.replace(other, " ");
    }
    let mut phrases = PHRASES.iter();
    let found = phrases.find(|(phrase, _)| sentence.contains(&format!(" {phrase} ")));
    found.copied()
}

/// Replaces what stands in braces, which is a value or the name of one.
fn without_placeholders(text: &str) -> String {
    let mut parts = text.split('{');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(" value ");
        out.push_str(part.split_once('}').map_or(part, |(_, rest)| rest));
    }
    out
}

/// Returns the words of a text in lower case, with one space before and after each.
fn sentence(text: &str) -> String {
    let text = text.to_lowercase();
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    format!(" {} ", words.join(" "))
}

#[test]
fn the_scanner_reads_literals() {
    let text = "f(\"the run \\\n     is over\"); // \"goes on\"\nlet x = r#\"it goes on\"#; 'a';";
    let found: Vec<_> = literals(text)
        .into_iter()
        .map(|(at, literal)| (at, unusual_phrase(&literal).map(|(phrase, _)| phrase)))
        .collect();
    assert_eq!(found, [(2, Some("is over")), (50, Some("goes on"))]);
    assert_eq!(unusual_phrase("Each command goes on its own line"), None);
    assert_eq!(unusual_phrase("the wait is overdue"), None);
}

#[test]
fn the_scanner_reads_skills() {
    let text = "---\nname: a\n---\n\n# A\n\n- Keep the file\n  for good.\n\n{\"b\": {\"c\": \"it goes on\"}}\n";
    let found: Vec<_> = paragraphs(text)
        .filter_map(|(line, paragraph)| Some((line, unusual_phrase(&paragraph)?.0)))
        .collect();
    assert_eq!(found, [(7, "for good"), (10, "goes on")]);
    assert!(skill_files().iter().any(|path| path.ends_with("SKILL.md")));
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
    let functions = ["shown", "listed", "coming", "why"];
    assert!(functions.iter().all(|name| is_vague_function(name)));
    let functions = ["list_tools", "read", "seed", "spending", "failed_rows"];
    assert!(!functions.iter().any(|name| is_vague_function(name)));
    let phrase = |name| indirect_phrase(name).map(|(phrase, _)| phrase);
    assert_eq!(phrase("whoever_waits_is_woken"), Some("whoever"));
    assert_eq!(phrase("what_is_no_job_is_refused"), Some("what"));
    assert_eq!(phrase("a_run_goes_on"), Some("goes on"));
    assert_eq!(phrase("an_unknown_job_is_an_error"), None);
    assert_eq!(phrase("a_somewhat_late_run"), None);
    assert!(starts_with_word("MOST", "MOST") && starts_with_word("MOST_RUNS", "MOST"));
    assert!(!starts_with_word("MOSTLY", "MOST") && !starts_with_word("MAX_RUNS", "MOST"));
    let code = "pub struct One; impl One { fn two() {} } type Three = u8;";
    let types: Vec<&str> = names_after(code, &["struct", "type"]).collect();
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
