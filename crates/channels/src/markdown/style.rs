//! Text styles.

/// A set of text attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style(u8);

impl Style {
    pub(super) const PLAIN: Self = Self(0);
    pub(super) const BOLD: Self = Self(1);
    pub(super) const ITALIC: Self = Self(2);
    pub(super) const CODE: Self = Self(4);
    pub(super) const LINK: Self = Self(8);
    pub(super) const DIM: Self = Self(16);

    /// Each attribute and its parameter in a terminal escape sequence.
    const CODES: [(Self, &'static str); 5] = [
        (Self::BOLD, ";1"),
        (Self::DIM, ";2"),
        (Self::ITALIC, ";3"),
        (Self::LINK, ";4"),
        (Self::CODE, ";36"),
    ];

    /// Returns the union of both styles.
    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the escape sequence that switches a terminal to this style, whatever its current style.
    pub(super) fn sequence(self) -> String {
        let mut sequence = "\x1b[0".to_owned();
        for (style, code) in Self::CODES {
            if self.0 & style.0 != 0 {
                sequence.push_str(code);
            }
        }
        sequence.push('m');
        sequence
    }
}
