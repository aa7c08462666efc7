//! Benchmarks of the registry, printed as a table: load time and memory of 10,000 skills, and the time until
//! an edit among them is visible.
//!
//! Run with `cargo bench -p deft-registry`; the table in `docs/performance.md` is its output.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench prints its figures and may fail loudly"
)]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use deft_registry::{MAX_FILE_BYTES, Options, Registry, Snapshot, read_regular, skill_mds};
use deft_skillfile::{FileLocation, Moment, Profile, parse};
use jiff::tz::TimeZone;
use rayon::prelude::*;

fn main() {
    // Only `cargo bench` passes this flag; with `cargo test --benches` one small round checks that it works.
    let smoke = !std::env::args().any(|arg| arg == "--bench");
    let count = if smoke { 100 } else { 10_000 };
    println!("| what | figure |\n| --- | --- |");
    let before = resident_kb();
    let folder = tempfile::tempdir().unwrap();
    mixed(folder.path(), count);
    load(
        &format!("load {count} mixed skill files"),
        folder.path(),
        Some(before),
        smoke,
    );
    edits(folder.path(), if smoke { 3 } else { 100 });
    rescan(folder.path());
    corpus(if smoke { 1 } else { 20 });
    workflow_parse(if smoke { 10 } else { 20_000 });
    if !smoke {
        let folder = tempfile::tempdir().unwrap();
        large(folder.path(), count);
        load(
            &format!("load {count} SKILL.md of 7 KB"),
            folder.path(),
            None,
            smoke,
        );
    }
}

fn moment() -> Moment {
    Moment {
        now: "2026-11-15T12:00:00Z".parse().unwrap(),
        zone: TimeZone::UTC,
    }
}

/// Measures the load time over several rounds, and the memory after the first.
fn load(what: &str, root: &Path, before_kb: Option<u64>, smoke: bool) {
    let options = Options::new([root.to_path_buf()]);
    // The first round warms the page cache and is not counted.
    let first = Snapshot::load(&options, &moment());
    let count = first.skill_count();
    let memory = before_kb.map(|before| resident_kb().saturating_sub(before));
    let rounds = if smoke { 1 } else { 10 };
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            let snapshot = Snapshot::load(&options, &moment());
            let time = start.elapsed();
            assert_eq!(snapshot.skill_count(), count);
            time
        })
        .collect();
    times.sort();
    let range = format!(
        "{:.0} to {:.0} ms",
        millis(times[0]),
        millis(times[times.len() - 1])
    );
    println!("| {what} | {range} ({rounds} rounds), {count} skills |");
    // The memory of later rounds is hidden by the memory freed by earlier ones.
    if let Some(memory) = memory {
        let memory = f64::from(u32::try_from(memory).unwrap()) / 1024.0;
        println!("| memory they take | {memory:.1} MB |");
    }
    drop(first);
}

/// Measures the time from a save to the first snapshot that contains it: for a skill in its own folder, for
/// one file among thousands, and for a new folder.
fn edits(root: &Path, rounds: usize) {
    let registry = Registry::open(Options::new([root.to_path_buf()]), moment);
    let rewrite = |round: usize| {
        let text = format!("edit {round}");
        write(
            root,
            "skill-00000/SKILL.md",
            &skill_md("skill-00000", &text, 4000),
        );
        ("skill-00000".to_owned(), text)
    };
    latency(
        "edit of a SKILL.md visible among them",
        &registry,
        rounds,
        rewrite,
    );
    let among_many = |round: usize| {
        let text = format!("edit {round}");
        let yaml =
            workflow("flow_8").replace("Begin work on an issue with a branch of its own", &text);
        write(root, "flows/flow_8.yaml", &yaml);
        ("flow_8".to_owned(), text)
    };
    latency(
        "edit of one workflow in a folder of thousands",
        &registry,
        rounds,
        among_many,
    );
    let new_folder = |round: usize| {
        let name = format!("new-{round}");
        write(
            root,
            &format!("{name}/SKILL.md"),
            &skill_md(&name, "New.", 4000),
        );
        (name, "New.".to_owned())
    };
    latency(
        "new skill folder in the root",
        &registry,
        rounds,
        new_folder,
    );
}

fn latency(
    what: &str,
    registry: &Registry,
    rounds: usize,
    save: impl Fn(usize) -> (String, String),
) {
    let shows = |id: &str, text: &str| {
        let snapshot = registry.snapshot();
        snapshot
            .skill(id)
            .is_some_and(|loaded| loaded.skill.description == text)
    };
    let mut times: Vec<Duration> = (0..rounds)
        .map(|round| {
            let start = Instant::now();
            let (id, text) = save(round);
            while !shows(&id, &text) {
                // A busy-waiting reader would take a core that the registry needs.
                std::thread::sleep(Duration::from_micros(200));
                assert!(
                    start.elapsed() < Duration::from_secs(10),
                    "{id} never showed"
                );
            }
            start.elapsed()
        })
        .collect();
    times.sort();
    let at = |share: usize| millis(times[(times.len() * share / 100).min(times.len() - 1)]);
    println!(
        "| {what}, p50 / p99 / max | {:.0} / {:.0} / {:.0} ms |",
        at(50),
        at(99),
        at(100)
    );
}

/// Measures a comparison with the file system when nothing changed.
fn rescan(root: &Path) {
    let options = Options::new([root.to_path_buf()]);
    let snapshot = Snapshot::load(&options, &moment());
    let start = Instant::now();
    let again = snapshot.rescan(&options, &moment());
    assert_eq!(again.skill_count(), snapshot.skill_count());
    println!(
        "| compare them with the disk (rescan, nothing changed) | {:.0} ms |",
        millis(start.elapsed())
    );
}

