//! `deft skills import`: copies skills into the home.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use deft_model::Body;
use deft_registry::{FileReport, Loaded, Options, Snapshot, State};
use deft_skillfile::{Document, FileKind, Moment, Severity, parse_record, render};
use serde_json::{Value, json};

use super::files::{Effect, Planned, check_conflicts};
use crate::args::{Global, Import};
use crate::failure::{Done, Failure};
use crate::home::Home;
use crate::output::{Output, counted};

pub(crate) fn run(args: &Import, global: &Global, output: &Output) -> Done {
    let home = Home::open(global)?;
    let mut import = Plan::default();
    for path in &args.paths {
        import.add(path, &home)?;
    }
    if import.files.is_empty() && import.refused.is_empty() {
        return Err(
            Failure::input("nothing_to_import", "there are no skills in what was given")
                .hint("`deft skills validate PATH` says what deft sees there"),
        );
    }
    check_conflicts(&import.files, args.force || args.dry_run)?;
    let effects: Vec<Effect> = import.files.iter().map(Planned::effect).collect();
    if !args.dry_run {
        home.ensure()?;
        for (file, effect) in import.files.iter().zip(&effects) {
            if *effect != Effect::Same {
                file.write()?;
            }
        }
    }
    import.print(&effects, args.dry_run, output)?;
    Ok(ExitCode::from(u8::from(!import.refused.is_empty())))
}

/// What is to be written, and what cannot be.
#[derive(Default)]
struct Plan {
    files: Vec<Planned>,
    skills: Vec<String>,
    refused: Vec<(PathBuf, String)>,
}

impl Plan {
    fn add(&mut self, path: &Path, home: &Home) -> Done<()> {
        let metadata = path
            .metadata()
            .map_err(|problem| Failure::file(path, "read", &problem))?;
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        match (metadata.is_dir(), FileKind::of(name)) {
            (true, _) => self.add_folder(path, home),
            (false, Some(FileKind::Record)) => {
                self.add_record(path, &home.skills(), &home.moment())
            }
            (false, Some(FileKind::SkillMd)) => {
                self.add_folder(path.parent().unwrap_or(Path::new(".")), home)
            }
            (false, Some(FileKind::Markdown | FileKind::Workflow)) => self.add_one(path, home),
            (false, None) => Err(Failure::input(
                "not_a_skill",
                format!("`{}` is not a skill file", path.display()),
            )
            .hint("deft knows SKILL.md, *.md, *.yaml, *.yml and *.json")),
        }
    }

    /// Everything that loads from a folder, with the folders it is in.
    fn add_folder(&mut self, folder: &Path, home: &Home) -> Done<()> {
        let root = folder
            .canonicalize()
            .map_err(|problem| Failure::file(folder, "read", &problem))?;
        let snapshot = Snapshot::load(&Options::new([root.clone()]), &home.moment());
        for file in snapshot.files() {
            self.add_report(file, &snapshot, &root, &home.skills())?;
        }
        Ok(())
    }

    fn add_report(
        &mut self,
        file: &FileReport,
        snapshot: &Snapshot,
        root: &Path,
        skills: &Path,
    ) -> Done<()> {
        match &file.state {
            State::Loaded(id) => match snapshot.skill(id.as_str()) {
                Some(loaded) => self.add_loaded(loaded, root, skills),
                None => Ok(()),
            },
            State::Index(domain) => self.copy(&file.path, &skills.join(domain).join("SKILL.md")),
            State::Broken { .. } => {
                let first = file
                    .diagnostics
                    .iter()
                    .find(|one| one.severity == Severity::Error);
                let reason = first.map(|one| one.message.clone()).unwrap_or_default();
                self.refused.push((file.path.to_path_buf(), reason));
                Ok(())
            }
            State::Shadowed { by, .. } => {
                let reason = format!("`{}` defines the same skill", by.display());
                self.refused.push((file.path.to_path_buf(), reason));
                Ok(())
            }
            State::Ignored => Ok(()),
        }
    }

