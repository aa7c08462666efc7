//! Deterministic pseudo-random numbers.

/// Returns a hash that depends only on `bytes` (FNV-1a). Suitable for spreading values, but not as an
/// identity where an attacker may want collisions.
pub fn scatter(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::scatter;

    #[test]
    fn hashes_equal_fnv_1a() {
        assert_eq!(scatter([]), 0xcbf2_9ce4_8422_2325);
        assert_eq!(scatter(*b"foobar"), 0x8594_4171_f739_67e8);
    }
}
