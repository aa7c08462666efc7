//! Parsing of man pages, `domain/action.md` (S2.1 to S2.13).

use deft_model::{Body, Dialect, Handler, Object, OpenSpec, Skill, SkillId, Text, nearest};

use crate::details;
use crate::diagnostic::Sink;
use crate::document::{Document, FileLocation};
use crate::fields::{DETAILS, MANPAGE, POLICY};
use crate::flags;
use crate::markdown_file::{page, repaired_tree, split, trim_page_start};
use crate::names::{RESERVED, is_dotted};
use crate::policy;
use crate::read::Fields;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::source::Source;
use crate::span::Span;
use crate::trigger::{self, Moment};
use crate::yaml::{Mapping, Node};

/// Parses a man page. A Markdown file without frontmatter is not meant to be a skill, so it only gets a hint.
pub(crate) fn read(
    source: &Source<'_>,
    location: &FileLocation<'_>,
    moment: &Moment,
    sink: &mut Sink,
) -> Option<Document> {
    if !source.file[source.start..].starts_with("---") {
        let span = Span::new(source.start, source.start);
        sink.report(
            Rule::NotASkill,
            span,
            "markdown without frontmatter is not loaded",
        )
        .help(
            "to make it a skill, start with `---`, `name: domain.action`, `description: …`, `---`",
        );
        return None;
    }
    let split = split(source, sink)?;
    let root = repaired_tree(source.file, split, sink);
    // Hosts of the open format tolerate invalid YAML; a man page that needs repairs is not loaded (S2.19), so
    // that after a broken edit the last valid revision stays in use.
    sink.escalate(Rule::RepairedYaml);
    let root = root?;
    let Some(map) = root.as_mapping() else {
        sink.report(
            Rule::NotAMapping,
            root.span,
            format!("the frontmatter is {}", root.describe()),
        );
        return None;
    };
    if !is_page(map) {
        let span = Span::new(source.start, source.start);
        sink.report(
            Rule::NotASkill,
            span,
            "the frontmatter does not define a skill",
        )
        .help("a skill has `name: domain.action` and `description: …` in it");
        return None;
    }
    let fields = Fields {
        map,
        file: source.file,
        severity: Severity::Error,
    };
    let strangers = fields.check_keys(&[MANPAGE, DETAILS, POLICY], Severity::Warning, sink);
    let extra = strangers
        .iter()
        .map(|entry| (entry.key.clone(), entry.value.to_value()))
        .collect();
    let body = (
        split.body.start(),
        &source.file[split.body.start()..split.body.end()],
    );
    let skill = skill(&fields, extra, body, location, moment, sink);
    Some(Document::Skill(Box::new(skill)))
}

/// Whether a frontmatter is that of a man page. Site generators and issue forms use frontmatter too, and many
/// repositories contain them.
fn is_page(map: &Mapping) -> bool {
    let has = |key: &str| map.get(key).is_some();
    let foreign = ["about", "layout", "title"].into_iter().any(has);
    if has("name") && foreign && !has("description") {
        return false;
    }
    let name = map.get("name").and_then(Node::as_scalar);
    let dotted = name.is_some_and(|name| is_dotted(name.text.trim()));
    dotted || ["description", "handler", "schedule"].into_iter().any(has)
}

fn skill(
    fields: &Fields<'_>,
    extra: Object,
    body: (usize, &str),
    location: &FileLocation<'_>,
    moment: &Moment,
    sink: &mut Sink,
) -> Skill {
    let name = name(fields, location, sink);
    let description = fields.required_text(
        "description",
        (
            Rule::MissingDescription,
            "`description` is missing",
            "add the line that listings show",
        ),
        sink,
    );
    let manual = manual(fields, body, sink);
    let timing = trigger::read(fields, moment, sink);
    let keywords = fields.texts("keywords", sink);
    // A missing field has been reported and keeps the skill from loading. The rest is parsed too, so that all
    // problems are reported at once.
    let name = name.unwrap_or_default();
    let domain = location.domain.or_else(|| name.split('.').next());
    Skill {
        id: SkillId::new(name.as_str()),
        description: description.unwrap_or_default().trim().to_owned(),
        domain: domain.map(str::to_owned),
        dialect: Dialect::ManPage,
        trigger: trigger::kind(timing.as_ref(), &keywords),
        timing,
        keywords,
        priority: 0,
        details: details::read(fields, sink),
        required_tools: fields.texts("required_tools", sink),
        body: manual.unwrap_or_else(|| Body::Instructions(Text::default())),
        policy: policy::read(fields, sink),
        open: OpenSpec {
            license: fields.text("license", sink),
            ..OpenSpec::default()
        },
        extra,
        name,
    }
}

