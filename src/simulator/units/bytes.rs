//! Amounts of data, and times per byte.

use super::text::{QuantityError, QuantityKind, gcd, positive, quantity, quantity_text};
use super::time::{self, SimDuration};
use std::fmt;
use std::str::FromStr;

const SIZE: QuantityKind = QuantityKind {
    wanted: "a size, such as \"4 KiB\" (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)",
    units: &[
        ("B", 1),
        ("kB", 1_000),
        ("KiB", 1 << 10),
        ("MB", 1_000_000),
        ("MiB", 1 << 20),
        ("GB", 1_000_000_000),
        ("GiB", 1 << 30),
        ("TB", 1_000_000_000_000),
        ("TiB", 1 << 40),
    ],
    smallest: "1 B",
    largest: "16777215 TiB",
};

/// The rate of a link or a memory, in bits per second.
const RATE: QuantityKind = QuantityKind {
    wanted: "a time per byte or a bandwidth, such as \"0.68 us/B\" or \"20 Mbit/s\" \
             (ps/B, ns/B, us/B, ms/B; bit/s, kbit/s, Mbit/s, Gbit/s, B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s)",
    units: &[
        ("B/s", 8),
        ("kB/s", 8_000),
        ("MB/s", 8_000_000),
        ("GB/s", 8_000_000_000),
        ("TB/s", 8_000_000_000_000),
        ("KiB/s", 8 << 10),
        ("MiB/s", 8 << 20),
        ("GiB/s", 8 << 30),
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
    ],
    smallest: "1 bit/s",
    largest: "18446744073 Gbit/s",
};

/// A bandwidth that was given in bytes, in bytes per second.
const BYTE_RATE: QuantityKind = QuantityKind {
    units: &[("B/s", 1), ("kB/s", 1_000), ("MB/s", 1_000_000), ("GB/s", 1_000_000_000), ("TB/s", 1_000_000_000_000)],
    ..RATE
};

/// A bandwidth of whole MiB, in bytes per second.
const BINARY_RATE: QuantityKind = QuantityKind { units: &[("MiB/s", 1 << 20), ("GiB/s", 1 << 30)], ..RATE };

/// An amount of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// Returns the size of `count` bytes.
    #[must_use]
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// Returns the size of `count` KiB, 1024 bytes each.
    ///
    /// # Panics
    /// Panics if the size is 2^64 bytes or more; in a constant this is a compile-time error.
    #[must_use]
    pub const fn from_kib(count: u64) -> Self {
        Self(count.checked_mul(1 << 10).expect("fewer than 2^64 bytes"))
    }

    /// Returns the size of `count` MiB, 1024 KiB each.
    ///
    /// # Panics
    /// Panics if the size is 2^64 bytes or more; in a constant this is a compile-time error.
    #[must_use]
    pub const fn from_mib(count: u64) -> Self {
        Self(count.checked_mul(1 << 20).expect("fewer than 2^64 bytes"))
    }

    /// Returns the size of `count` GiB, 1024 MiB each.
    ///
    /// # Panics
    /// Panics if the size is 2^64 bytes or more; in a constant this is a compile-time error.
    #[must_use]
    pub const fn from_gib(count: u64) -> Self {
        Self(count.checked_mul(1 << 30).expect("fewer than 2^64 bytes"))
    }

    /// Returns the number of bytes.
    #[must_use]
    pub const fn count(self) -> u64 {
        self.0
    }
}

quantity!(Bytes, SIZE, parse_whole, "a size with its unit, such as \"4 KiB\"");

/// The time per byte, as an exact ratio: `span` for every `bytes` bytes.
///
/// In a scenario it is a time per byte (`"0.68 us/B"`) or a bandwidth (`"20 Mbit/s"`). A bandwidth is written in bits or
/// in bytes, as it was given: with the bits in eight seconds or the bytes in one second.
#[derive(Clone, Copy, Debug)]
pub struct PerByte {
    span: SimDuration,
    bytes: u64,
}

/// The time of a byte at one bit per second.
const EIGHT_SECONDS: SimDuration = SimDuration::from_us(8_000_000);
/// The time of a byte at one byte per second.
const ONE_SECOND: SimDuration = SimDuration::from_us(1_000_000);

impl PartialEq for PerByte {
    fn eq(&self, other: &Self) -> bool {
        let product = |one: &Self, other: &Self| u128::from(one.span.ps()) * u128::from(other.bytes);
        product(self, other) == product(other, self)
    }
}

impl Eq for PerByte {}

impl Default for PerByte {
    /// Returns [`FREE`](Self::FREE).
    fn default() -> Self {
        Self::FREE
    }
}

impl PerByte {
    /// The time per byte of bytes that take no time.
    pub const FREE: Self = Self { span: SimDuration::ZERO, bytes: 1 };

