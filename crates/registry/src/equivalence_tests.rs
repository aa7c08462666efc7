//! Property: reading only what an event names gives the same result as reading everything.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use deft_skillfile::Moment;
use jiff::tz::TimeZone;

use crate::options::Options;
use crate::snapshot::Snapshot;

/// A simple generator is enough here and makes every failure reproducible.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.roll(items.len())]
    }
}

const FOLDERS: &[&str] = &["a", "b", "a/x", "a/x/deep", "b/y", "c", "c/z"];
const FILES: &[&str] = &["SKILL.md", "send.md", "read.md", "flow.yaml", "notes.txt"];

fn content(dice: &mut Dice, folder: &str, file: &str) -> String {
    let stem = file.split('.').next().unwrap();
    let domain = folder.split('/').next().unwrap();
    let word = dice.roll(3);
    match file {
        "SKILL.md" => match dice.roll(3) {
            0 => format!("---\ndomain: {domain}\ndescription: d{word}\n---\n# Index\n"),
            1 => format!("---\ndomain: other{word}\ndescription: d\n---\n# Index\n"),
            _ => format!("---\nname: skill{word}\ndescription: s\n---\nText {word}.\n"),
        },
        "flow.yaml" => {
            format!("name: flow{word}\ndescription: f\nsteps:\n  - id: log_it\n    tool: log\n")
        }
        "notes.txt" => format!("notes {word}"),
        _ => format!("---\nname: {domain}.{stem}\ndescription: p{word}\n---\n# Page\n"),
    }
}

/// Changes some files and returns the paths that events would name.
fn act(dice: &mut Dice, root: &Path) -> Vec<PathBuf> {
    let folder = dice.pick(FOLDERS);
    let path = root.join(folder);
    match dice.roll(6) {
        0 if path.is_dir() => {
            fs::remove_dir_all(&path).unwrap();
            vec![path]
        }
        1 if path.is_dir() => {
            let target = root.join(dice.pick(FOLDERS));
            if target.exists() || target.starts_with(&path) || !target.parent().unwrap().is_dir() {
                return Vec::new();
            }
            fs::rename(&path, &target).unwrap();
            vec![path, target]
        }
        2 => {
            let file = path.join(dice.pick(FILES));
            if fs::remove_file(&file).is_err() {
                return Vec::new();
            }
            vec![file]
        }
        _ => {
            // Of newly created folders, an event names only the topmost.
            let first_new = path.ancestors().take_while(|above| !above.exists()).last();
            let named = first_new.map(Path::to_path_buf);
            fs::create_dir_all(&path).unwrap();
            let name = dice.pick(FILES);
            let file = path.join(name);
            fs::write(&file, content(dice, folder, name)).unwrap();
            vec![named.unwrap_or(file)]
        }
    }
}

/// Renders everything visible in a snapshot.
fn render_snapshot(snapshot: &Snapshot) -> String {
    let mut out = String::new();
    for file in snapshot.files() {
        out.push_str(&format!(
            "{} {:?} {:?}\n",
            file.path.display(),
            file.state,
            file.diagnostics
        ));
    }
    for loaded in snapshot.skills() {
        let siblings: Vec<&str> = loaded
            .siblings
            .iter()
            .map(|file| file.path.as_str())
            .collect();
        out.push_str(&format!(
            "{} {} {:?} {siblings:?}\n",
            loaded.skill.id, loaded.revision, loaded.skill.domain
        ));
    }
    for (name, domain) in snapshot.domains() {
        out.push_str(&format!("{name} {domain:?}\n"));
    }
    out
}

#[test]
fn an_update_gives_the_same_result_as_a_load() {
    let moment = Moment {
        now: "2026-11-15T12:00:00Z".parse().unwrap(),
        zone: TimeZone::UTC,
    };
    for seed in 0..60 {
        let mut dice = Dice(seed);
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let options = Options::new([root.clone()]);
        let mut snapshot = Snapshot::load(&options, &moment);
        for step in 0..40 {
            let mut paths: HashSet<PathBuf> = act(&mut dice, &root).into_iter().collect();
            if dice.roll(3) == 0 {
                paths.extend(act(&mut dice, &root));
            }
            snapshot = snapshot
                .update(&options, &moment, &paths)
                .unwrap_or(snapshot);
            let fresh = Snapshot::load(&options, &moment);
            assert_eq!(
                render_snapshot(&snapshot),
                render_snapshot(&fresh),
                "seed {seed}, step {step}, after {paths:?}"
            );
            let rescanned = snapshot.rescan(&options, &moment);
            assert_eq!(
                render_snapshot(&rescanned),
                render_snapshot(&fresh),
                "rescan, seed {seed}, step {step}"
            );
        }
    }
}
