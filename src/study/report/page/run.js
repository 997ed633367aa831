// The data of a recorded run at any time. Times are in picoseconds, exact below 2^53, which is more than two hours.

/** Returns the numbers in a packed text: seven bits per byte, the low ones first. */
class Packed {
  constructor(text) {
    this.bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
    this.at = 0;
  }

  next() {
    // Shifts are limited to 32 bits.
    let number = 0, scale = 1;
    for (;;) {
      const byte = this.bytes[this.at];
      this.at += 1;
      number += (byte & 127) * scale;
      if (byte < 128) return number;
      scale *= 128;
    }
  }
}

/** Returns the index of the last of the ascending `values` that is at most `value`; -1 if there is none. */
function lastUpTo(values, value) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= value) low = middle + 1; else high = middle;
  }
  return low - 1;
}

/** A run with picosecond resolution. */
class ExactRun {
  constructor({ scene, detail, makespan }) {
    const exact = detail.Exact;
    Object.assign(this, { scene, makespan, labels: exact.labels.map(([kind, phase]) => ({ kind, phase })), hasLoads: exact.has_transfers });
    this.isExact = true;
    this.rows = this.activities(new Packed(exact.activities));
    this.messages = this.readMessages(new Packed(exact.messages));
    this.channels = exact.has_transfers ? this.readTransfers(new Packed(exact.transfers), exact.shapes) : [];
    this.ofLink = scene.links.map(() => []);
    for (const channel of this.channels) this.ofLink[channel.link].push(channel);
    this.path = this.readPath(new Packed(exact.path));
    this.kinds = [...new Set(this.rows.flatMap(row => [...new Set(row.labels)]).map(label => this.labels[label].kind))];
  }

  /** Reads, for each rank, the starts of its activities, their labels, and the end of the last one. */
  activities(packed) {
    return this.scene.ranks.map(() => {
      const count = packed.next(), begins = new Float64Array(count), labels = new Uint16Array(count);
      let now = 0;
      for (let at = 0; at < count; at += 1) {
        begins[at] = now;
        now += packed.next();
        labels[at] = packed.next();
      }
      return { begins, labels, end: now };
    });
  }

  readMessages(packed) {
    const count = packed.next();
    const messages = { count, sent: new Float64Array(count), received: new Float64Array(count), from: new Uint32Array(count), to: new Uint32Array(count), longest: 0 };
    let now = 0;
    for (let at = 0; at < count; at += 1) {
      now += packed.next();
      const delay = packed.next();
      messages.received[at] = now;
      messages.sent[at] = now - delay;
      messages.longest = Math.max(messages.longest, delay);
      messages.from[at] = packed.next();
      messages.to[at] = packed.next();
    }
    return messages;
  }

  readTransfers(packed, shapes) {
    return Array.from({ length: packed.next() }, () => {
      const link = packed.next(), count = packed.next();
      const channel = { link, first: new Float64Array(count), shape: new Uint32Array(count), sender: new Uint32Array(count),
        destination: new Uint32Array(count), busy: new Float64Array(count + 1), packets: new Float64Array(count + 1), shapes };
      let free = 0;
      for (let at = 0; at < count; at += 1) {
        const first = free + packed.next(), shape = packed.next();
        const [packets, gap, time, wire] = shapes[shape];
        channel.first[at] = first;
        channel.shape[at] = shape;
        channel.sender[at] = packed.next();
        channel.destination[at] = packed.next();
        channel.busy[at + 1] = channel.busy[at] + packets * wire;
        channel.packets[at + 1] = channel.packets[at] + packets;
        free = first + gap * (packets - 1) + time;
      }
      return channel;
    });
  }

  readPath(packed) {
    const count = packed.next(), begins = new Float64Array(count), spans = [];
    let now = 0;
    for (let at = 0; at < count; at += 1) {
      begins[at] = now;
      now += packed.next();
      const [sort, rank, from, label] = [packed.next(), packed.next(), packed.next(), packed.next()];
      spans.push({ begin: begins[at], end: now, sort, rank, from, label: this.labels[label] });
    }
    return { begins, spans };
  }

  /** Returns the activity of a rank at a time, with its start and end. */
  activityAt(rank, time) {
    const row = this.rows[rank], at = lastUpTo(row.begins, time);
    if (at < 0 || time >= row.end) return { kind: "ended", phase: "", begin: row.end, end: this.makespan };
    return { ...this.labels[row.labels[at]], begin: row.begins[at], end: row.begins[at + 1] ?? row.end };
  }