    /// Returns the time per byte at which one byte takes `span`.
    #[must_use]
    pub const fn new(span: SimDuration) -> Self {
        Self { span, bytes: 1 }
    }

    /// Returns the time per byte over `lanes` lanes, at least one, each of which has this time per byte.
    #[must_use]
    pub const fn of_lanes(self, lanes: u32) -> Self {
        Self { span: self.span, bytes: self.bytes.saturating_mul(lanes as u64) }
    }

    /// Returns the time per byte of a bandwidth of `bits` per second, which must not be zero.
    #[must_use]
    const fn from_bits_per_s(bits: u64) -> Self {
        Self { span: EIGHT_SECONDS, bytes: bits }
    }

    /// Returns the time per byte of a bandwidth that was given as `text`.
    fn of_bandwidth(text: &str, bits: u64) -> Self {
        if text.trim_end().ends_with("B/s") && bits.is_multiple_of(8) {
            Self { span: ONE_SECOND, bytes: bits / 8 }
        } else {
            Self::from_bits_per_s(bits)
        }
    }

    /// Returns the digits of a time per byte that is not a whole number of picoseconds; `None` for a bandwidth.
    ///
    /// The span of a bandwidth is eight seconds or one, which have a common divisor with every power of ten.
    fn decimal(self) -> Option<String> {
        let decimals = (1..20).find(|decimals| 10u128.pow(*decimals).is_multiple_of(u128::from(self.bytes)));
        let decimals = decimals.filter(|_| self.span != EIGHT_SECONDS && self.span != ONE_SECOND)?;
        let scale = 10u128.pow(decimals);
        let digits = u128::from(self.span.ps()) * (scale / u128::from(self.bytes));
        Some(format!("{}.{:0width$}", digits / scale, digits % scale, width = decimals as usize))
    }

    /// Returns the time of `bytes` bytes, rounded once to the nearest picosecond.
    #[must_use]
    pub fn time(self, bytes: u64) -> SimDuration {
        if self.bytes == 1 { self.span * bytes } else { self.span.ratio(bytes, self.bytes) }
    }

    /// Returns the time of a number of bytes that need not be whole, rounded once.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "rates are given to a few digits")]
    pub fn time_of_share(self, bytes: f64) -> SimDuration {
        SimDuration::from_seconds(bytes * self.span.seconds() / self.bytes as f64)
    }

    /// Returns the rate in bytes per second, for reports only. It is infinite if bytes take no time.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a report shows fewer digits than f64 has")]
    pub fn bytes_per_s(self) -> f64 {
        self.bytes as f64 / self.span.seconds()
    }
}

impl From<BitRate> for PerByte {
    fn from(rate: BitRate) -> Self {
        Self::from_bits_per_s(rate.0)
    }
}

impl FromStr for PerByte {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        if let Some(time) = text.trim().strip_suffix("/B") {
            let (ps, bytes) = time::KIND.parse_ratio(time)?;
            return Ok(Self { span: SimDuration::from_ps(ps), bytes });
        }
        RATE.parse_positive(text).map(|bits| Self::of_bandwidth(text, bits))
    }
}

impl fmt::Display for PerByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.decimal() {
            _ if self.bytes == 1 => write!(f, "{}/B", self.span),
            Some(ps) => write!(f, "{ps} ps/B"),
            None if self.span != ONE_SECOND => RATE.write(f, self.bytes),
            None if self.bytes.is_multiple_of(1 << 20) => BINARY_RATE.write(f, self.bytes),
            None => BYTE_RATE.write(f, self.bytes),
        }
    }
}

impl serde::Serialize for PerByte {
    /// Writes machine-readable formats in lowest terms, so that equal values are written alike in whatever unit they
    /// were given.
    fn serialize<S: serde::Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        if sink.is_human_readable() {
            return sink.collect_str(self);
        }
        let (ps, bytes) = (self.span.ps(), self.bytes);
        let divisor = gcd(ps.into(), bytes.into());
        sink.collect_str(&format_args!("{} ps / {} B", u128::from(ps) / divisor, u128::from(bytes) / divisor))
    }
}

quantity_text!(PerByte, read "a time per byte or a bandwidth with its unit, such as \"0.68 us/B\" or \"20 Mbit/s\"");

/// A bit rate of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BitRate(u64);

impl BitRate {
    /// Returns a rate of `count` bit/s.
    ///
    /// # Panics
    /// Panics if the rate is zero; in a constant this is a compile-time error.
    #[must_use]
    pub const fn from_bit_per_s(count: u64) -> Self {
        Self(positive(count, 1))
    }

    /// Returns a rate of `count` Mbit/s, 10^6 bits per second each.
    ///
    /// # Panics
    /// Panics if the rate is zero or more than 2^64 bit/s; in a constant this is a compile-time error.
    #[must_use]
    pub const fn from_mbit_per_s(count: u64) -> Self {
        Self(positive(count, 1_000_000))
    }

