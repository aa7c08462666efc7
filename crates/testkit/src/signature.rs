//! Signatures of deliveries, as a sender makes them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac::{HMAC_SHA256, Key, sign};

/// The HMAC with SHA-256 of some content.
pub fn hmac_sha256(secret: &[u8], content: &[u8]) -> Vec<u8> {
    sign(&Key::new(HMAC_SHA256, secret), content)
        .as_ref()
        .to_vec()
}

/// The same in hex.
pub fn hmac_hex(secret: &[u8], content: &[u8]) -> String {
    let bytes = hmac_sha256(secret, content);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The same in base64.
pub fn hmac_base64(secret: &[u8], content: &[u8]) -> String {
    STANDARD.encode(hmac_sha256(secret, content))
}
