//! The descriptive fields of a skill, read the same way in all dialects.

use deft_model::Details;

use crate::diagnostic::Sink;
use crate::read::Fields;

/// Reads the descriptive fields from the mapping that holds them: the document itself, or `metadata` of a `SKILL.md`.
pub(crate) fn read(fields: &Fields<'_>, sink: &mut Sink) -> Details {
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
    use crate::fields::{DETAILS, Field, Kind};
    use crate::render::details;
    use crate::severity::Severity;
    use crate::yaml;

    /// Each row of the table is read, and written back as it was read.
    #[test]
    fn the_table_the_reader_and_the_renderer_name_the_same_keys() {
        let line = |field: &Field| match field.kind {
            Kind::Texts => format!("{}: [one, two]\n", field.name),
            Kind::Text
            | Kind::Truth
            | Kind::Filled
            | Kind::Name
            | Kind::Count
            | Kind::Positive
            | Kind::Integer
            | Kind::Number
            | Kind::Duration
            | Kind::Cron
            | Kind::Any
            | Kind::Object
            | Kind::List
            | Kind::Choices
            | Kind::Loop
            | Kind::Wait
            | Kind::Words(_)
            | Kind::OnError
            | Kind::Classes
            | Kind::Table(_)
            | Kind::Open(_)
            | Kind::Tables(_) => format!("{}: some text\n", field.name),
        };
        let file: String = DETAILS.iter().map(line).collect();
        let root = yaml::parse(&file, 0).unwrap().unwrap();
        let fields = Fields {
            map: root.as_mapping().unwrap(),
            file: &file,
            severity: Severity::Error,
        };
        let mut sink = Sink::default();
        let written = details(&read(&fields, &mut sink));
        assert_eq!(sink.finish(), []);
        assert_eq!(written, root.as_mapping().unwrap().to_object());
    }
}
