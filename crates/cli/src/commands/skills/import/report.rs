//! Says what was imported, or would be.

use std::path::Path;

use serde_json::{Value, json};

use super::super::files::{Effect, Refused};
use super::decide::{Decided, Verdict};
use super::layout::Part;
use crate::failure::Done;
use crate::output::{Output, counted};

/// What is to be said.
pub(super) struct Report<'a> {
    pub decided: &'a [Decided],
    pub refused: &'a [Refused],
    pub dry_run: bool,
}

impl Report<'_> {
    pub(super) fn print(&self, output: &Output) -> Done<()> {
        if output.json {
            return output.document(&self.document());
        }
        for (word, path) in self.lines() {
            output.data(format!("{word:9} {}", path.display()))?;
        }
        for Refused { path, reason } in self.refused {
            output.data(format!("{:9} {}: {reason}", "refused", path.display()))?;
        }
        self.note(output);
        Ok(())
    }

    fn note(&self, output: &Output) {
        output.note(&self.summary());
        for one in self.decided {
            if let Some(also) = &one.also {
                let (id, also) = (&one.item.id, also.display());
                output.note(&format!(
                    "`{id}` is also defined in `{also}`; remove one of them"
                ));
            }
        }
        let conflict = |one: &Decided| matches!(one.verdict, Verdict::Conflict(_));
        if self.decided.iter().any(conflict) {
            output
                .note("hint: `--force` imports all the same, `--keep` leaves alone what is there");
        }
    }

    /// Each file with what happens to it.
    fn lines(&self) -> Vec<(&'static str, &Path)> {
        let mut lines = Vec::new();
        for one in self.decided {
            if let Verdict::Keep(path) = &one.verdict {
                lines.push(("kept", path.as_path()));
            }
            let files = one.item.files.iter().zip(&one.effects);
            lines.extend(files.map(|(file, effect)| (word(*effect), file.path.as_path())));
            lines.extend(one.removed.iter().map(|path| ("removed", path.as_path())));
        }
        lines
    }

    /// The skills of which something is true, without indexes of domains.
    fn skills(&self, is: impl Fn(&Decided) -> bool) -> Vec<&str> {
        let skills = self
            .decided
            .iter()
            .filter(|one| one.item.part != Part::Index && is(one));
        skills.map(|one| one.item.id.as_str()).collect()
    }

    fn imported(&self) -> Vec<&str> {
        self.skills(Decided::changes)
    }

    fn unchanged(&self) -> Vec<&str> {
        self.skills(|one| one.verdict == Verdict::Write && !one.changes())
    }

    fn kept(&self) -> Vec<&str> {
        self.skills(|one| matches!(one.verdict, Verdict::Keep(_)))
    }

    fn summary(&self) -> String {
        let done = if self.dry_run {
            "would be imported"
        } else {
            "imported"
        };
        let mut text = format!("{} {done}", counted(self.imported().len(), "skill"));
        for (skills, word) in [(self.unchanged(), "unchanged"), (self.kept(), "kept")] {
            if !skills.is_empty() {
                text.push_str(&format!(", {} {word}", skills.len()));
            }
        }
        text
    }

    fn document(&self) -> Value {
        let file = |(word, path): (&str, &Path)| json!({"path": path.display().to_string(), "effect": word});
        let refused =
            |one: &Refused| json!({"path": one.path.display().to_string(), "reason": one.reason});
        let also = |one: &Decided| {
            let path = one.also.as_ref()?.display().to_string();
            Some(json!({"skill": one.item.id, "path": path}))
        };
        json!({
            "ok": self.refused.is_empty(),
            "dry_run": self.dry_run,
            "skills": self.imported(),
            "unchanged": self.unchanged(),
            "kept": self.kept(),
            "files": self.lines().into_iter().map(file).collect::<Vec<_>>(),
            "refused": self.refused.iter().map(refused).collect::<Vec<_>>(),
            "also_defined": self.decided.iter().filter_map(also).collect::<Vec<_>>(),
        })
    }
}

fn word(effect: Effect) -> &'static str {
    match effect {
        Effect::New => "new",
        Effect::Same => "unchanged",
        Effect::Replaces => "replaced",
        Effect::Blocked => "blocked",
    }
}
