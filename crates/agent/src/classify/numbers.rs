//! Numbers in messages: `<n>` at the beginning of a word of a keyword stands for any, so that
//! `in <n> minutes` is in "in 5 minutes" and in "in twenty minutes".
//!
//! Not here: what a number is worth, and words of other languages than English.

use super::words::in_word;

/// Numbers as they are written out.
const WORDS: [&str; 27] = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
];

/// How a keyword says that there is a number. A `#` would begin a comment in YAML.
const ANY: &str = "<n>";

/// What every number is while keywords are looked for: nothing that a person writes.
const NUMBER: char = '\u{1}';

/// A folded keyword as it is looked for, and whether it has a number. One that is nothing but a
/// number would be in every other message, and is taken as it is written.
pub(super) fn pattern(keyword: String) -> (String, bool) {
    let mut words = keyword.split(' ');
    let numbered = keyword.contains(' ') && words.any(|word| word.starts_with(ANY));
    if !numbered {
        return (keyword, false);
    }
    let words = keyword.split(' ').map(|word| match word.strip_prefix(ANY) {
        Some(rest) => format!("{NUMBER}{rest}"),
        None => word.to_owned(),
    });
    (words.collect::<Vec<_>>().join(" "), true)
}

/// A folded text in which every number is the same.
pub(super) struct Numbered {
    pub(super) text: String,
    /// Places right behind a number, and how much longer everything before them was.
    cuts: Vec<(usize, usize)>,
}

impl Numbered {
    pub(super) fn of(text: &str) -> Self {
        let mut numbered = Self {
            text: String::with_capacity(text.len()),
            cuts: Vec::new(),
        };
        let (mut at, mut cut, mut inside) = (0, 0, false);
        while let Some(c) = text[at..].chars().next() {
            let length = if inside { 0 } else { number(&text[at..]) };
            if length > 0 {
                numbered.text.push(NUMBER);
                cut += length - 1;
                numbered.cuts.push((numbered.text.len(), cut));
                at += length;
            } else {
                numbered.text.push(c);
                at += c.len_utf8();
            }
            inside = length > 0 || in_word(c);
        }
        numbered
    }

    /// The same place in the text as it was.
    pub(super) fn original(&self, at: usize) -> usize {
        let before = self.cuts.partition_point(|(place, _)| *place <= at);
        let cut = before.checked_sub(1).map_or(0, |last| self.cuts[last].1);
        at + cut
    }
}

/// How long the number is that a text begins with.
fn number(text: &str) -> usize {
    match digits(text) {
        0 => written(text),
        length => length,
    }
}

/// `5`, `1.5`, `1,000`; what stands behind it (`5min`) is no part of it.
fn digits(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    while is_digit(end)
        || end > 0 && matches!(bytes.get(end), Some(b'.' | b',')) && is_digit(end + 1)
    {
        end += 1;
    }
    end
}

/// `five`, `forty-five`.
fn written(text: &str) -> usize {
    let first = word(text);
    if first == 0 {
        return 0;
    }
    match text[first..].strip_prefix('-').map(word) {
        None | Some(0) => first,
        Some(second) => first + 1 + second,
    }
}

/// How long the word is that a text begins with, if it is a number.
fn word(text: &str) -> usize {
    let end = text.find(|c| !in_word(c)).unwrap_or(text.len());
    if WORDS.contains(&&text[..end]) {
        end
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::{NUMBER, Numbered, pattern};

    #[test]
    fn every_number_is_the_same() {
        for (text, expected) in [
            ("in 5 minutes", "in # minutes"),
            ("in 1.5 hours, or 2.", "in # hours, or #."),
            ("in forty-five min", "in # min"),
            ("in 5min at 10:30", "in #min at #:#"),
            (
                "none of the tenants, v2 or a1",
                "none of the tenants, v2 or a1",
            ),
            ("five-star", "#-star"),
            ("", ""),
        ] {
            assert_eq!(Numbered::of(text).text.replace(NUMBER, "#"), expected);
        }
    }

    #[test]
    fn places_are_those_of_the_text() {
        let text = "in 15 or twenty minutes";
        let numbered = Numbered::of(text);
        for word in ["in", "or", "minutes"] {
            let place = numbered.text.find(word).unwrap();
            assert_eq!(numbered.original(place), text.find(word).unwrap());
        }
    }

    #[test]
    fn a_number_begins_a_word_of_several() {
        for (keyword, expected) in [
            ("in <n> minutes", Some("in # minutes")),
            ("in <n>min", Some("in #min")),
            ("<n> to <n> people", Some("# to # people")),
            ("c<n> code", None),
            ("<n>", None),
            ("<n>min", None),
        ] {
            let (found, numbered) = pattern(keyword.to_owned());
            let found = numbered.then(|| found.replace(NUMBER, "#"));
            assert_eq!(found.as_deref(), expected, "{keyword}");
        }
    }
}
