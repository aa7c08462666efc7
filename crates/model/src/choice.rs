//! Closed sets of words, such as `skip | queue | cancel_other | allow`, and words near them.

/// An enum whose variants are written as fixed words in skill files.
///
/// One definition serves parsing, messages ("expected one of …"), rendering
/// and the JSON Schema, so that they cannot disagree.
pub trait Choice: Copy + Sized + 'static {
    /// Every variant with its word, in the order in which they are shown.
    const WORDS: &'static [(&'static str, Self)];

    /// The variant that is written as `word`.
    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, choice)| *choice)
    }

    /// The word of this variant.
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

/// The candidate that is most likely meant by a mistyped word, if one is near.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(&word, &candidate.to_lowercase())?, candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters differ, if few enough do: a third of them, or more when
/// the beginning is right and the rest is alike (`upcase` for `upper`).
fn distance(word: &str, candidate: &str) -> Option<usize> {
    let distance = strsim::osa_distance(word, candidate);
    let slip = distance <= (word.chars().count() / 3).max(1);
    let same_start = word.chars().take(2).eq(candidate.chars().take(2));
    let alike = || same_start && strsim::jaro_winkler(word, candidate) > 0.8;
    (slip || alike()).then_some(distance)
}

/// Words that actions go by (S2.58). One of them is never a slip for another.
const ACTIONS: [&str; 8] = [
    "search", "get", "list", "read", "create", "update", "delete", "send",
];

/// The skill, command or tool that is most likely meant by a mistyped name.
///
/// Stricter than [`nearest`]: what is suggested may be called without another thought. Every part of
/// the name is the same or misspelt, and a part that is a word of its own among the names is not a
/// slip for another one: `tasks.get` never suggests `tasks.set`, nor `gmail_read` `gmail_send`.
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

/// How many letters differ between a name, given with its parts, and one that it may stand for.
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

    /// S2.44: suggestions are near spellings, and never one action for another.
    #[test]
    fn only_slips_are_suggested() {
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
            // Words of their own, which are no slips for others.
            ("tasks.get", None),
            ("tasks.update", None),
            ("tasks.send", None),
            ("email.delete", None),
            ("email.add", None),
            ("gmail_read", None),
            ("notes.send", None),
            // Too far away.
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