/// Finds, parses and validates the public skills next to the checkout with the rules of the open format, like
/// `deft skills validate`.
fn corpus(rounds: usize) {
    let Some(root) = deft_testkit::find_shared("corpus/agentskills") else {
        println!("| validate the corpus | skipped: it is not beside the checkout |");
        return;
    };
    let moment = moment();
    let judge = |path: &std::path::PathBuf| {
        let bytes = read_regular(path, MAX_FILE_BYTES).unwrap();
        let folder = path
            .parent()
            .and_then(Path::file_name)
            .and_then(|name| name.to_str())
            .unwrap();
        let location = FileLocation {
            file: "SKILL.md",
            folder,
            domain: None,
        };
        parse(&bytes, &location, Profile::AgentSkills, &moment)
    };
    let mut count = 0;
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            let verdicts: Vec<_> = skill_mds(&root).par_iter().map(judge).collect();
            count = verdicts.len();
            start.elapsed()
        })
        .collect();
    times.sort();
    let at = |share: usize| millis(times[(times.len() - 1) * share / 100]);
    println!(
        "| validate {count} SKILL.md in this process, best / median / worst of {rounds} | {:.1} / {:.1} / {:.1} ms |",
        at(0),
        at(50),
        at(100),
    );
}

/// Parses and checks one workflow of about 1.2 KB.
fn workflow_parse(rounds: u32) {
    let text = workflow("start_work");
    let location = FileLocation {
        file: "start_work.yaml",
        folder: "skills",
        domain: None,
    };
    let moment = moment();
    let start = Instant::now();
    for _ in 0..rounds {
        let parsed = parse(text.as_bytes(), &location, Profile::Deft, &moment);
        assert!(std::hint::black_box(parsed).document.is_some());
    }
    let each = start.elapsed() / rounds;
    println!(
        "| parse and check one workflow of {} bytes | {:.1} µs |",
        text.len(),
        each.as_secs_f64() * 1e6
    );
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Returns the resident memory of this process, in kB.
fn resident_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let digits = line.and_then(|line| line.split_whitespace().next());
    digits
        .and_then(|digits| digits.parse().ok())
        .unwrap_or_default()
}

/// Creates 40 % folders of 4 KB, 40 % man pages and 20 % workflows, both of 1.2 KB: about the mix and sizes
/// of public collections.
fn mixed(root: &Path, count: usize) {
    for at in 0..count {
        let (path, text) = match at % 10 {
            0..4 => (
                format!("skill-{at:05}/SKILL.md"),
                skill_md(&format!("skill-{at:05}"), "Does it.", 4000),
            ),
            4..8 => {
                let name = format!("domain{}.action{at}", at / 100);
                (format!("domain{}/action{at}.md", at / 100), page(&name))
            }
            _ => (
                format!("flows/flow_{at}.yaml"),
                workflow(&format!("flow_{at}")),
            ),
        };
        write(root, &path, &text);
    }
}

fn large(root: &Path, count: usize) {
    for at in 0..count {
        let name = format!("skill-{at:05}");
        write(
            root,
            &format!("{name}/SKILL.md"),
            &skill_md(&name, "Does it.", 7000),
        );
    }
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn skill_md(name: &str, description: &str, bytes: usize) -> String {
    let mut text = format!(
        "---\nname: {name}\ndescription: {description}\nlicense: MIT\nmetadata:\n  author: bench\n---\n\n# {name}\n\n"
    );
    let mut line = 0;
    while text.len() < bytes {
        line += 1;
        text.push_str(&format!(
            "{line}. Look at item {line} of {name} and write down what is unusual about it.\n"
        ));
    }
    text
}

fn page(name: &str) -> String {
    let flags: String = (0..8)
        .map(|at| format!("--flag-{at}    What flag {at} is for. One of: alpha, beta, gamma (default: alpha)\n"))
        .collect();
    format!(
        "---\nname: {name}\ndescription: A command for the bench\ntags: [bench, page]\n---\n\n# {name}\n\nDoes something.\n\n## Usage\n\n{name} --flag-0 <word>\n\n## Flags\n\n{flags}\n## Behavior\n\nDo what the flags say, in order, and stop at the first failure.\n\n## Examples\n\n{name} --flag-0 alpha\n"
    )
}

fn workflow(name: &str) -> String {
    format!(
        r#"name: {name}
description: Begin work on an issue with a branch of its own
version: "1.0"
inputs:
  - name: issue_key
    type: string
    required: true
    pattern: "^[A-Z]+-\\d+$"
  - name: branch_prefix
    type: string
    default: feature
    enum: [feature, fix, hotfix]
steps:
  - id: get_issue
    tool: jira_view_issue
    args:
      issue_key: "{{{{ inputs.issue_key }}}}"
    output: issue_data
  - id: build_branch_name
    compute: |
      summary = issue_data.get("summary", "work")[:40]
      slug = summary.lower().replace(" ", "-")
      result = f"{{inputs.branch_prefix}}/{{inputs.issue_key}}-{{slug}}"
    output: branch_name
  - id: check_branch
    tool: git_branch_exists
    args:
      branch: "{{{{ branch_name }}}}"
    on_error: continue
  - id: create_branch
    condition: "not check_branch or '✅' not in str(check_branch)"
    tool: git_create_branch
    args:
      branch: "{{{{ branch_name }}}}"
      from_branch: main
    heal: [{{when: network, tool: vpn_connect}}]
outputs:
  branch: "{{{{ branch_name }}}}"
  issue: "{{{{ issue_data }}}}"
confirmations:
  - step: create_branch
    message: "Create branch {{{{ branch_name }}}}?"
    default: true
"#
    )
}
