//! `deft skills watch`: follows changes and says one line for each.

use std::process::ExitCode;

use deft_model::SkillId;
use deft_registry::{Change, Registry, Watching};
use deft_skillfile::Moment;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::args::{Global, Roots};
use crate::failure::Done;
use crate::output::{Output, counted};

pub(crate) fn run(global: &Global, roots: &Roots, output: &Output) -> Done {
    let library = global.workspace_of(roots).library()?;
    let zone = library.moment.zone;
    let registry = Registry::open(library.options, move || Moment {
        now: Timestamp::now(),
        zone: zone.clone(),
    });
    let changes = registry.subscribe();
    let count = counted(registry.snapshot().skill_count(), "skill");
    output.note(&match registry.watching() {
        Watching::Events => format!("watching {count}; Ctrl-C ends it"),
        Watching::Polling(reason) => {
            format!("watching {count} by polling ({reason}); Ctrl-C ends it")
        }
    });
    while let Ok(batch) = changes.recv() {
        for change in batch.iter() {
            let line = if output.json {
                view(change).to_string()
            } else {
                change.to_string()
            };
            output.data(line)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn view(change: &Change) -> Value {
    match change {
        Change::Loaded { id, path, revision } => {
            json!({"type": "loaded", "id": id.as_str(), "path": path.display().to_string(), "revision": revision.to_string()})
        }
        Change::Removed { id } => json!({"type": "removed", "id": id.as_str()}),
        Change::Agent { id } => json!({"type": "agent", "agent": id}),
        Change::Domain { name } => json!({"type": "domain", "domain": name}),
        Change::Broken { path, kept, reason } => {
            json!({"type": "broken", "path": path.display().to_string(), "kept": kept.as_ref().map(SkillId::as_str), "reason": reason})
        }
    }
}
