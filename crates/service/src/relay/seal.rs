//! Signs text that a client stores for deft between two requests. Text that was changed, or was issued for
//! another purpose, is rejected.

use ring::hmac::{self, HMAC_SHA256, Key};
use ring::rand::SystemRandom;

use crate::hex::{decode_hex, hex};

/// Length of the signature, in hexadecimal digits.
const LENGTH: usize = 64;

/// A signing key that lives as long as the process.
pub struct Seal {
    key: Option<Key>,
}

impl Default for Seal {
    fn default() -> Self {
        Self {
            // Without randomness, signing and verification always fail.
            key: Key::generate(HMAC_SHA256, &SystemRandom::new()).ok(),
        }
    }
}

impl Seal {
    /// Returns `text` with a signature that is valid for `purpose` only.
    pub fn close(&self, purpose: &str, text: &str) -> Option<String> {
        let tag = hmac::sign(self.key.as_ref()?, &content(purpose, text));
        Some(format!("{}{text}", hex(tag.as_ref())))
    }

    /// Returns the text if its signature is valid for `purpose`.
    pub fn open<'a>(&self, purpose: &str, sealed: &'a str) -> Option<&'a str> {
        let (tag, text) = sealed.split_at_checked(LENGTH)?;
        let tag = decode_hex(tag)?;
        let is_whole = hmac::verify(self.key.as_ref()?, &content(purpose, text), &tag).is_ok();
        is_whole.then_some(text)
    }
}

/// The length prefix keeps different pairs of purpose and text from having the same content.
fn content(purpose: &str, text: &str) -> Vec<u8> {
    format!("{}:{purpose}{text}", purpose.len()).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_sealed_for_the_purpose_is_opened() {
        let seal = Seal::default();
        let sealed = seal.close("a", "state").unwrap();
        assert_eq!(seal.open("a", &sealed), Some("state"));
        assert_eq!(seal.open("b", &sealed), None);
        assert_eq!(Seal::default().open("a", &sealed), None);
        for changed in [
            "",
            "x",
            &format!("{sealed}x"),
            &sealed.replacen(&sealed[..1], "g", 1),
        ] {
            assert_eq!(seal.open("a", changed), None, "{changed}");
        }
    }
}