fn name(fields: &Fields<'_>, location: &FileLocation<'_>, sink: &mut Sink) -> Option<String> {
    let from_path = location.dotted_name();
    let help = match &from_path {
        Some(name) => format!("add `name: {name}`"),
        None => "add `name: domain.action`".to_owned(),
    };
    let missing = (Rule::MissingName, "`name` is missing", help.as_str());
    let name = fields.required_text("name", missing, sink)?;
    let span = fields.span("name");
    let action = name.split_once('.').map_or("", |(_, action)| action);
    if RESERVED.contains(&action) {
        sink.report(
            Rule::ReservedName,
            span,
            format!("`{action}` is reserved by `get_skill`"),
        )
        .help("choose another action");
        return None;
    }
    if !is_dotted(&name) {
        let message = format!("the name `{name}` is not of the form `domain.action`");
        let help = from_path.filter(|name| is_dotted(name)).map_or_else(
            || "use lower-case letters, digits and `_`, such as `email.send`".to_owned(),
            |name| format!("its path makes it `{name}`"),
        );
        sink.report(Rule::InvalidName, span, message).help(help);
        return None;
    }
    if let Some(from_path) = from_path.filter(|from_path| *from_path != name) {
        let message = format!("the name is `{name}`, the path says `{from_path}`");
        sink.report(Rule::NamePathMismatch, span, message)
            .help("rename the file or the skill; deft uses the name");
    }
    Some(name)
}

fn manual(fields: &Fields<'_>, (offset, text): (usize, &str), sink: &mut Sink) -> Option<Body> {
    let page = page(text);
    if page.is_blank() {
        sink.report(
            Rule::MissingBody,
            Span::NONE,
            "no text below the frontmatter",
        )
        .help("write the page that `--help` shows");
        return None;
    }
    let page_start = offset + (text.len() - trim_page_start(text).len());
    flags::of_page(&page.read(), page_start, sink);
    Some(Body::Manual {
        handler: handler(fields, sink),
        text: page,
    })
}

/// Parses the handler of a page and returns its current name. A planned handler only causes a warning, so
/// that the page can already be read.
fn handler(fields: &Fields<'_>, sink: &mut Sink) -> Option<String> {
    let text = fields.filled_text("handler", sink)?;
    let span = fields.span("handler");
    match Handler::from_text(&text) {
        Handler::Tool(name) | Handler::Skill(name) if name.is_empty() => {
            sink.report(Rule::UnknownHandler, span, "the handler is empty")
                .help("write `tool:NAME` or `skill:NAME`");
            return None;
        }
        // The original text is kept: `workflow:` and `skill:` are equivalent.
        Handler::Tool(_) | Handler::Skill(_) => return Some(text.trim().to_owned()),
        Handler::BuiltIn(name) if Handler::is_there(&name) => return Some(name),
        Handler::BuiltIn(name) if Handler::is_built_in(&name) => {
            let message = format!("the handler `{name}` is not available in this version");
            sink.report_as(Severity::Warning, Rule::UnknownHandler, span, message)
                .help("name a tool that does it: `handler: tool:NAME`");
            return Some(name);
        }
        Handler::BuiltIn(name) => {
            let known: Vec<String> = Handler::built_in().collect();
            let near = nearest(&name, known.iter().map(String::as_str));
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "a tool is `tool:{name}`, a skill `skill:{name}`; built-in handlers are {}",
                    known.join(", ")
                ),
            };
            let message = format!("unknown handler `{name}`");
            sink.report(Rule::UnknownHandler, span, message).help(help);
        }
    }
    None
}
