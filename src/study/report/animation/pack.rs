//! Numbers as text that can be embedded in a page: LEB128 in base 64.

/// The digits of base 64.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The bytes of a stream of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packed(Vec<u8>);

impl Packed {
    /// Adds a number with seven bits per byte, the low ones first. All bytes except the last have their highest bit
    /// set.
    pub fn put(&mut self, number: impl Into<u64>) {
        let mut number = number.into();
        while number > 0x7f {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push((number & 0x7f) as u8);
    }

    /// Adds a share between 0 and 1 as two bytes, the low one first.
    pub fn put_share(&mut self, share: f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 65535")]
        let scaled = (share.clamp(0.0, 1.0) * 65535.0).round() as u16;
        self.0.extend(scaled.to_le_bytes());
    }

    /// Returns the number of bytes so far.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl serde::Serialize for Packed {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base64(&self.0))
    }
}

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = three.iter().chain(&[0; 2]).take(3).fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte));
        for digit in 0..4 {
            let is_padding = digit > three.len();
            text.push(if is_padding { '=' } else { char::from(DIGITS[bits >> (18 - 6 * digit) & 63]) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test vectors of RFC 4648, section 10.
    #[test]
    fn bytes_are_base_64() {
        let written = [&b""[..], b"f", b"fo", b"foo", b"foob", b"fooba", b"foobar"].map(base64);
        assert_eq!(written, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]);
    }

    #[test]
    fn numbers_take_seven_bits_a_byte() {
        let mut packed = Packed::default();
        for number in [0_u64, 127, 128, 300] {
            packed.put(number);
        }
        packed.put_share(1.0);
        assert_eq!(packed.0, [0, 127, 0x80, 1, 0xac, 2, 0xff, 0xff]);
    }
}
