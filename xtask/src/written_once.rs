//! Values and helpers that are written in one place, because copies of them drifted apart.

use crate::source::{Source, product_sources};

/// A text that only one file may have.
struct Single {
    /// The text.
    text: &'static str,
    /// The file, below `crates` and without `src`.
    home: &'static str,
    /// What other files use.
    remedy: &'static str,
}

const SINGLE: &[Single] = &[Single {
    text: "\"thinker\"",
    home: "model/ids.rs",
    remedy: "use `DEFAULT_AGENT` of `deft-model`",
}];

fn name(source: &Source) -> String {
    format!("{}/{}", source.krate, source.path)
}

#[test]
fn values_are_written_once() {
    let sources = product_sources();
    for single in SINGLE {
        let found: Vec<String> = sources
            .iter()
            .filter(|source| source.text.contains(single.text))
            .map(name)
            .collect();
        assert_eq!(found, [single.home], "{}: {}", single.text, single.remedy);
    }
}
