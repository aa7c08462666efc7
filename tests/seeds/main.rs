//! The product's documents as a test: every block, row and phrase of `../shared/seeds` is in a case or marked as prose.
//!
//! The documents are read when the test runs; cases name places in them and never repeat their words. Where
//! the documents are absent, only the cases of our own are run. `README.md` says how a case is written.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test names the variants it is about, and fails on all others"
)]
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod case;
mod cut;
mod fill;
mod home;
mod run;
#[expect(dead_code, reason = "the other tests of the binary use the rest")]
#[path = "../../crates/cli/tests/it/support.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use case::{Case, Cases, Prose, Reference};
use cut::{Document, Kind, documents, hash};
use run::Outcome;

/// How many cases of a file run at once.
const WORKERS: usize = 4;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/seeds/cases")
}

/// The documents, or nothing where they are absent; that is reported by one test.
fn seeds() -> Vec<Document> {
    let folder = deft_testkit::shared_path("seeds");
    if folder.exists() {
        documents(&folder)
    } else {
        Vec::new()
    }
}

fn read(file: &str) -> Cases {
    let text = std::fs::read_to_string(folder().join(file)).unwrap();
    case::parse(file, &text)
}

/// Runs the cases of a file; a case that needs the words of a document is left out where there are none.
fn run_file(file: &str) -> String {
    let documents = seeds();
    let cases = read(file).cases;
    let only = std::env::var_os("CASE").map(|only| only.to_string_lossy().into_owned());
    let is_wanted = |case: &&Case| {
        let left_out = documents.is_empty() && case.needs_documents();
        !left_out && only.as_ref().is_none_or(|only| case.title.contains(only))
    };
    let wanted: Vec<&Case> = cases.iter().filter(is_wanted).collect();
    let (mut good, mut fails, mut problems) = (0, Vec::new(), Vec::new());
    for outcome in run_all(&wanted, &documents) {
        let title = outcome.title;
        match (outcome.result, outcome.fails) {
            (Ok(()), None) => good += 1,
            (Err(problem), None) => problems.push(format!("== {title}\n{problem}")),
            (Err(problem), Some(reason)) => {
                let short: String = problem
                    .lines()
                    .next()
                    .unwrap_or_default()
                    .chars()
                    .take(300)
                    .collect();
                fails.push(format!("{title}: {reason}\n    {short}"));
            }
            (Ok(()), Some(_)) => problems.push(format!(
                "== {title}\nis marked with `fails` and does not fail: take the mark away"
            )),
        }
    }
    assert!(
        problems.is_empty(),
        "{file}: {} cases are not as expected\n\n{}",
        problems.len(),
        problems.join("\n\n")
    );
    let mut report = format!("{file}: {good} cases hold, {} fail today", fails.len());
    for one in fails {
        report.push_str(&format!("\n  {one}"));
    }
    report
}

/// Runs cases beside each other: most of their time is spent waiting for processes.
fn run_all(cases: &[&Case], documents: &[Document]) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.extend(run::run(case, documents));
        }
        done
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        let done = workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap());
        done.collect()
    })
}

macro_rules! case_files {
    ($($name:ident = $file:literal,)*) => {
        const FILES: &[&str] = &[$($file),*];
        $(
            #[test]
            fn $name() {
                println!("{}", run_file($file));
            }
        )*
    };
}

case_files! {
    document_000 = "000.txt",
    document_001 = "001.txt",
    document_002 = "002.txt",
    document_003 = "003.txt",
    document_004 = "004.txt",
    own_agents = "own_agents.txt",
    own_chats = "own_chats.txt",
    own_commands = "own_commands.txt",
    own_resilience = "own_resilience.txt",
    own_schedule = "own_schedule.txt",
}

#[test]
fn no_case_file_is_forgotten() {
    let mut there: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    let mut known = FILES.to_vec();
    known.sort_unstable();
    assert_eq!(there, known);
}

