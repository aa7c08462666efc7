//! The marks with which expressions, statements and comments of a template begin.
//!
//! Not here: parsing templates (`deft-template`).

/// The opening marks of a template.
pub const TEMPLATE_MARKS: [&str; 3] = ["{{", "{%", "{#"];

/// Whether a text is a template, so that its value is known only when it is rendered.
pub fn is_template(text: &str) -> bool {
    TEMPLATE_MARKS.iter().any(|mark| text.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mark_makes_a_template() {
        for (text, expected) in [
            ("{{ a }}", true),
            ("{% if a %}b{% endif %}", true),
            ("a {# note #}", true),
            (r#"{"a": {"b": 1}}"#, false),
            ("{ % }", false),
        ] {
            assert_eq!(is_template(text), expected, "{text}");
        }
    }
}
