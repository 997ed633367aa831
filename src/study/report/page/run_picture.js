// Draws a recorded run at a time: the network, and the ranks over time.

const KIND_COLOURS = { computing: "--c0", system: "--c1", shared_system: "--c6", sending: "--c3", input_output: "--c2", loading: "--c4", ready: "--c5",
  blocked: "--idle", idle: "--idle", waiting: "--idle", ended: "--paper" };
/** The colours of loads from idle to busy: darker on a light background, brighter on a dark one. */
const LOADS = ["--line", "--load1", "--load2", "--load3"];
const LABELS = 46, AXIS = 26, SECONDS = 1e-12;

/** The pictures of a player, which has the run, the time and the selection. */
class RunPicture {
  loadColour(share) {
    this.loads ??= LOADS.map(name => colourOf(name).match(/[0-9a-f]{2}/gi).map(part => parseInt(part, 16)));
    const at = 3 * Math.min(Math.max(share, 0), 1), index = Math.min(Math.floor(at), 2);
    return `rgb(${this.loads[index].map((low, part) => Math.round(low + (this.loads[index + 1][part] - low) * (at - index))).join(",")})`;
  }

  colour(kind) {
    this.colours ??= new Map();
    if (!this.colours.has(kind)) {
      const others = this.run.kinds.filter(other => !(other in KIND_COLOURS)).indexOf(kind);
      this.colours.set(kind, colourOf(KIND_COLOURS[kind] ?? `--c${(others + 7) % HUES}`));
    }
    return this.colours.get(kind);
  }

  draw() {
    if (!this.base) this.tellColours();
    this.drawNetwork();
    this.drawDiagram();
  }

  tellColours() {
    const words = kind => (KIND_COLOURS[kind] === "--idle" ? "waiting" : kind || "activity");
    const kinds = new Map(this.run.kinds.map(kind => [words(kind), this.colour(kind)]));
    const patch = (colour, words) => element("span", {}, element("i", { style: `background:${colour}` }), ` ${words}`);
    const loads = this.run.hasLoads ? [element("span", {}, "load of a link 0 % ", element("i", { className: "scale" }), ` ${digits(100 * this.top())} %`)] : [];
    this.legend.replaceChildren(...[...kinds].map(([kind, colour]) => patch(colour, kind.replace("_", " "))), patch(colourOf("--path"), "critical path"), ...loads);
  }

  /** Returns the load at the end of the scale: a round number well above the mean load of the busiest link. */
  top() {
    this.scale ??= (() => {
      const most = this.run.hasLoads && this.run.makespan ? this.run.carriedUntil(this.busiest(), this.run.makespan).busy / this.run.makespan : 0;
      return [0.05, 0.1, 0.2, 0.5].find(top => top >= 4 * most) ?? 1;
    })();
    return this.scale;
  }

  /** Returns a canvas with the size of its element, in device pixels. */
  canvas(canvas, height) {
    const width = canvas.clientWidth || 300, ratio = devicePixelRatio;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.height = `${height}px`;
      this.base = undefined;
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return { context, width, height };
  }