    /// Returns a rate of `count` Gbit/s, 10^9 bits per second each.
    ///
    /// # Panics
    /// Panics if the rate is zero or more than 2^64 bit/s; in a constant this is a compile-time error.
    #[must_use]
    pub const fn from_gbit_per_s(count: u64) -> Self {
        Self(positive(count, 1_000_000_000))
    }

    /// Returns the time of a number of hundredths of a bit, rounded once.
    #[must_use]
    pub fn time(self, centibits: u64) -> SimDuration {
        const CENTISECOND: SimDuration = SimDuration::from_us(10_000);
        CENTISECOND.ratio(centibits, self.0)
    }
}

quantity!(BitRate, RATE, parse_positive, "a rate of bits with its unit, such as \"20 Mbit/s\"");

const BIT_TIMES: QuantityKind = QuantityKind {
    wanted: "a number of bit times, such as \"5.5 bit\"",
    units: &[("bit", 100)],
    smallest: "0.01 bit",
    largest: "184467440737095516 bit",
};

/// A span in bit times of a link, with a resolution of a hundredth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct BitTimes(u64);

impl BitTimes {
    /// Returns the span in hundredths of a bit time.
    #[must_use]
    pub const fn centibits(self) -> u64 {
        self.0
    }
}

quantity!(BitTimes, BIT_TIMES, parse, "a number of bit times, such as \"5.5 bit\"");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_converted_once() {
        let fast: PerByte = "56 Gbit/s".parse().unwrap();
        assert_eq!(fast.time(7_000_000_000), SimDuration::from_us(1_000_000));
        let link: PerByte = "0.68 us/B".parse().unwrap();
        assert_eq!(link.time(120), "81.6 us".parse().unwrap());
        assert_eq!("2.5 MB/s".parse::<PerByte>().unwrap(), "20 Mbit/s".parse().unwrap());
    }

    #[test]
    fn a_time_per_byte_is_exact() {
        for (text, bytes, ps) in
            [("1.4 ps/B", 1_000_000, 1_400_000), ("0.0833 ns/B", 10_000, 833_000), ("0.4 ps/B", 5, 2)]
        {
            assert_eq!(text.parse::<PerByte>().unwrap().time(bytes).ps(), ps, "{text}");
        }
        let [slow, fast]: [PerByte; 2] = ["0.08 ps/B", "12500 GB/s"].map(|text| text.parse().unwrap());
        assert!((0..1000).all(|bytes| slow.time(bytes) == fast.time(bytes)));
    }

    #[test]
    fn a_size_is_a_whole_number_of_bytes() {
        for text in ["0.5 B", "1.5 B", "1.1 KiB", "0.0001 kB"] {
            assert!(matches!(text.parse::<Bytes>(), Err(QuantityError::NotWhole { .. })), "{text}");
        }
        assert_eq!(["1.5 KiB", "0.5 kB", "2e0 B"].map(str::parse), [1536, 500, 2].map(|count| Ok(Bytes(count))));
    }

    #[test]
    fn quantities_in_rust_are_those_of_their_texts() {
        assert_eq!(BitRate::from_mbit_per_s(20), "20 Mbit/s".parse().unwrap());
        assert_eq!(BitRate::from_gbit_per_s(1), BitRate::from_bit_per_s(1_000_000_000));
        assert_eq!(PerByte::from(BitRate::from_gbit_per_s(56)), "56 Gbit/s".parse().unwrap());
        assert_eq!([Bytes::from_kib(4), Bytes::from_mib(4)], ["4 KiB", "4 MiB"].map(|text| text.parse().unwrap()));
    }

    #[test]
    fn text_and_back() {
        for text in ["680 ns/B", "20 Mbit/s", "0 us/B", "1.33 us/B", "1.4 ps/B", "83.3 ps/B", "0.0625 ps/B"] {
            assert_eq!(text.parse::<PerByte>().unwrap().to_string(), text);
        }
        for text in ["10 GB/s", "12.5 GB/s", "3 B/s", "999 kB/s", "1.5 GiB/s", "100 Gbit/s", "2 TB/s"] {
            assert_eq!(text.parse::<PerByte>().unwrap().to_string(), text);
        }
        for text in ["120 B", "4 MiB", "4104 B", "64 KiB"] {
            let size: Bytes = text.parse().unwrap();
            assert_eq!(size.to_string().parse::<Bytes>().unwrap(), size);
        }
        assert_eq!("4 MiB".parse::<Bytes>().unwrap().to_string(), "4 MiB");
    }

    #[test]
    fn a_wire_without_speed_is_refused() {
        assert!("0 Mbit/s".parse::<PerByte>().is_err());
        assert!("5 s".parse::<PerByte>().is_err());
        assert!("5".parse::<PerByte>().is_err());
    }
}
