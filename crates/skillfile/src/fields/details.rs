//! The descriptive fields of a skill, which every dialect has: their table and their reader.

use deft_model::Details;

use super::{Field, Kind, optional};
use crate::diagnostic::Sink;
use crate::read::Fields;

/// Keys for listings and people.
pub(crate) const DETAILS: &[Field] = &[
    optional("tags", Kind::Texts, "words to find the skill by"),
    optional("author", Kind::Text, "who wrote it"),
    optional("version", Kind::Text, "its version, in its author's words"),
    optional("created", Kind::Text, "when it was written"),
];

/// Reads them from the mapping that holds them: the document itself, or `metadata` of a `SKILL.md`.
pub(crate) fn read_details(fields: &Fields<'_>, sink: &mut Sink) -> Details {
    Details {
        tags: fields.texts("tags", sink),
        author: fields.text("author", sink),
        version: fields.text("version", sink),
        created: fields.text("created", sink),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Severity;
    use crate::render::details;
    use crate::yaml;

    /// Each row of the table is read, and written back as it was read.
    #[test]
    fn the_table_the_reader_and_the_renderer_name_the_same_keys() {
        let line = |field: &Field| match field.kind {
            Kind::Texts => format!("{}: [one, two]\n", field.name),
            _ => format!("{}: some text\n", field.name),
        };
        let file: String = DETAILS.iter().map(line).collect();
        let root = yaml::parse(&file, 0).unwrap().unwrap();
        let fields = Fields {
            map: root.as_mapping().unwrap(),
            file: &file,
            severity: Severity::Error,
        };
        let mut sink = Sink::default();
        let written = details(&read_details(&fields, &mut sink));
        assert_eq!(sink.finish(), []);
        assert_eq!(written, root.as_mapping().unwrap().to_object());
    }
}
