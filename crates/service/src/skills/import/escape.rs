//! Escapes text of other programs for templates of deft.

use deft_model::TEMPLATE_MARKS;

/// Returns a template that renders to `text`: opening marks of expressions, statements and comments become
/// string expressions.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        let opening = TEMPLATE_MARKS
            .into_iter()
            .find(|mark| behind.starts_with(mark));
        match opening {
            Some(mark) => {
                out.push_str(&format!("{{{{ '{mark}' }}}}"));
                rest = &behind[mark.len()..];
            }
            None => {
                out.push('{');
                rest = &behind[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn template_openings_are_escaped() {
        assert_eq!(
            escape("docker ps --format '{{.Names}}' {% x %} {# y #} {z} {"),
            "docker ps --format '{{ '{{' }}.Names}}' {{ '{%' }} x %} {{ '{#' }} y #} {z} {"
        );
        // Of three braces, the last one must not join the next pair.
        assert_eq!(escape("{{{"), "{{ '{{' }}{");
    }
}
