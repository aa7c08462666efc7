//! Closed sets of words, such as `skip | queue | cancel_other | allow`, and suggestions for misspelt words.

/// An enum whose variants are written as fixed words in skill files.
///
/// One definition serves parsing, messages ("expected one of …"), rendering and the JSON Schema, so that they
/// cannot disagree.
pub trait Choice: Copy + Sized + 'static {
    /// All variants with their words, in display order.
    const WORDS: &'static [(&'static str, Self)];

    /// Returns the variant written as `word`, or `None` if no variant is.
    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, choice)| *choice)
    }

    /// Returns the word of this variant.
    fn word(self) -> &'static str;
}

/// Defines an enum and its [`Choice`] words in one place.
macro_rules! choice {
    (
        $(#[$meta:meta])*
        $name:ident { $( $(#[$doc:meta])* $variant:ident = $word:literal ),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $( $(#[$doc])* $variant ),+ }

        impl $crate::Choice for $name {
            const WORDS: &'static [(&'static str, Self)] =
                &[$( ($word, $name::$variant) ),+];

            fn word(self) -> &'static str {
                match self { $( $name::$variant => $word ),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad($crate::Choice::word(*self))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str($crate::Choice::word(*self))
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let word = std::borrow::Cow::<'de, str>::deserialize(from)?;
                $crate::Choice::from_word(&word)
                    .ok_or_else(|| serde::de::Error::custom(format!("unknown word `{word}`")))
            }
        }
    };
}

pub(crate) use choice;

/// Returns the candidate closest to `word`, or `None` if none is similar enough.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(&word, &candidate.to_lowercase())?, candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns the edit distance if it is small enough: at most a third of the letters, or more if the first two
/// letters are equal and the words are similar (`upcase` for `upper`).
fn distance(word: &str, candidate: &str) -> Option<usize> {
    let distance = strsim::osa_distance(word, candidate);
    let slip = distance <= (word.chars().count() / 3).max(1);
    let same_start = word.chars().take(2).eq(candidate.chars().take(2));
    let alike = || same_start && strsim::jaro_winkler(word, candidate) > 0.8;
    (slip || alike()).then_some(distance)
}

/// Words for common actions (S2.58). None of them is treated as a misspelling of another.
const ACTIONS: [&str; 8] = [
    "search", "get", "list", "read", "create", "update", "delete", "send",
];

/// Returns the skill, command or tool closest to the misspelt `name`, or `None` if none is similar enough.
///
/// Stricter than [`nearest`], because a model may call the suggestion without checking it. Every part of the
/// name must be equal or misspelt, and a part that occurs in any of `names` is not a misspelling: `tasks.get`
/// never suggests `tasks.set`, nor `gmail_read` `gmail_send`.
pub fn nearest_name<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let names: Vec<&str> = names.into_iter().collect();
    let name = name.trim().to_lowercase();
    let is_word = |part: &str| {
        let mut known = names.iter().flat_map(|name| parts(name));
        ACTIONS.contains(&part) || known.any(|known| known.eq_ignore_ascii_case(part))
    };
    let slips: Vec<(&str, bool)> = parts(&name).map(|part| (part, is_word(part))).collect();
    names
        .iter()
        .filter_map(|candidate| Some((misspelt(&name, &slips, candidate)?, *candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(['.', '_', '-', '/', ' '])
        .filter(|part| !part.is_empty())
}

/// Returns the edit distance between `name`, split into `slips` (each part, and whether it is a known word),
/// and `candidate`; `None` if `name` is not a misspelling of it.
fn misspelt(name: &str, slips: &[(&str, bool)], candidate: &str) -> Option<usize> {
    let candidate = candidate.to_lowercase();
    let joined = |name: &str| parts(name).collect::<String>();
    if joined(name) == joined(&candidate) {
        return Some(0);
    }
    if parts(&candidate).count() != slips.len() {
        return None;
    }
    let mut total = 0;
    for ((part, is_word), other) in slips.iter().zip(parts(&candidate)) {
        let distance = strsim::osa_distance(part, other);
        let slip = !is_word && distance <= (part.chars().count() / 3).max(1);
        if distance > 0 && !slip {
            return None;
        }
        total += distance;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::nearest_name;

    /// S2.44: suggestions are similar spellings, and never one action for another.
    #[test]
    fn only_near_misses_are_suggested() {
        let skills = [
            "email.search",
            "email.send",
            "tasks.create",
            "tasks.set",
            "tasks.delete",
            "gmail_send",
            "gmail_list_events",
            "notes.add",
            "report",
            "weekly-report",
        ];
        for (typed, meant) in [
            ("email.serach", Some("email.search")),
            ("email.sent", Some("email.send")),
            ("mail.send", Some("email.send")),
            ("Email.Send", Some("email.send")),
            ("email_send", Some("email.send")),
            ("gmail_list_event", Some("gmail_list_events")),
            ("reprot", Some("report")),
            ("weekly_report", Some("weekly-report")),
            // Known words, which are not misspellings of others.
            ("tasks.get", None),
            ("tasks.update", None),
            ("tasks.send", None),
            ("email.delete", None),
            ("email.add", None),
            ("gmail_read", None),
            ("notes.send", None),
            // Not similar enough.
            ("email.forward", None),
            ("tasks.remove", None),
            ("calendar.send", None),
            ("email", None),
            ("", None),
        ] {
            assert_eq!(nearest_name(typed, skills), meant, "{typed}");
        }
    }
}
