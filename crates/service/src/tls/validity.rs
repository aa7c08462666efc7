//! Parses the expiry of a certificate: only the path to `notAfter` in X.509.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Returns the end of the validity of a certificate in DER; `None` if it cannot be parsed.
pub(super) fn expires_at(certificate: &[u8]) -> Option<Timestamp> {
    let (outer, _) = expect(certificate, SEQUENCE)?;
    let (signed, _) = expect(outer, SEQUENCE)?;
    let rest = match element(signed)? {
        (VERSION, _, rest) => rest,
        _ => signed,
    };
    // The serial number, the algorithm and the issuer precede the validity.
    let rest = (0..3).try_fold(rest, |rest, _| element(rest).map(|(_, _, rest)| rest))?;
    let (validity, _) = expect(rest, SEQUENCE)?;
    let (_, _, rest) = element(validity)?;
    let (tag, text, _) = element(rest)?;
    read_time(tag, std::str::from_utf8(text).ok()?)
}

fn expect(bytes: &[u8], wanted: u8) -> Option<(&[u8], &[u8])> {
    let (tag, content, rest) = element(bytes)?;
    (tag == wanted).then_some((content, rest))
}

/// Returns the tag and the content of the first element, and the bytes after it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, bytes) = bytes.split_first()?;
    let (first, bytes) = bytes.split_first()?;
    let (length, bytes) = match first {
        0..=0x7f => (usize::from(*first), bytes),
        0x81..=0x84 => {
            let (long, bytes) = bytes.split_at_checked(usize::from(first & 0x7f))?;
            let length = long.iter().try_fold(0_usize, |length, byte| {
                Some(length.checked_mul(256)? + usize::from(*byte))
            })?;
            (length, bytes)
        }
        _ => return None,
    };
    let (content, rest) = bytes.split_at_checked(length)?;
    Some((*tag, content, rest))
}

fn read_time(tag: u8, text: &str) -> Option<Timestamp> {
    let digits = text.strip_suffix('Z')?;
    let full = match tag {
        // For two-digit years, 50 and later are in the 20th century (RFC 5280).
        UTC_TIME if digits.get(..2)? < "50" => format!("20{digits}"),
        UTC_TIME => format!("19{digits}"),
        GENERALIZED_TIME => digits.to_owned(),
        _ => return None,
    };
    let time = DateTime::strptime("%Y%m%d%H%M%S", full).ok()?;
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp())
}
