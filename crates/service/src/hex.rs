//! Hexadecimal digits, and SHA-256 digests in them.

use deft_model::Digest;

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Returns the SHA-256 of `bytes` in lower-case digits.
pub fn hex_digest(bytes: &[u8]) -> String {
    Digest::sha256(bytes).to_string()
}

/// Returns two lower-case digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// Returns the bytes that the digits of a text mean, in lower or upper case.
pub fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| u8::try_from(char::from(digit).to_digit(16)?).ok();
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs
        .iter()
        .map(|[high, low]| Some(value(*high)? << 4 | value(*low)?));
    bytes.collect::<Option<_>>().filter(|_| rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_digits_and_return() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(decode_hex(&hex(&bytes)), Some(bytes));
        assert_eq!(hex(&[0x0f, 0xa0]), "0fa0");
        assert_eq!(decode_hex("0FA0"), Some(vec![0x0f, 0xa0]));
        for text in ["0", "0g", "+1", "é0", " 1"] {
            assert_eq!(decode_hex(text), None, "{text}");
        }
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(hex_digest(b""), empty);
    }
}
