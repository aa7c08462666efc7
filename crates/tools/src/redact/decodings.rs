//! A view of a text after one more decoding, with the original position of every byte.
//!
//! Decoding finds a secret in any escaped form: tools escape different characters, in upper or lower
//! case, and a JSON text may contain another one.
//!
//! Not here: the search patterns (`forms.rs`).

/// Decoded bytes, each with its range in the original text.
pub(super) struct View<'a> {
    pub(super) bytes: std::borrow::Cow<'a, [u8]>,
    /// `None` if the bytes are the original text.
    places: Option<Vec<(usize, usize)>>,
}

impl<'a> View<'a> {
    /// Returns the view of an original text.
    pub(super) fn from_text(text: &'a str) -> Self {
        Self {
            bytes: text.as_bytes().into(),
            places: None,
        }
    }

    /// Returns the range of the original text for a range of this view, which must not be empty.
    pub(super) fn original(&self, start: usize, end: usize) -> (usize, usize) {
        match &self.places {
            None => (start, end),
            Some(places) => (places[start].0, places[end - 1].1),
        }
    }

    /// Returns the view without separator bytes.
    pub(super) fn without(&self, is_separator: fn(u8) -> bool) -> View<'static> {
        let mut decoded = Decoder::new(self);
        for (at, byte) in self.bytes.iter().enumerate() {
            if !is_separator(*byte) {
                decoded.push(&[*byte], at, at + 1);
            }
        }
        decoded.view()
    }

    /// Decodes JSON escapes; `None` if the view contains none.
    pub(super) fn decode_json(&self) -> Option<View<'static>> {
        self.decode_with(b'\\', escape)
    }

    /// Decodes percent-encoding such as `%41`; `None` if the view contains none.
    pub(super) fn decode_percent(&self) -> Option<View<'static>> {
        self.decode_with(b'%', percent)
    }

    /// Decodes form encoding, in which a plus sign is a blank; `None` if the view contains none.
    pub(super) fn unquoted_form(&self) -> Option<View<'static>> {
        self.decode_with(b'+', form)
    }

    /// Replaces every escape that `decode` recognises. `needed` is a byte that every escape contains.
    fn decode_with(&self, needed: u8, decode: Decode) -> Option<View<'static>> {
        if !self.bytes.contains(&needed) {
            return None;
        }
        let (mut decoded, mut at, mut changed) = (Decoder::new(self), 0, false);
        while at < self.bytes.len() {
            let rest = &self.bytes[at..];
            let (bytes, count, taken) = decode(rest).map_or(([rest[0], 0, 0, 0], 1, 1), |found| {
                changed = true;
                found
            });
            decoded.push(&bytes[..count], at, at + taken);
            at += taken;
        }
        changed.then(|| decoded.view())
    }
}

/// A decoded escape: up to four bytes, their number, and the length of the escape.
type Letter = ([u8; 4], usize, usize);
/// Decodes the escape at the start of some bytes; `None` if they do not start with one.
type Decode = fn(&[u8]) -> Option<Letter>;

struct Decoder<'a, 'b> {
    from: &'b View<'a>,
    bytes: Vec<u8>,
    places: Vec<(usize, usize)>,
}

impl<'a, 'b> Decoder<'a, 'b> {
    fn new(from: &'b View<'a>) -> Self {
        Self {
            from,
            bytes: Vec::with_capacity(from.bytes.len()),
            places: Vec::with_capacity(from.bytes.len()),
        }
    }

    fn push(&mut self, bytes: &[u8], start: usize, end: usize) {
        let place = self.from.original(start, end);
        self.bytes.extend_from_slice(bytes);
        self.places.extend(bytes.iter().map(|_| place));
    }

    fn view(self) -> View<'static> {
        View {
            bytes: self.bytes.into(),
            places: Some(self.places),
        }
    }
}

fn one(byte: u8, taken: usize) -> Letter {
    ([byte, 0, 0, 0], 1, taken)
}

fn escape(bytes: &[u8]) -> Option<Letter> {
    let [b'\\', kind, ..] = bytes else {
        return None;
    };
    let byte = match kind {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'f' => 12,
        b'"' | b'\\' | b'/' | b'\'' => *kind,
        b'u' => return unicode(bytes),
        _ => return None,
    };
    Some(one(byte, 2))
}

/// Decodes `\u00e4`, or a surrogate pair.
fn unicode(bytes: &[u8]) -> Option<Letter> {
    let unit = |at: usize| -> Option<u16> {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        let digits = std::str::from_utf8(digits).ok()?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit(0)?;
    let units = [first, unit(6).unwrap_or_default()];
    let mut letters = char::decode_utf16(units);
    let letter = letters.next()?.ok()?;
    let mut encoded = [0; 4];
    let count = letter.encode_utf8(&mut encoded).len();
    Some((encoded, count, letter.len_utf16() * 6))
}

fn percent(bytes: &[u8]) -> Option<Letter> {
    let [b'%', high, low, ..] = bytes else {
        return None;
    };
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let value = digit(high)? * 16 + digit(low)?;
    Some(one(u8::try_from(value).ok()?, 3))
}

fn form(bytes: &[u8]) -> Option<Letter> {
    match bytes.first() {
        Some(b'+') => Some(one(b' ', 1)),
        _ => percent(bytes),
    }
}
