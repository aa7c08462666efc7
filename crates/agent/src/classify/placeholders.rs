//! Placeholders in keywords: `<n>` stands for any number, `<time>` for a time of day, `<day>` for a day of
//! the week, so that `in <n> minutes` matches "in 5 minutes" and "in twenty minutes".
//!
//! Not here: the values of numbers and times, and languages other than English.

use super::words::in_word;

/// Numbers in words.
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

const DAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// Suffixes that make a number a time of day.
const CLOCKS: [&str; 9] = [
    "am", " am", "a.m", " a.m", "pm", " pm", "p.m", " p.m", " o'clock",
];

/// A placeholder. Files use its written form (`#` would begin a comment in YAML); matching uses its mark, a
/// character that no person types.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Placeholder {
    Number,
    Time,
    Day,
}

impl Placeholder {
    const ALL: [Self; 3] = [Self::Number, Self::Time, Self::Day];

    fn words(self) -> &'static str {
        match self {
            Self::Number => "<n>",
            Self::Time => "<time>",
            Self::Day => "<day>",
        }
    }

    fn mark(self) -> char {
        match self {
            Self::Number => '\u{1}',
            Self::Time => '\u{2}',
            Self::Day => '\u{3}',
        }
    }
}

/// Returns the pattern for a folded keyword, and whether it has a placeholder. A keyword of one word is taken
/// literally, because a placeholder alone would match every other message.
pub(super) fn pattern(keyword: &str) -> (String, bool) {
    let placeholder = |word: &str| {
        let mut all = Placeholder::ALL.into_iter();
        all.find(|placeholder| word.starts_with(placeholder.words()))
    };
    if !keyword.contains(' ') {
        return (keyword.to_owned(), false);
    }
    let mut found = false;
    let words = keyword.split(' ').map(|word| match placeholder(word) {
        Some(placeholder) => {
            found = true;
            format!(
                "{}{}",
                placeholder.mark(),
                &word[placeholder.words().len()..]
            )
        }
        None => word.to_owned(),
    });
    let words: Vec<String> = words.collect();
    (words.join(" "), found)
}

/// A folded text in which every number, time and day is replaced by its mark.
pub(super) struct General {
    pub(super) text: String,
    /// Positions right after a mark, with the number of bytes removed before them.
    cuts: Vec<(usize, usize)>,
}

impl General {
    pub(super) fn from_text(text: &str) -> Self {
        let mut general = Self {
            text: String::with_capacity(text.len()),
            cuts: Vec::new(),
        };
        let (mut at, mut cut, mut inside) = (0, 0, false);
        while let Some(c) = text[at..].chars().next() {
            let found = if inside { None } else { find(&text[at..]) };
            if let Some((placeholder, length)) = found {
                general.text.push(placeholder.mark());
                cut += length - 1;
                general.cuts.push((general.text.len(), cut));
                at += length;
            } else {
                general.text.push(c);
                at += c.len_utf8();
            }
            inside = found.is_some() || in_word(c);
        }
        general
    }

    /// Converts a position to the position in the original text.
    pub(super) fn original(&self, at: usize) -> usize {
        let before = self.cuts.partition_point(|(place, _)| *place <= at);
        let cut = before.checked_sub(1).map_or(0, |last| self.cuts[last].1);
        at + cut
    }
}

/// Returns the placeholder that a text begins with, and its length in bytes.
fn find(text: &str) -> Option<(Placeholder, usize)> {
    let end = text.find(|c| !in_word(c)).unwrap_or(text.len());
    let first = &text[..end];
    if first == "noon" || first == "midnight" {
        return Some((Placeholder::Time, end));
    }
    if DAYS.contains(&first.strip_suffix('s').unwrap_or(first)) {
        return Some((Placeholder::Day, end));
    }
    match number(text) {
        0 => None,
        length => Some(match clock(&text[length..]) {
            0 => (Placeholder::Number, length),
            rest => (Placeholder::Time, length + rest),
        }),
    }
}

/// Returns the length of the suffix that makes a number a time of day (`:30`, `am`, ` o'clock`), or 0.
fn clock(text: &str) -> usize {
    let minutes = match text.strip_prefix(':').map(digits) {
        Some(length @ 1..) => 1 + length,
        Some(0) | None => 0,
    };
    let rest = &text[minutes..];
    let ends = |word: &&&str| {
        let after = rest[word.len()..].chars().next();
        !after.is_some_and(in_word)
    };
    let mut words = CLOCKS.iter().filter(|word| rest.starts_with(**word));
    let word = words.find(ends).map_or(0, |word| word.len());
    minutes + word
}

/// Returns the length of the number that a text begins with, or 0.
fn number(text: &str) -> usize {
    match digits(text) {
        0 => number_length(text),
        length => length,
    }
}

/// Returns the length of a number in digits: `5`, `1.5`, `1,000`. Letters after it (`5min`) do not count.
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

/// Returns the length of a number in words: `five`, `forty-five`.
fn number_length(text: &str) -> usize {
    let first = word(text);
    if first == 0 {
        return 0;
    }
    match text[first..].strip_prefix('-').map(word) {
        None | Some(0) => first,
        Some(second) => first + 1 + second,
    }
}

/// Returns the length of the first word of a text if it is a number, else 0.
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
    use super::{General, Placeholder, pattern};

    fn show_marks(text: &str) -> String {
        let all = Placeholder::ALL.into_iter();
        all.fold(text.to_owned(), |text, it| {
            text.replace(it.mark(), it.words())
        })
    }

    #[test]
    fn numbers_times_and_days_become_placeholders() {
        for (text, expected) in [
            ("in 5 minutes", "in <n> minutes"),
            ("in 1.5 hours, or 2.", "in <n> hours, or <n>."),
            ("in forty-five min", "in <n> min"),
            ("in 5min at 10:30", "in <n>min at <time>"),
            (
                "at 9am, 9 pm or nine o'clock",
                "at <time>, <time> or <time>",
            ),
            ("at 4 p.m. or noon", "at <time>. or <time>"),
            ("5 amps on mondays", "<n> amps on <day>"),
            (
                "none of the tenants, v2 or a1",
                "none of the tenants, v2 or a1",
            ),
            ("five-star", "<n>-star"),
            ("", ""),
        ] {
            assert_eq!(show_marks(&General::from_text(text).text), expected);
        }
    }

    #[test]
    fn positions_refer_to_the_original_text() {
        let text = "in 15 or twenty minutes at 10:30 sharp";
        let general = General::from_text(text);
        for word in ["in", "or", "minutes", "sharp"] {
            let place = general.text.find(word).unwrap();
            assert_eq!(general.original(place), text.find(word).unwrap());
        }
    }

    #[test]
    fn a_placeholder_starts_a_word_only_in_a_longer_keyword() {
        for (keyword, expected) in [
            ("in <n> minutes", Some("in <n> minutes")),
            ("in <n>min", Some("in <n>min")),
            ("<n> to <n> people", Some("<n> to <n> people")),
            ("at <time>", Some("at <time>")),
            ("c<n> code", None),
            ("<n>", None),
            ("<n>min", None),
        ] {
            let (found, general) = pattern(keyword);
            let found = general.then(|| show_marks(&found));
            assert_eq!(found.as_deref(), expected, "{keyword}");
        }
    }
}
