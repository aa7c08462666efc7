//! The part of the protobuf wire format that OTLP needs.

/// A message, encoded field by field.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message(Vec<u8>);

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const BYTES: u32 = 2;

impl Message {
    /// Returns the encoded message.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn tag(&mut self, field: u32, wire: u32) {
        self.varint(u64::from(field << 3 | wire));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            let [low, ..] = value.to_le_bytes();
            self.0.push(low | 0x80);
            value >>= 7;
        }
        let [low, ..] = value.to_le_bytes();
        self.0.push(low);
    }

    /// Encodes a varint: an integer, an enum or a boolean.
    pub(crate) fn number(&mut self, field: u32, value: u64) {
        self.tag(field, VARINT);
        self.varint(value);
    }

    /// Encodes a 64-bit number with fixed length.
    pub(crate) fn encode_fixed(&mut self, field: u32, value: u64) {
        self.tag(field, FIXED64);
        self.0.extend(value.to_le_bytes());
    }

    /// Encodes a floating-point number.
    pub(crate) fn double(&mut self, field: u32, value: f64) {
        self.encode_fixed(field, value.to_bits());
    }

    /// Encodes bytes or a string.
    pub(crate) fn bytes(&mut self, field: u32, value: &[u8]) {
        self.tag(field, BYTES);
        self.varint(u64::try_from(value.len()).unwrap_or(u64::MAX));
        self.0.extend(value);
    }

    /// Encodes a nested message.
    pub(crate) fn message(&mut self, field: u32, inner: &Self) {
        self.bytes(field, &inner.0);
    }

    /// Encodes a packed list of 64-bit numbers.
    pub(crate) fn encode_packed(&mut self, field: u32, values: impl IntoIterator<Item = u64>) {
        let values: Vec<u8> = values.into_iter().flat_map(u64::to_le_bytes).collect();
        self.bytes(field, &values);
    }
}