  drawNetwork() {
    const { run } = this, { scene } = run;
    // The drawing has a line for a title, which is elsewhere on this page.
    const [wide, tall] = [scene.size[0], scene.size[1] - 34], room = this.network.clientWidth || 300;
    const fit = Math.min(room / wide, 560 / tall, 1.4);
    // A wide network, such as a fat tree, is stretched, so that its stages can be distinguished.
    const high = Math.min(Math.max(fit, 0.45 * room / tall), 4 * fit);
    const { context, width, height } = this.canvas(this.network, Math.max(Math.round(tall * high), 80));
    const scale = fit * this.zoom.k, left = (width - wide * fit) / 2 * this.zoom.k + this.zoom.x, top = -34 * high * this.zoom.k + this.zoom.y;
    this.place = vertex => [left + scene.places[vertex][0] * scale, top + scene.places[vertex][1] * high * this.zoom.k];
    this.scaleNow = scale;
    context.clearRect(0, 0, width, height);
    const [from, to] = this.window(), path = run.pathAt(this.now);
    context.lineWidth = Math.min(Math.max(4.4 * scale, 1), 6);
    const loads = scene.links.map((_, link) => (run.hasLoads ? run.load(link, from, to) : 0));
    // The busiest is last, so that it is drawn on top.
    for (const link of loads.map((_, at) => at).sort((a, b) => loads[a] - loads[b])) {
      if (scene.links[link][0] === scene.links[link][1]) continue;
      const [start, control, end] = this.curve(link);
      context.strokeStyle = this.loadColour(loads[link] / this.top());
      context.beginPath();
      context.moveTo(...start);
      context.quadraticCurveTo(...control, ...end);
      context.stroke();
    }
    this.drawPackets(context, path);
    this.drawVertices(context, path);
  }

  /** Returns the start of a link on the canvas, its control point, and its end; each direction is to the right of the line. */
  curve(link) {
    const [from, to, bend] = this.run.scene.links[link];
    const [[x1, y1], [x2, y2]] = [this.place(from), this.place(to)];
    const length = Math.hypot(x2 - x1, y2 - y1) || 1, [ax, ay] = [(x2 - x1) / length, (y2 - y1) / length];
    const aside = bend ? 0 : 2.6 * this.scaleNow, out = 2 * bend * this.scaleNow;
    const move = (x, y) => [x - ay * aside, y + ax * aside];
    return [move(x1, y1), move((x1 + x2) / 2 + ay * out, (y1 + y2) / 2 - ax * out), move(x2, y2)];
  }

  drawPackets(context, path) {
    const { run } = this, { ranks } = run.scene, radius = Math.min(Math.max(4.5 * this.scaleNow, 2), 6);
    const [ink, red] = [colourOf("--ink"), colourOf("--path")];
    const dot = (x, y, isCritical, isHollow) => {
      context.beginPath();
      context.arc(x, y, isCritical ? radius * 1.3 : radius, 0, 7);
      context.fillStyle = isCritical ? red : isHollow ? colourOf("--paper") : ink;
      context.strokeStyle = isHollow ? ink : colourOf("--paper");
      context.lineWidth = 1;
      context.fill();
      context.stroke();
    };
    run.packetsAt(this.now, ({ link, share, sender, destination, acknowledge }) => {
      const isCritical = path?.sort === 1 && sender === path.from && destination === ranks[path.rank] && !acknowledge;
      const [begin, control, end] = this.curve(link), rest = 1 - share;
      if (run.scene.links[link][0] === run.scene.links[link][1]) return;
      dot(...[0, 1].map(axis => rest * rest * begin[axis] + 2 * rest * share * control[axis] + share * share * end[axis]), isCritical, acknowledge);
    });
    if (run.hasLoads || !run.isExact) return;
    // Without links or transfers, messages move directly from rank to rank.
    const { sent, received, from, to } = run.messages;
    run.messagesIn(this.now, this.now, at => {
      const share = (this.now - sent[at]) / (received[at] - sent[at]);
      const [[x1, y1], [x2, y2]] = [this.place(ranks[from[at]]), this.place(ranks[to[at]])];
      dot(x1 + (x2 - x1) * share, y1 + (y2 - y1) * share, path?.sort === 1 && from[at] === path.from && to[at] === path.rank, false);
    });
  }

