//! Round robin among the channels of every input port of a router at once.

/// The channels of a port are a *field* of adjacent bits of a word: one bit for each channel, the same number of bits for
/// each port. These operations treat all fields of a word at once, without loops: a sum or difference of words is one of
/// their fields as long as no field has a carry, and to see whether a field has any bit, all of its bits but the highest
/// one are filled up until they carry into the highest one.
#[derive(Clone, Copy)]
pub(super) struct PortFields {
    /// The highest bit of every field.
    highest: u64,
    /// The distance between the lowest and the highest bit of a field.
    span: u32,
}

impl PortFields {
    /// Creates the fields of `channels` bits that fit into a word.
    pub(super) const fn new(channels: u32) -> Self {
        let (mut highest, mut end) = (0, channels);
        while end <= u64::BITS {
            highest |= 1 << (end - 1);
            end += channels;
        }
        Self { highest, span: channels - 1 }
    }

    /// Returns the highest bit of every field that has any of the `bits`.
    const fn occupied(self, bits: u64) -> u64 {
        let others = !self.highest;
        ((bits & others).wrapping_add(others) | bits) & self.highest
    }

    /// Returns the lowest bit of every field, given the highest ones.
    const fn lowest(self, highest: u64) -> u64 {
        highest >> self.span
    }

    /// Returns all bits of every field, given the highest ones.
    const fn whole(self, highest: u64) -> u64 {
        (highest << 1).wrapping_sub(self.lowest(highest))
    }

    /// Returns the highest bit of every field of a word.
    pub(super) const fn highest(self) -> u64 {
        self.highest
    }

    /// Selects the next one of the `ready` channels of every port: the first one after the channel that was served
    /// `last`, or else the first one of all.
    #[inline]
    pub(super) const fn next(self, ready: u64, last: u64) -> Selected {
        let later = ready & (self.highest - last) << 1;
        let candidates = later | ready & !self.whole(self.occupied(later));
        let ports = self.occupied(ready);
        Selected { channels: candidates & !candidates.wrapping_sub(self.lowest(ports)), ports }
    }

    /// Returns the selection without a channel that is selected.
    pub(super) const fn without(self, selected: Selected, channel: u64) -> Selected {
        let Selected { channels, ports } = selected;
        Selected { channels: channels & !channel, ports: ports & !self.occupied(channel) }
    }

    /// Returns the channels that were served last once those of a selection have been.
    #[inline]
    pub(super) const fn served(self, last: u64, selected: Selected) -> u64 {
        last & !self.whole(selected.ports) | selected.channels
    }
}

/// At most one channel of every port of a word.
#[derive(Clone, Copy)]
pub(super) struct Selected {
    pub(super) channels: u64,
    /// The highest bits of the fields of these channels.
    ports: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the channel of a port that round robin serves.
    fn next_of_port(ready: u64, last: u64) -> u64 {
        let later = ready & !(last | (last - 1));
        let candidates = if later == 0 { ready } else { later };
        candidates & candidates.wrapping_neg()
    }

    #[test]
    fn all_ports_of_a_word_are_served_like_each_of_them() {
        let mut random = 1_u64;
        for channels in 1..=64 {
            let fields = PortFields::new(channels);
            let (ports, of_port) = (64 / channels, u64::MAX >> (64 - channels));
            let mut last = fields.highest();
            for _ in 0..100 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let ready = (random ^ random >> 29) & u64::MAX >> (64 - ports * channels);
                let (mut next, mut then) = (0, 0);
                for shift in (0..ports).map(|port| port * channels) {
                    let before = last >> shift & of_port;
                    let served = next_of_port(ready >> shift & of_port, before);
                    next |= served << shift;
                    then |= if served == 0 { before } else { served } << shift;
                }
                let selected = fields.next(ready, last);
                assert_eq!(selected.channels, next, "{channels} channels");
                last = fields.served(last, selected);
                assert_eq!(last, then, "{channels} channels");
            }
        }
    }

    #[test]
    fn a_port_whose_channel_is_not_served_keeps_its_turn() {
        let fields = PortFields::new(4);
        let (ready, last) = (0b0110_0011, fields.highest() & !0xff | 0b0010_0001);
        let selected = fields.next(ready, last);
        assert_eq!(selected.channels, 0b0100_0010);
        assert_eq!(fields.served(last, fields.without(selected, 0b0010)) & 0xff, 0b0100_0001);
        assert_eq!(fields.served(last, fields.without(selected, 0b0100_0000)) & 0xff, 0b0010_0010);
    }
}
