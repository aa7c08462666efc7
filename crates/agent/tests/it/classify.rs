//! Messages and the playbooks that match them, as tables.

use std::fs;
use std::path::{Path, PathBuf};

use deft_agent::{Classification, Classifier, Match, MatchLimits, Playbook};
use deft_model::Skill;
use deft_skillfile::{Document, FileLocation, Moment, Profile, parse};
use jiff::Timestamp;
use jiff::tz::TimeZone;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn rows(file: &str) -> Vec<String> {
    let text = fs::read_to_string(folder("tests/classify").join(file)).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.map(str::to_owned).collect()
}

fn playbook(id: &str, keywords: &[&str]) -> Playbook {
    Playbook {
        id: id.to_owned(),
        keywords: keywords.iter().map(|&word| word.to_owned()).collect(),
        priority: 0,
        tools: Vec::new(),
        chars: 100,
    }
}

fn ids(matches: &[Match]) -> Vec<&str> {
    matches.iter().map(|found| found.id.as_str()).collect()
}

#[test]
fn keywords_are_whole_words() {
    for row in rows("words.txt") {
        let [keyword, message, expected] = row.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("a row is not `keyword | message | yes or no`: {row}");
        };
        let classifier = Classifier::new([playbook("p", &[keyword])]).unwrap();
        let found = classifier.classify(message, &MatchLimits::default());
        let expected = match expected {
            "yes" => vec!["p"],
            "no" => vec![],
            other => panic!("neither yes nor no: {other}"),
        };
        assert_eq!(ids(&found.matched), expected, "{row}");
    }
}

fn default_skills() -> Vec<Skill> {
    let moment = Moment {
        now: Timestamp::UNIX_EPOCH,
        zone: TimeZone::UTC,
    };
    let mut folders: Vec<PathBuf> = fs::read_dir(folder("../service/defaults/skills"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    let read = |folder: PathBuf| {
        let bytes = fs::read(folder.join("SKILL.md")).unwrap();
        let location = FileLocation {
            file: "SKILL.md",
            folder: folder.file_name().unwrap().to_str().unwrap(),
            domain: None,
        };
        match parse(&bytes, &location, Profile::Deft, &moment).document {
            Some(Document::Skill(skill)) => *skill,
            other => panic!("{}: {other:?}", folder.display()),
        }
    };
    folders.into_iter().map(read).collect()
}

fn defaults() -> Classifier {
    Classifier::new(default_skills().iter().filter_map(Playbook::from_skill)).unwrap()
}

#[test]
fn there_are_fifteen_default_playbooks() {
    assert_eq!(defaults().len(), 15);
}

#[test]
fn messages_select_the_default_playbooks() {
    let classifier = defaults();
    let mut differences = Vec::new();
    for row in rows("defaults.txt") {
        let (message, expected) = row.split_once(" =>").unwrap();
        let found = classifier.classify(message, &MatchLimits::default());
        let said = |found: &Match| {
            let quoted: Vec<String> = (found.keywords.iter())
                .map(|keyword| format!("\"{keyword}\""))
                .collect();
            format!("{} {}", found.id, quoted.join(" "))
        };
        let said: Vec<String> = found.matched.iter().map(said).collect();
        if said.join("; ") != expected.trim() {
            differences.push(format!("{message} => {}", said.join("; ")));
        }
    }
    assert_eq!(differences, Vec::<String>::new());
}

/// S0.30, S0.31: every request for something later or repeatedly finds the playbook, and no other message
/// does.
#[test]
fn scheduling_intent_is_detected() {
    let classifier = defaults();
    let mut wrong = Vec::new();
    for row in rows("scheduling.txt") {
        let (expected, message) = row.split_once(" | ").unwrap();
        let found = classifier.classify(message, &MatchLimits::default());
        let scheduling = (found.matched.iter()).find(|found| found.id == "cron-scheduling");
        if scheduling.is_some() != (expected == "yes") {
            wrong.push(format!("{row}: {:?}", scheduling.map(Match::reason)));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_reminder_offers_the_tools_that_store_it() {
    let found = defaults().classify(
        "Remind me in 5 minutes to drink water",
        &MatchLimits::default(),
    );
    assert_eq!(found.tools(), ["memory_store_skill", "notify"]);
    assert_eq!(
        found.matched[0].reason(),
        "matched \"remind me\", \"in <n> minutes\""
    );
}

#[test]
fn higher_priority_comes_first_within_limits() {
    let sized = |id: &str, priority: i64, chars: usize, keywords: &[&str]| Playbook {
        priority,
        chars,
        tools: vec![format!("{id}_tool"), "shared".to_owned()],
        ..playbook(id, keywords)
    };
    let classifier = Classifier::new([
        sized("low", 1, 10, &["mail"]),
        sized("long", 5, 900, &["mail"]),
        sized("high", 9, 50, &["mail", "Mail", " "]),
        sized("two", 1, 10, &["mail", "new"]),
        sized("absent", 99, 10, &["calendar"]),
    ])
    .unwrap();
    let classify = |count, chars| {
        let limits = MatchLimits { count, chars };
        let Classification { matched, left_out } = classifier.classify("new mail", &limits);
        let ids = |found: Vec<Match>| found.into_iter().map(|one| one.id).collect::<Vec<_>>();
        (ids(matched).join(" "), ids(left_out).join(" "))
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(classify(9, 9_000), pair("high long two low", ""));
    assert_eq!(classify(2, 9_000), pair("high long", "two low"));
    assert_eq!(classify(9, 70), pair("high two low", "long"));
    assert_eq!(classify(9, 1), pair("high", "long two low"));
    assert_eq!(classify(0, 9_000), pair("", "high long two low"));
    let limits = MatchLimits {
        count: 2,
        chars: 9_000,
    };
    let found = classifier.classify("new mail", &limits);
    assert_eq!(found.tools(), ["high_tool", "shared", "long_tool"]);
}

#[test]
fn two_thousand_playbooks_are_matched_by_keyword() {
    let all = (0..2_000).map(|at| playbook(&format!("p{at}"), &[&format!("word {at}"), "and"]));
    let classifier = Classifier::new(all).unwrap();
    let limits = MatchLimits {
        count: 5_000,
        chars: usize::MAX,
    };
    let found = classifier.classify("word 17 or word 1999", &limits);
    assert_eq!(ids(&found.matched), ["p17", "p1999"]);
    assert_eq!(
        classifier.classify("this and that", &limits).matched.len(),
        2_000
    );
    // Text that is pasted after a message matches nothing.
    let pasted = format!("{} and", "x ".repeat(20_000));
    assert_eq!(
        classifier.classify(&pasted, &limits),
        Classification::default()
    );
}