    fn add_loaded(&mut self, loaded: &Loaded, root: &Path, skills: &Path) -> Done<()> {
        self.skills.push(loaded.skill.id.to_string());
        let name = loaded.path.file_name().unwrap_or_default();
        let is_folder = name.to_str().and_then(FileKind::of) == Some(FileKind::SkillMd);
        if !is_folder {
            let below = loaded.path.strip_prefix(root).unwrap_or(Path::new(name));
            let target = match (&loaded.skill.body, loaded.skill.id.as_str().split_once('.')) {
                // A man page's path is its name, wherever it came from.
                (Body::Manual { .. }, Some((domain, action))) => {
                    skills.join(domain).join(format!("{action}.md"))
                }
                _ => skills.join(below),
            };
            return self.copy(&loaded.path, &target);
        }
        let from = loaded.path.parent().unwrap_or(root);
        let to = skills.join(from.file_name().unwrap_or_default());
        self.copy(&loaded.path, &to.join("SKILL.md"))?;
        for sibling in &loaded.siblings {
            self.copy(&from.join(&sibling.path), &to.join(&sibling.path))?;
        }
        Ok(())
    }

    /// A single file, read as part of the folder it is in.
    fn add_one(&mut self, path: &Path, home: &Home) -> Done<()> {
        let path = path
            .canonicalize()
            .map_err(|problem| Failure::file(path, "read", &problem))?;
        let parent = path.parent().unwrap_or(Path::new("/"));
        let root = parent.parent().unwrap_or(parent).to_path_buf();
        let snapshot = Snapshot::load(&Options::new([parent.to_path_buf()]), &home.moment());
        let file = snapshot.files().iter().find(|file| *file.path == *path);
        match file.filter(|file| file.state != State::Ignored) {
            Some(file) => self.add_report(
                file,
                &snapshot,
                if path.extension().is_some_and(|e| e == "md") {
                    &root
                } else {
                    parent
                },
                &home.skills(),
            ),
            None => {
                self.refused
                    .push((path.clone(), "it is not a skill".to_owned()));
                Ok(())
            }
        }
    }

    /// A record becomes a file of the dialect that can hold it.
    fn add_record(&mut self, path: &Path, skills: &Path, moment: &Moment) -> Done<()> {
        let text = std::fs::read_to_string(path)
            .map_err(|problem| Failure::file(path, "read", &problem))?;
        let value: Value = serde_json::from_str(&text).map_err(|problem| {
            Failure::input(
                "not_json",
                format!("`{}` is not JSON: {problem}", path.display()),
            )
        })?;
        let parsed = parse_record(&value, moment);
        let Some(Document::Skill(skill)) = parsed.document else {
            let first = parsed
                .diagnostics
                .iter()
                .find(|one| one.severity == Severity::Error);
            let reason = first.map(|one| one.message.clone()).unwrap_or_default();
            self.refused.push((path.to_path_buf(), reason));
            return Ok(());
        };
        self.skills.push(skill.id.to_string());
        let (target, content) = match render::workflow(&skill) {
            Some(yaml) => (skills.join(format!("{}.yaml", skill.id)), yaml),
            None => (
                skills.join(skill.id.as_str()).join("SKILL.md"),
                render::agentskills(&skill),
            ),
        };
        self.files.push(Planned {
            path: target,
            content: content.into_bytes(),
        });
        Ok(())
    }

    fn copy(&mut self, from: &Path, to: &Path) -> Done<()> {
        let content =
            std::fs::read(from).map_err(|problem| Failure::file(from, "read", &problem))?;
        self.files.push(Planned {
            path: to.to_path_buf(),
            content,
        });
        Ok(())
    }

    fn print(&self, effects: &[Effect], dry_run: bool, output: &Output) -> Done<()> {
        let files = self.files.iter().zip(effects);
        if output.json {
            let file = |(file, effect): (&Planned, &Effect)| json!({"path": file.path.display().to_string(), "effect": word(*effect)});
            let refused = |(path, reason): &(PathBuf, String)| json!({"path": path.display().to_string(), "reason": reason});
            return output.document(&json!({
                "ok": self.refused.is_empty(),
                "dry_run": dry_run,
                "skills": self.skills,
                "files": files.map(file).collect::<Vec<_>>(),
                "refused": self.refused.iter().map(refused).collect::<Vec<_>>(),
            }));
        }
        for (file, effect) in files {
            output.data(&format!("{:9} {}", word(*effect), file.path.display()))?;
        }
        for (path, reason) in &self.refused {
            output.data(&format!("{:9} {}: {reason}", "refused", path.display()))?;
        }
        let done = if dry_run {
            "would be imported"
        } else {
            "imported"
        };
        output.note(&format!("{} {done}", counted(self.skills.len(), "skill")));
        Ok(())
    }
}

fn word(effect: Effect) -> &'static str {
    match effect {
        Effect::New => "new",
        Effect::Same => "unchanged",
        Effect::Replaces => "replaced",
    }
}