  /** Returns the time for which a link has been busy until a time, and the packets that have started to occupy it. */
  carriedUntil(link, time) {
    let busy = 0, packets = 0;
    for (const channel of this.ofLink[link]) {
      const at = lastUpTo(channel.first, time);
      if (at < 0) continue;
      const [count, gap, length, wire] = channel.shapes[channel.shape[at]];
      // Packets follow one another: all that have started, except the last, are over.
      const since = time - channel.first[at];
      const begun = count === 1 ? 1 : Math.min(count, Math.floor(since / gap) + 1);
      // A flow, or a packet between others, occupies the wire for a part of its time, on average at an even rate.
      const share = length > 0 ? Math.min(1, (since - gap * (begun - 1)) / length) : 1;
      busy += channel.busy[at] + (begun - 1 + share) * wire;
      packets += channel.packets[at] + begun;
    }
    return { busy, packets };
  }

  /** Returns the share of the time from `from` to `to` in which a link was busy. */
  load(link, from, to) {
    return to > from ? (this.carriedUntil(link, to).busy - this.carriedUntil(link, from).busy) / (to - from) : 0;
  }

  /** Calls `receive` with every packet that is on a link at a time, and the share of its path that it has covered. */
  packetsAt(time, receive) {
    for (const channel of this.channels) {
      const at = lastUpTo(channel.first, time);
      if (at < 0) continue;
      const [count, gap, length, , , acknowledge] = channel.shapes[channel.shape[at]];
      const since = time - channel.first[at];
      const packet = count === 1 ? 0 : Math.min(count - 1, Math.floor(since / gap));
      const share = (since - packet * gap) / length;
      if (share <= 1) receive({ link: channel.link, share, sender: channel.sender[at], destination: channel.destination[at], acknowledge });
    }
  }

  /** Calls `receive` with every message that is in transit at a time. */
  messagesIn(from, to, receive) {
    const { received, sent, longest } = this.messages;
    for (let at = lastUpTo(received, from - 1) + 1; at < received.length && received[at] - longest <= to; at += 1) {
      if (sent[at] <= to) receive(at);
    }
  }

  /** Returns the piece of the critical path at a time. */
  pathAt(time) {
    const span = this.path.spans[lastUpTo(this.path.begins, Math.min(time, this.makespan - 1))];
    return span && { ...span, ...span.label, label: undefined };
  }

  rowName(row) {
    return `rank ${row}`;
  }
}

/** A large run in groups of neighbours and bins of time, with shares instead of events. */
class BinnedRun {
  constructor({ scene, detail, makespan }) {
    const binned = detail.Binned;
    Object.assign(this, { scene, makespan, bins: binned.bins, kinds: binned.kinds, places: binned.path, hasLoads: binned.has_transfers, isExact: false });
    const shares = text => {
      const bytes = new Packed(text).bytes;
      return Float32Array.from({ length: bytes.length / 2 }, (_, at) => (bytes[2 * at] + 256 * bytes[2 * at + 1]) / 65535);
    };
    this.activities = shares(binned.activities);
    this.loads = shares(binned.loads);
    this.rows = scene.places.map((_, group) => group).filter(group => scene.ranks.includes(group));
  }

  bin(time) {
    return Math.min(this.bins - 1, Math.max(0, Math.floor(time / this.makespan * this.bins)));
  }

  share(group, kind, bin) {
    return this.activities[(group * this.kinds.length + kind) * this.bins + bin];
  }

  /** Returns the activity of most of the ranks of a row in the bin of a time. */
  activityAt(row, time) {
    const bin = this.bin(time), group = this.rows[row];
    const shares = this.kinds.map((kind, at) => ({ kind, share: this.share(group, at, bin) }));
    const most = shares.reduce((best, one) => (one.share > best.share ? one : best));
    return { ...most, phase: "", begin: bin * this.makespan / this.bins, end: (bin + 1) * this.makespan / this.bins };
  }

  load(link, from, to) {
    const [first, last] = [this.bin(from), Math.max(this.bin(from), this.bin(to - 1))];
    let sum = 0;
    for (let bin = first; bin <= last; bin += 1) sum += this.loads[link * this.bins + bin];
    return sum / (last - first + 1);
  }

  carriedUntil(link, time) {
    let busy = 0;
    for (let bin = 0; bin < this.bin(time); bin += 1) busy += this.loads[link * this.bins + bin] * this.makespan / this.bins;
    return { busy, packets: undefined };
  }

  packetsAt() {}

  messagesIn() {}

  pathAt(time) {
    const group = this.places[this.bin(time)];
    return { sort: 0, rank: Math.max(this.rows.indexOf(group), 0), kind: "", phase: "" };
  }

  rowName(row) {
    const [first, last] = this.scene.groups[this.rows[row]];
    return first === last ? `node ${first}` : `nodes ${first} to ${last}`;
  }
}

function readRun(run) {
  return "Exact" in run.detail ? new ExactRun(run) : new BinnedRun(run);
}
