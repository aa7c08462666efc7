//! Parsing of YAML files that are not skills, such as files of other programs.

use deft_model::Object;

use crate::span::Lines;
use crate::yaml::{self, Mapping};

/// Parses a mapping; an empty document is an empty mapping. The error message begins with line and column.
pub fn read_yaml(text: &str) -> Result<Object, String> {
    match yaml::parse(text, 0) {
        Ok(None) => Ok(Object::new()),
        Ok(Some(root)) => match root.as_mapping() {
            Some(mapping) => Ok(Mapping::to_object(mapping)),
            None => Err("1:1: not a mapping".to_owned()),
        },
        Err(problem) => {
            let (line, column) = Lines::new(text).position(problem.span.start());
            Err(format!("{line}:{column}: {}", problem.message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_have_a_location() {
        assert_eq!(read_yaml("# nothing\n"), Ok(Object::new()));
        let one = read_yaml("a: 1\n").unwrap();
        assert_eq!(one.get("a"), Some(&1.into()));
        assert_eq!(read_yaml("- a\n").unwrap_err(), "1:1: not a mapping");
        let problem = read_yaml("a: 1\nb: [\n").unwrap_err();
        assert!(problem.starts_with("2:4: "), "{problem}");
    }
}