  drawVertices(context, path) {
    const { run } = this, { scene } = run, radius = Math.min(Math.max(scene.radius * this.scaleNow * 0.9, 2.5), 22);
    const rowOf = new Map();
    run.rows.forEach((_, row) => { const vertex = run.isExact ? scene.ranks[row] : run.rows[row]; if (!rowOf.has(vertex)) rowOf.set(vertex, []); rowOf.get(vertex).push(row); });
    context.font = `600 ${Math.max(Math.round(radius * 0.8), 7)}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    const onPath = path && (path.sort === 1 ? [path.from, path.rank] : [path.rank]);
    scene.places.forEach((_, vertex) => {
      const [x, y] = this.place(vertex), rows = rowOf.get(vertex);
      context.beginPath();
      if (vertex < scene.nodes) context.arc(x, y, radius, 0, 7); else context.rect(x - radius * 0.8, y - radius * 0.8, radius * 1.6, radius * 1.6);
      context.fillStyle = colourOf("--shade");
      context.fill();
      // A node with several ranks is drawn as a pie chart of them.
      rows?.forEach((row, at) => {
        context.beginPath();
        context.moveTo(x, y);
        context.arc(x, y, radius, 2 * Math.PI * at / rows.length, 2 * Math.PI * (at + 1) / rows.length);
        context.fillStyle = this.colour(run.activityAt(row, this.now).kind);
        context.fill();
      });
      const isCritical = rows?.some(row => onPath?.includes(row));
      context.beginPath();
      if (vertex < scene.nodes) context.arc(x, y, radius, 0, 7); else context.rect(x - radius * 0.8, y - radius * 0.8, radius * 1.6, radius * 1.6);
      context.strokeStyle = isCritical ? colourOf("--path") : rows?.includes(this.rank) ? colourOf("--ink") : colourOf("--soft");
      context.lineWidth = isCritical ? 3 : rows?.includes(this.rank) ? 2 : 1;
      context.stroke();
      if (radius < 8 || scene.groups.some(([first, last]) => first !== last)) return;
      context.lineWidth = 2.5;
      context.strokeStyle = colourOf("--paper");
      context.strokeText(vertex, x, y + 0.5);
      context.fillStyle = colourOf("--ink");
      context.fillText(vertex, x, y + 0.5);
    });
  }

  drawDiagram() {
    const rows = this.run.rows.length, height = Math.min(Math.max(rows * 18, 60), 560);
    this.rowHeight = height / rows;
    const { context, width } = this.canvas(this.diagram, height + AXIS);
    // Everything static is drawn once per view.
    if (!this.base) {
      this.base = element("canvas", { width: this.diagram.width, height: this.diagram.height });
      const base = this.base.getContext("2d");
      base.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
      this.drawBase(base, width, height);
    }
    context.clearRect(0, 0, width, height + AXIS);
    context.drawImage(this.base, 0, 0, width, height + AXIS);
    const x = this.x(this.now, width);
    context.fillStyle = colourOf("--ink");
    context.fillRect(x - 0.75, 0, 1.5, height + 4);
    context.strokeStyle = colourOf("--ink");
    context.lineWidth = 1;
    context.strokeRect(LABELS - 1, this.rank * this.rowHeight, width - LABELS - 7, this.rowHeight);
  }

  x(time, width) {
    return LABELS + (time - this.view[0]) / (this.view[1] - this.view[0]) * (width - LABELS - 8);
  }

  drawBase(context, width, height) {
    const { run, view } = this, gap = this.rowHeight > 6 ? this.rowHeight * 0.14 : 0;
    const stride = Math.max(1, Math.ceil(13 / this.rowHeight));
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "right";
    run.rows.forEach((_, row) => {
      // Positions are whole pixels, because fractions would show as a pattern.
      const edge = at => (gap ? at * this.rowHeight : Math.round(at * this.rowHeight));
      const top = edge(row) + gap, tall = edge(row + 1) - edge(row) - 2 * gap;
      if (run.isExact) this.drawRow(context, width, row, top, tall); else this.drawShares(context, width, row, top, tall);
      context.fillStyle = colourOf("--soft");
      if (row % stride === 0) context.fillText(run.isExact ? row : run.scene.groups[run.rows[row]][0], LABELS - 5, top + tall / 2);
    });
    context.save();
    context.beginPath();
    context.rect(LABELS - 2, 0, width - LABELS - 4, height);
    context.clip();
    this.drawMessages(context, width);
    this.drawPath(context, width);
    context.restore();
    context.textAlign = "center";
    context.fillStyle = colourOf("--soft");
    const [from, to] = view.map(time => time * SECONDS);
    for (const mark of marksOf(from, to, false, 10)) {
      const x = this.x(mark / SECONDS, width);
      context.fillRect(x, height, 1, 4);
      // A zoomed view needs enough digits to distinguish its ticks.
      const places = Math.max(0, Math.ceil(-Math.log10((to - from) / 4 / unitOf(to)[0])));
      context.fillText(`${(mark / unitOf(to)[0]).toFixed(Math.min(places, 9))} ${unitOf(to)[1]}`, Math.min(x, width - 24), height + 14);
    }
  }

  drawRow(context, width, row, top, tall) {
    const { begins, labels, end } = this.run.rows[row];
    let last = -1;
    for (let at = Math.max(lastUpTo(begins, this.view[0]), 0); at < begins.length && begins[at] <= this.view[1]; at += 1) {
      const from = Math.max(this.x(begins[at], width), LABELS), to = Math.min(this.x(begins[at + 1] ?? end, width), width - 8);
      // Of several within half a pixel only one is visible.
      if (to <= from || (to - from < 0.5 && to - last < 0.5)) continue;
      last = to;
      context.fillStyle = this.colour(this.run.labels[labels[at]].kind);
      context.fillRect(from, top, Math.max(to - from, 0.5), tall);
    }
  }

  drawShares(context, width, row, top, tall) {
    const { run } = this, group = run.rows[row];
    for (let bin = run.bin(this.view[0]); bin <= run.bin(this.view[1] - 1); bin += 1) {
      const [from, to] = [bin, bin + 1].map(edge => Math.round(this.x(edge * run.makespan / run.bins, width)));
      let left = top;
      run.kinds.forEach((kind, at) => {
        const part = tall * run.share(group, at, bin);
        context.fillStyle = this.colour(kind);
        context.fillRect(Math.max(from, LABELS), left, Math.min(to, width - 8) - Math.max(from, LABELS), part);
        left += part;
      });
    }
  }

  drawMessages(context, width) {
    const { run } = this, found = [];
    run.messagesIn(...this.view, at => found.push(at));
    // More would merge into one area.
    if (found.length === 0 || found.length > 3000) return;
    const middle = row => (row + 0.5) * this.rowHeight;
    context.strokeStyle = colourOf("--ink");
    context.globalAlpha = found.length > 500 ? 0.25 : 0.5;
    context.lineWidth = 0.8;
    context.beginPath();
    for (const at of found) {
      context.moveTo(this.x(run.messages.sent[at], width), middle(run.messages.from[at]));
      context.lineTo(this.x(run.messages.received[at], width), middle(run.messages.to[at]));
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  drawPath(context, width) {
    const { run } = this, middle = row => (row + 0.5) * this.rowHeight;
    context.strokeStyle = colourOf("--path");
    context.lineWidth = 2;
    context.beginPath();
    if (run.isExact) {
      for (let at = Math.max(lastUpTo(run.path.begins, this.view[0]), 0); at < run.path.spans.length && run.path.begins[at] <= this.view[1]; at += 1) {
        const span = run.path.spans[at];
        context.moveTo(this.x(span.begin, width), middle(span.from));
        context.lineTo(this.x(span.end, width), middle(span.rank));
      }
    } else {
      for (let bin = 0; bin < run.bins; bin += 1) {
        context.lineTo(this.x((bin + 0.5) * run.makespan / run.bins, width), middle(run.pathAt((bin + 0.5) * run.makespan / run.bins).rank));
      }
    }
    context.stroke();
  }
}

function unitOf(seconds) {
  return [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]].find(([unit]) => seconds >= unit) ?? [1e-12, "ps"];
}
