//! Signatures of deliveries, as a sender creates them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac::{HMAC_SHA256, Key, sign};

/// Returns the HMAC-SHA-256 of `content`.
pub fn hmac_sha256(secret: &[u8], content: &[u8]) -> Vec<u8> {
    sign(&Key::new(HMAC_SHA256, secret), content)
        .as_ref()
        .to_vec()
}

/// Returns the HMAC-SHA-256 of `content` in hexadecimal.
pub fn hmac_hex(secret: &[u8], content: &[u8]) -> String {
    let bytes = hmac_sha256(secret, content);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the HMAC-SHA-256 of `content` in base64.
pub fn hmac_base64(secret: &[u8], content: &[u8]) -> String {
    STANDARD.encode(hmac_sha256(secret, content))
}
