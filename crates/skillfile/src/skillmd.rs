//! Parsing of `SKILL.md`: its frontmatter as a tree, and whether it is a skill or a domain index (X10).
//!
//! Parsing is lenient: whatever can be loaded is loaded, and tolerated problems are reported. Findings of the
//! open format's validator come from `strict`; the meaning of a skill's keys is in `agentskills`.

use deft_model::DomainIndex;

use crate::agentskills::{self, is_host_key};
use crate::details;
use crate::diagnostic::{Diagnostic, Sink};
use crate::document::{Document, FileLocation, Profile};
use crate::fields::{DETAILS, DOMAIN};
use crate::frontmatter::Split;
use crate::markdown_file::{page, split, tree};
use crate::names;
use crate::read::Fields;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::source::Source;
use crate::strict::{self, Properties};
use crate::trigger::Moment;
use crate::yaml::{self, Node};

/// The contents of a `SKILL.md`, and what the reference would read.
pub(crate) struct SkillMd {
    pub document: Option<Document>,
    pub properties: Option<Properties>,
}

const NOTHING: SkillMd = SkillMd {
    document: None,
    properties: None,
};

/// Parses a `SKILL.md`.
pub(crate) fn read(
    source: &Source<'_>,
    location: &FileLocation<'_>,
    profile: Profile,
    moment: &Moment,
    sink: &mut Sink,
) -> SkillMd {
    let Some(split) = split(source, sink) else {
        return NOTHING;
    };
    let text = &source.file[split.yaml.start()..split.yaml.end()];
    let reading = strict::read(text, split.yaml.start());
    // The reference rejects files that start with a byte order mark.
    let properties = (reading.as_ref().ok())
        .filter(|_| source.start == 0)
        .and_then(strict::properties);
    if profile == Profile::AgentSkills {
        let found = match reading {
            Ok(root) => strict::judge(None, Some(&root), location.folder),
            Err(problem) => {
                let lenient = yaml::parse(text, split.yaml.start()).ok().flatten();
                strict::judge(Some(problem), lenient.as_ref(), location.folder)
            }
        };
        found.into_iter().for_each(|one| push(sink, one));
        return SkillMd {
            document: None,
            properties,
        };
    }
    let readable = reading.as_ref().ok().filter(|_| properties.is_some());
    let Some((root, clean)) = tree(source.file, split, readable, sink) else {
        return SkillMd {
            document: None,
            properties,
        };
    };
    let document = lower(source.file, &root, split, location, moment, sink);
    if !is_index(&root) {
        // Repairs have been reported already.
        let unread = reading.err().filter(|_| clean);
        for found in strict::judge(unread, Some(&root), location.folder) {
            advise(sink, found, source.file);
        }
    }
    SkillMd {
        document,
        properties,
    }
}

/// Adds a finding of the open format's validator, unless it was reported already.
fn advise(sink: &mut Sink, mut found: Diagnostic, file: &str) {
    if !sink.has(found.rule, found.span) {
        found.severity = Severity::Warning;
        let key = found.span.range().and_then(|range| file.get(range));
        // If it moved below `metadata`, the other host would no longer see it.
        if found.rule == Rule::UnknownKey && key.is_some_and(is_host_key) {
            found.severity = Severity::Hint;
            found.help = Some("used by another host; deft preserves it".to_owned());
        }
        push(sink, found);
    }
}

fn push(sink: &mut Sink, found: Diagnostic) {
    sink.report_as(found.severity, found.rule, found.span, found.message)
        .maybe_help(found.help);
}

fn lower(
    file: &str,
    root: &Node,
    split: Split,
    location: &FileLocation<'_>,
    moment: &Moment,
    sink: &mut Sink,
) -> Option<Document> {
    let Some(map) = root.as_mapping() else {
        sink.report(
            Rule::NotAMapping,
            root.span,
            format!("the frontmatter is {}", root.describe()),
        )
        .help("write keys and values, `name: …` and `description: …`");
        return None;
    };
    let fields = Fields {
        map,
        file,
        severity: Severity::Warning,
    };
    let text = &file[split.body.start()..split.body.end()];
    if is_index(root) {
        sink.escalate(Rule::RepairedYaml);
        return domain(&fields, text, sink).map(Document::Domain);
    }
    let skill = agentskills::skill(&fields, text, location, moment, sink);
    Some(Document::Skill(Box::new(skill)))
}

/// Whether a `SKILL.md` describes a domain: it has `domain` and no `name` (X10).
fn is_index(root: &Node) -> bool {
    let has = |key: &str| {
        let value = root.as_mapping().and_then(|map| map.get(key));
        value.is_some_and(|node| !node.is_null())
    };
    has("domain") && !has("name")
}

fn domain(fields: &Fields<'_>, text: &str, sink: &mut Sink) -> Option<DomainIndex> {
    fields.check_keys(&[DOMAIN, DETAILS], Severity::Warning, sink);
    let domain = fields.filled_text("domain", sink)?;
    if !names::is_word(&domain) {
        sink.report(
            Rule::InvalidName,
            fields.span("domain"),
            format!("the domain `{domain}` is not one word"),
        )
        .help("use lower-case letters, digits and `_`, starting with a letter");
        return None;
    }
    let description = fields.filled_text("description", sink);
    if description.is_none() {
        sink.report(
            Rule::MissingDescription,
            fields.span("domain"),
            "the domain has no `description`",
        )
        .help("add the line that `get_skill` shows for the domain");
    }
    let details = details::read(fields, sink);
    Some(DomainIndex {
        domain,
        description: description?,
        details,
        text: page(text),
    })
}