/// Each cut is in a case or marked, and each place that is named is there and reads as it did.
#[test]
fn every_cut_is_covered() {
    if deft_testkit::find_shared("seeds").is_none() {
        return;
    }
    let documents = seeds();
    let update = std::env::var_os("UPDATE").is_some();
    let mut problems = Vec::new();
    let (mut tried, mut marks) = (Vec::new(), Vec::new());
    for file in FILES {
        if update {
            fill_hashes(file, &documents);
        }
        let cases = read(file);
        for case in &cases.cases {
            for reference in &case.cuts {
                problems.extend(check_reference(&documents, reference, &case.title));
                tried.push(reference.place.clone());
            }
        }
        for prose in cases.prose {
            problems.extend(check_reference(&documents, &prose.place, &prose.reason));
            marks.push((prose, 0));
        }
    }
    for document in &documents {
        for cut in &document.cuts {
            let place = cut.to_string();
            if tried.contains(&place) {
                continue;
            }
            let mark = marks.iter_mut().find(|(prose, _)| covers(prose, cut));
            match mark {
                Some((_, count)) => *count += 1,
                None => problems.push(format!(
                    "{place} {:?}: no case covers it: {}",
                    cut.kind, cut.text
                )),
            }
        }
    }
    let idle = marks.iter().filter(|(_, count)| *count == 0);
    problems
        .extend(idle.map(|(prose, _)| format!("{}: the mark marks nothing", prose.place.place)));
    assert!(
        problems.is_empty(),
        "{}\n{} problems",
        problems.join("\n"),
        problems.len()
    );
    for document in &documents {
        println!("{}", figures(document, &tried));
    }
}

fn figures(document: &Document, tried: &[String]) -> String {
    let count =
        |wanted: fn(&Kind) -> bool| document.cuts.iter().filter(|cut| wanted(&cut.kind)).count();
    let places = document.cuts.iter().map(ToString::to_string);
    let in_cases = places.filter(|place| tried.contains(place)).count();
    format!(
        "{}: {} blocks, {} rows, {} phrases; {} in cases, {} prose",
        document.name,
        count(|kind| *kind == Kind::Block),
        count(|kind| *kind == Kind::Row),
        count(|kind| matches!(kind, Kind::Phrase(_))),
        in_cases,
        document.cuts.len() - in_cases,
    )
}

fn covers(prose: &Prose, cut: &cut::Cut) -> bool {
    let (document, first, last, phrase) = prose.place.parts();
    let fits = match (prose.kind.as_str(), cut.kind) {
        ("all", _) | ("blocks", Kind::Block) | ("rows", Kind::Row) => true,
        ("phrases", Kind::Phrase(number)) => phrase.is_none_or(|wanted| wanted == number),
        _ => false,
    };
    fits && document == cut.document && first <= cut.first && cut.last <= last
}

/// The text that a reference is about: a cut, or whole lines.
fn referred(documents: &[Document], reference: &Reference) -> Option<String> {
    if let Some((_, cut)) = run::find(documents, &reference.place) {
        return Some(cut.text.clone());
    }
    let (name, first, last, phrase) = reference.parts();
    let document = documents.iter().find(|document| document.name == name)?;
    document.text(first, last).filter(|_| phrase.is_none())
}

fn check_reference(documents: &[Document], reference: &Reference, by: &str) -> Option<String> {
    let place = &reference.place;
    let Some(text) = referred(documents, reference) else {
        return Some(format!("{place}: is not there ({by})"));
    };
    let now = hash(&text);
    (now != reference.hash)
        .then(|| format!("{place}: has changed; look at `{by}` and write `{place}@{now}`"))
}

/// Puts hashes where a case file has `@?`.
fn fill_hashes(file: &str, documents: &[Document]) {
    let path = folder().join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let word = |word: &str| -> String {
        let place = word.strip_suffix("@?").filter(|place| place.contains(':'));
        let Some(place) = place else {
            return word.to_owned();
        };
        let reference = Reference::parse(word);
        let found = referred(documents, &reference);
        found.map_or_else(
            || word.to_owned(),
            |text| format!("{place}@{}", hash(&text)),
        )
    };
    let lines = text.lines().map(|line| {
        if !line.contains("@?") {
            return line.to_owned();
        }
        line.split(' ').map(word).collect::<Vec<_>>().join(" ")
    });
    let filled = lines.collect::<Vec<_>>().join("\n") + "\n";
    if filled != text {
        std::fs::write(&path, filled).unwrap();
    }
}
