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
