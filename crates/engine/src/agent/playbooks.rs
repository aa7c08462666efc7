//! Which playbooks a message calls for: those of files, and those that are stored (S0.16).

use std::sync::{Arc, Mutex, PoisonError};

use deft_agent::{Classified, Classifier, MatchLimits, Playbook};
use deft_model::Trigger;
use deft_registry::Snapshot;
use deft_store::{SkillFilter, SkillOrigin};

use crate::Engine;

/// The playbooks of the last message; another set of skills makes another one.
#[derive(Default)]
pub(crate) struct Playbooks {
    ready: Mutex<Option<Ready>>,
}

struct Ready {
    files: Arc<Snapshot>,
    /// Stored playbooks, by number and version.
    records: Vec<(i64, u64)>,
    classifier: Arc<Classifier>,
}

impl Engine {
    /// The playbooks that a message calls for.
    pub(crate) async fn playbooks(&self, message: &str) -> Classified {
        match self.classifier().await {
            Some(classifier) => classifier.classify(message, &MatchLimits::default()),
            None => Classified::default(),
        }
    }

    async fn classifier(&self) -> Option<Arc<Classifier>> {
        let files = self.inner.parts.skills.snapshot();
        let filter = SkillFilter {
            origin: Some(SkillOrigin::Record),
            trigger: Some(Trigger::Event.to_string()),
            enabled: Some(true),
            ..SkillFilter::default()
        };
        let rows = self.list_skills(filter).await.unwrap_or_default();
        let records: Vec<(i64, u64)> = rows.iter().map(|row| (row.id, row.version)).collect();
        if let Some(ready) = &*self.ready()
            && Arc::ptr_eq(&ready.files, &files)
            && ready.records == records
        {
            return Some(Arc::clone(&ready.classifier));
        }
        let mut playbooks: Vec<Playbook> = files
            .skills()
            .filter_map(|loaded| Playbook::of(&loaded.skill))
            .collect();
        for row in &rows {
            if let Ok(pinned) = self.inner.pin_row(row).await {
                playbooks.extend(Playbook::of(&pinned.skill));
            }
        }
        let classifier = match Classifier::new(playbooks) {
            Ok(classifier) => Arc::new(classifier),
            Err(error) => {
                tracing::warn!(%error, "no playbook is used");
                return None;
            }
        };
        *self.ready() = Some(Ready {
            files,
            records,
            classifier: Arc::clone(&classifier),
        });
        Some(classifier)
    }

    fn ready(&self) -> std::sync::MutexGuard<'_, Option<Ready>> {
        let ready = self.inner.playbooks.ready.lock();
        ready.unwrap_or_else(PoisonError::into_inner)
    }
}
