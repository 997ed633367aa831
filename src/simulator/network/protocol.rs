//! The link protocol of the transputer at bit level: bytes and their acknowledges on two wires.
//!
//! Sources: t800-hardware, section 1; INMOS Transputer Databook; the CERN measurement of 1989. A data packet has 11
//! bits, an acknowledge has 2. The acknowledge of a byte starts 5.5 bit times after the start bit of the byte has
//! arrived. The next byte starts at the earliest 5.5 bit times after the start bit of the acknowledge has arrived. An
//! acknowledge waits for a data packet that is already on its wire. Each C004 switch delays a packet by 1.75 bit times.
//! No measured rate is a parameter.

use crate::engine::{Calendar, Entity};
use crate::units::{BitRate, BitTimes, SimDuration, SimTime};
use serde::{Deserialize, Serialize};

/// The parameters of the link protocol, from which the byte rates follow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// The bit rate of each wire.
    pub bit_rate: BitRate,
    /// Bits of a data packet, which carries one byte.
    pub data_bits: u32,
    /// Bits of an acknowledge.
    pub acknowledge_bits: u32,
    /// Earliest time from the arrival of a packet's start bit to the start of its answer: the acknowledge of a byte, or
    /// the byte that follows an acknowledge.
    pub turnaround: BitTimes,
    /// Number of C004 crossbar switches on the path.
    pub c004: u32,
    /// Delay of a packet at each C004 switch.
    pub c004_delay: BitTimes,
}

/// The times per byte of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkRates {
    /// The time per byte while the other direction is idle.
    pub one_way: SimDuration,
    /// The time per byte in each direction while both are busy.
    pub two_way: SimDuration,
}

impl LinkRates {
    /// Returns the rate of one direction alone, in bytes per second.
    #[must_use]
    pub fn one_way_bytes_per_s(&self) -> f64 {
        1.0 / self.one_way.seconds()
    }

    /// Returns the rate of both directions together, in bytes per second.
    #[must_use]
    pub fn two_way_bytes_per_s(&self) -> f64 {
        2.0 / self.two_way.seconds()
    }
}

/// Number of bytes that are simulated.
const BYTES: u32 = 1000;
/// Number of bytes at the beginning that are not measured.
const WARM_UP_BYTES: u32 = 100;

impl Protocol {
    /// Returns the rates that follow from the protocol, by simulating packets and acknowledges.
    #[must_use]
    pub fn rates(&self) -> LinkRates {
        LinkRates { one_way: self.byte_time([BYTES, 0]), two_way: self.byte_time([BYTES, BYTES]) }
    }

    /// Returns the mean time per byte sent by end 0 when the two ends send these numbers of bytes.
    fn byte_time(&self, bytes: [u32; 2]) -> SimDuration {
        let mut wires = WirePair::new(self, bytes);
        let mut counted_from = SimTime::START;
        while wires.ends[0].unacknowledged > 0 {
            let now = wires.step().expect("a byte that is not acknowledged has its next event");
            if wires.ends[0].unacknowledged == BYTES - WARM_UP_BYTES && counted_from == SimTime::START {
                counted_from = now;
            }
            if wires.ends[0].unacknowledged == 0 {
                return now.since(counted_from).ratio(1, u64::from(BYTES - WARM_UP_BYTES));
            }
        }
        SimDuration::ZERO
    }

    fn bits(&self, packet: PacketFormat) -> u32 {
        match packet {
            PacketFormat::Data => self.data_bits,
            PacketFormat::Acknowledge => self.acknowledge_bits,
        }
    }

    /// Returns the time from the start of a packet at one end to the earliest start of its answer at the other.
    fn to_answer(&self) -> SimDuration {
        self.bit_rate.time(u64::from(self.c004) * self.c004_delay.centibits() + self.turnaround.centibits())
    }
}

#[derive(Clone, Copy)]
enum PacketFormat {
    Data,
    Acknowledge,
}

/// The two wires of a link; end `i` sends on wire `i`.
///
/// A byte is sent only after its predecessor has been acknowledged. Each end therefore has at most one unacknowledged
/// byte and at most one acknowledge that the next byte is to follow.
struct WirePair<'p> {
    protocol: &'p Protocol,
    calendar: Calendar,
    ends: [End; 2],
}

#[derive(Clone, Copy)]
struct End {
    unacknowledged: u32,
    wire_free: SimTime,
}

/// Returns the entity of an event: `end` answers a byte, or an acknowledge.
const fn answers(end: usize, packet: PacketFormat) -> Entity {
    [[0, 1], [2, 3]][end][packet as usize]
}

impl<'p> WirePair<'p> {
    fn new(protocol: &'p Protocol, bytes: [u32; 2]) -> Self {
        let ends = bytes.map(|unacknowledged| End { unacknowledged, wire_free: SimTime::START });
        let mut wires = Self { protocol, calendar: Calendar::new(), ends };
        for end in [0, 1] {
            wires.send_next_byte(SimTime::START, end);
        }
        wires
    }

    /// Runs the next answer and returns its time.
    fn step(&mut self) -> Option<SimTime> {
        let (now, entity) = self.calendar.pop()?;
        let end = usize::from(entity >= answers(1, PacketFormat::Data));
        if entity == answers(end, PacketFormat::Data) {
            self.transmit(now, end, PacketFormat::Acknowledge);
        } else {
            self.ends[end].unacknowledged -= 1;
            self.send_next_byte(now, end);
        }
        Some(now)
    }

    fn send_next_byte(&mut self, now: SimTime, end: usize) {
        if self.ends[end].unacknowledged > 0 {
            self.transmit(now, end, PacketFormat::Data);
        }
    }

    /// Sends a packet as soon as the wire is free and schedules its answer at the other end.
    fn transmit(&mut self, now: SimTime, end: usize, packet: PacketFormat) {
        let start = now.max(self.ends[end].wire_free);
        self.ends[end].wire_free = start + self.protocol.bit_rate.time(100 * u64::from(self.protocol.bits(packet)));
        self.calendar.schedule(start + self.protocol.to_answer(), answers(1 - end, packet));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transputer(c004: u32) -> Protocol {
        let parse = |text: &str| text.parse().unwrap();
        Protocol {
            bit_rate: "20 Mbit/s".parse().unwrap(),
            data_bits: 11,
            acknowledge_bits: 2,
            turnaround: parse("5.5 bit"),
            c004,
            c004_delay: parse("1.75 bit"),
        }
    }

    fn bit_times(span: SimDuration) -> f64 {
        span.seconds() * 20e6
    }

    #[test]
    fn a_lone_stream_is_limited_by_the_packet_or_by_the_turnaround() {
        // 11 bits of data; the two turnarounds take 11 bits as well, and each switch is passed twice.
        for (c004, period) in [(0, 11.0), (1, 14.5), (2, 18.0), (4, 25.0)] {
            assert!((bit_times(transputer(c004).rates().one_way) - period).abs() < 1e-9, "{c004} switches");
        }
    }

    #[test]
    fn with_both_directions_busy_acknowledges_wait_for_data() {
        // An acknowledge waits for the 11 bits of the byte that its own end sends and is answered 5.5 bit times later.
        for (c004, period) in [(0, 16.5), (1, 18.25), (2, 20.0)] {
            assert!((bit_times(transputer(c004).rates().two_way) - period).abs() < 1e-9, "{c004} switches");
        }
    }

    #[test]
    fn the_rates_scale_with_the_wire() {
        let slow = Protocol { bit_rate: "10 Mbit/s".parse().unwrap(), ..transputer(0) };
        assert_eq!(slow.rates().one_way, transputer(0).rates().one_way * 2);
    }
}
