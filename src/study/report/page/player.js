// Plays a recorded run: the network and the ranks over time, with a common cursor.

class Player extends RunPicture {
  constructor(figure, data) {
    super();
    this.run = readRun(data);
    this.title = data.title;
    Object.assign(this, { now: 0, view: [0, this.run.makespan], playing: false, zoom: { k: 1, x: 0, y: 0 }, rank: 0, link: 0 });
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    figure.prepend(this.build());
    figure.classList.add("is-live");
    figure.redraw = () => this.redraw();
    let width = this.root.clientWidth;
    new ResizeObserver(() => {
      if (this.root.clientWidth !== width) { width = this.root.clientWidth; this.redraw(); }
    }).observe(this.root);
    this.link = this.busiest();
    this.links.value = String(this.link);
    this.redraw();
  }

  build() {
    const { run } = this, button = (words, title, click) => element("button", { type: "button", title, onclick: click }, words);
    this.playButton = button("▶ Play", "Plays the run from the cursor on", () => this.toggle());
    this.slider = element("input", { type: "range", min: 0, max: 10000, value: 0, step: 1, className: "time" });
    this.slider.setAttribute("aria-label", "Time of the run");
    this.slider.addEventListener("input", () => this.seek(this.slider.value / 10000 * run.makespan));
    this.clock = element("output", { className: "clock" });
    this.speed = element("select", {}, ...[[0.1, "0.1 ×"], [0.3, "0.3 ×"], [1, "1 ×"], [3, "3 ×"], [10, "10 ×"]].map(([value, words]) =>
      element("option", { value, selected: value === 1 }, words)));
    this.network = element("canvas", { className: "network", tabIndex: 0 });
    this.diagram = element("canvas", { className: "diagram", tabIndex: 0 });
    for (const canvas of [this.network, this.diagram]) canvas.setAttribute("role", "img");
    this.network.setAttribute("aria-label", `The network of ${this.title}: links coloured by their load, ranks by what they do`);
    this.diagram.setAttribute("aria-label", `Ranks over the time of ${this.title}; the arrow keys move the cursor, plus and minus zoom, 0 shows all, space plays`);
    const choice = (words, options, change) => {
      const select = element("select", {}, ...options.map(([value, text]) => element("option", { value }, text)));
      select.addEventListener("change", () => { change(Number(select.value)); this.tell(); this.draw(); });
      return [element("label", {}, `${words} `, select), select];
    };
    const [rankLabel, ranks] = choice("Rank", run.rows.map((_, row) => [row, run.rowName(row)]), value => { this.rank = value; });
    const names = run.scene.links.map((_, link) => [link, this.linkName(link)]);
    const [linkLabel, links] = choice("Link", names, value => { this.link = value; });
    Object.assign(this, { ranks, links });
    this.readout = element("dl", { className: "state" });
    this.legend = element("p", { className: "legend" });
    const controls = element("div", { className: "controls" }, this.playButton, element("label", {}, "speed ", this.speed), this.slider, this.clock,
      button("+", "Zooms in on the time around the cursor", () => this.closer(0.5)), button("−", "Zooms out", () => this.closer(2)),
      button("Whole run", "Shows the whole time and network", () => this.whole()));
    const details = element("div", { className: "details" }, rankLabel, ...(names.length ? [linkLabel] : []), this.readout);
    this.root = element("div", { className: "live run" }, controls, this.legend, element("div", { className: "stage" }, element("div", {}, this.network, details), this.diagram));
    this.listen();
    return this.root;
  }

  listen() {
    this.diagram.addEventListener("keydown", event => this.key(event));
    const scrub = event => {
      const box = this.diagram.getBoundingClientRect();
      const share = (event.clientX - box.left - LABELS) / (box.width - LABELS - 8);
      this.seek(this.view[0] + Math.min(Math.max(share, 0), 1) * (this.view[1] - this.view[0]));
      const row = Math.floor((event.clientY - box.top) / this.rowHeight);
      if (row >= 0 && row < this.run.rows.length) { this.rank = row; this.ranks.value = String(row); this.tell(); }
    };
    this.diagram.addEventListener("pointerdown", event => { this.diagram.setPointerCapture(event.pointerId); scrub(event); });
    this.diagram.addEventListener("pointermove", event => { if (event.buttons) scrub(event); });
    this.network.addEventListener("pointerdown", event => this.pick(event));
    this.network.addEventListener("pointermove", event => {
      if (!event.buttons || this.zoom.k === 1) return;
      this.zoom.x += event.movementX;
      this.zoom.y += event.movementY;
      this.draw();
    });
    // Zooming needs Ctrl, because the wheel alone scrolls the page.
    const wheel = zoomed => event => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoomed(event.deltaY < 0, event);
    };
    this.diagram.addEventListener("wheel", wheel(closer => this.closer(closer ? 0.8 : 1.25)), { passive: false });
    this.network.addEventListener("wheel", wheel((closer, event) => this.nearer(closer ? 1.2 : 1 / 1.2, event.offsetX, event.offsetY)), { passive: false });
    this.network.addEventListener("keydown", event => {
      if (event.key === "+" || event.key === "-") this.nearer(event.key === "+" ? 1.2 : 1 / 1.2, this.network.clientWidth / 2, this.network.clientHeight / 2);
      if (event.key === "0") { this.zoom = { k: 1, x: 0, y: 0 }; this.draw(); }
    });
  }

  key(event) {
    const step = (this.view[1] - this.view[0]) / (event.shiftKey ? 1000 : 100);
    const to = { ArrowLeft: this.now - step, ArrowRight: this.now + step, Home: 0, End: this.run.makespan }[event.key];
    if (to !== undefined) this.seek(to);
    else if (event.key === "+" || event.key === "-") this.closer(event.key === "+" ? 0.5 : 2);
    else if (event.key === "0") this.whole();
    else if (event.key === " ") this.toggle();
    else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      this.rank = Math.min(Math.max(this.rank + (event.key === "ArrowUp" ? -1 : 1), 0), this.run.rows.length - 1);
      this.ranks.value = String(this.rank);
      this.tell();
    } else return;
    event.preventDefault();
  }

  toggle() {
    this.playing = !this.playing;
    this.playButton.textContent = this.playing ? "❚❚ Pause" : "▶ Play";
    if (!this.playing) return;
    if (this.now >= this.run.makespan) this.seek(0);
    let before = performance.now();
    const tick = time => {
      if (!this.playing || !this.root.isConnected) return;
      // The visible range plays in 20 s. If reduced motion is requested, it advances one step per second.
      const passed = time - before;
      if (!this.still.matches || passed >= 1000) {
        before = time;
        this.seek(this.now + passed / 20000 * Number(this.speed.value) * (this.view[1] - this.view[0]), true);
      }
      if (this.now >= this.run.makespan) this.toggle(); else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  seek(time, inMotion = false) {
    this.now = Math.min(Math.max(time, 0), this.run.makespan);
    const [from, to] = this.view;
    if (this.now > to || this.now < from) {
      const width = to - from;
      const begin = Math.min(Math.max(inMotion ? this.now : this.now - width / 2, 0), this.run.makespan - width);
      this.view = [begin, begin + width];
      this.base = undefined;
    }
    this.slider.value = String(Math.round(this.now / this.run.makespan * 10000));
    this.tell();
    this.draw();
  }

  closer(factor) {
    const width = Math.min(Math.max((this.view[1] - this.view[0]) * factor, 1000), this.run.makespan);
    const begin = Math.min(Math.max(this.now - width / 2, 0), this.run.makespan - width);
    this.view = [begin, begin + width];
    this.redraw();
  }

  nearer(factor, x, y) {
    const k = Math.min(Math.max(this.zoom.k * factor, 1), 20), change = k / this.zoom.k;
    this.zoom = k === 1 ? { k, x: 0, y: 0 } : { k, x: x - (x - this.zoom.x) * change, y: y - (y - this.zoom.y) * change };
    this.draw();
  }

  whole() {
    this.view = [0, this.run.makespan];
    this.zoom = { k: 1, x: 0, y: 0 };
    this.redraw();
  }

  /** Returns the time over which loads are averaged: a fiftieth of the visible range, up to the cursor. */
  window() {
    const length = Math.max((this.view[1] - this.view[0]) / 50, 1);
    return [Math.max(this.now - length, 0), Math.max(this.now, Math.min(length, this.run.makespan))];
  }

  busiest() {
    const busy = this.run.scene.links.map((_, link) => this.run.carriedUntil(link, this.run.makespan).busy);
    return Math.max(busy.indexOf(Math.max(...busy, 0)), 0);
  }

  linkName(link) {
    const { links, groups } = this.run.scene, [from, to] = links[link];
    if (from === to) {
      const isFirst = links.findIndex(other => other[0] === from && other[1] === to) === link;
      return isFirst ? `${from} → router` : `router → ${from}`;
    }
    const name = end => (groups.length && groups[end][0] !== groups[end][1] ? `${groups[end][0]}…${groups[end][1]}` : String(groups.length ? groups[end][0] : end));
    return `${name(from)} → ${name(to)}`;
  }

  /** Writes the numbers at the cursor, which are those of the trace. */
  state() {
    const { run, now } = this, [from, to] = this.window();
    const links = run.scene.links.map(([begin, end], link) => ({ from: begin, to: end, ...run.carriedUntil(link, now), load: run.load(link, from, to) }));
    return { now, window: [from, to], links, ranks: run.rows.map((_, row) => run.activityAt(row, now)), path: run.pathAt(now) };
  }

  tell() {
    const { run, now } = this, text = ps => timeText(ps * SECONDS);
    const doing = run.activityAt(this.rank, now), path = run.pathAt(now);
    const share = "share" in doing ? ` (${digits(100 * doing.share)} % of their time)` : "";
    const phase = doing.phase ? `, phase ${doing.phase}` : "";
    const entries = [["rank", run.rowName(this.rank)], ["activity", `${doing.kind || "activity"}${share}${phase}, from ${text(doing.begin)} to ${text(doing.end)}`]];
    if (run.scene.links.length && run.hasLoads) {
      const carried = run.carriedUntil(this.link, now), [from, to] = this.window();
      const packets = carried.packets === undefined ? "" : `, ${carried.packets} packets begun`;
      entries.push(["link", this.linkName(this.link)], ["load", `${digits(100 * run.load(this.link, from, to))} % in the last ${text(to - from)}; busy for ${text(carried.busy)} so far${packets}`]);
    } else if (run.scene.links.length) {
      entries.push(["load", "not recorded: write the trace with --transfers"]);
    }
    if (path) {
      const where = path.sort === 1 ? `message from ${run.rowName(path.from)} to ${run.rowName(path.rank)}`
        : `${path.kind} on ${run.rowName(path.rank)}`.trim();
      entries.push(["critical path", where]);
    }
    this.readout.replaceChildren(...entries.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
    this.clock.textContent = `${text(now)} of ${text(run.makespan)}`;
    this.slider.setAttribute("aria-valuetext", this.clock.textContent);
  }

  redraw() {
    this.base = undefined;
    this.colours = undefined;
    this.loads = undefined;
    this.tell();
    this.draw();
  }

  /** Selects the rank or link under the pointer. */
  pick(event) {
    const { run } = this, { scene } = run, [x, y] = [event.offsetX, event.offsetY];
    let best = { distance: 14 };
    run.rows.forEach((_, row) => {
      const [px, py] = this.place(run.isExact ? scene.ranks[row] : run.rows[row]), distance = Math.hypot(px - x, py - y);
      if (distance < best.distance) best = { distance, row };
    });
    if (best.row === undefined) scene.links.forEach(([from, to], link) => {
      if (from === to) return;
      const [begin, control, end] = this.curve(link);
      for (let share = 0.1; share < 0.95; share += 0.1) {
        const [px, py] = [0, 1].map(axis => (1 - share) ** 2 * begin[axis] + 2 * (1 - share) * share * control[axis] + share ** 2 * end[axis]);
        const distance = Math.hypot(px - x, py - y);
        if (distance < best.distance) best = { distance, link };
      }
    });
    if (best.row !== undefined) { this.rank = best.row; this.ranks.value = String(best.row); }
    if (best.link !== undefined) { this.link = best.link; this.links.value = String(best.link); }
    this.tell();
    this.draw();
  }
}

/** Puts a player of the run `data` into `figure`, in place of its picture. */
function liveRun(figure, data) {
  if (data.makespan > 0) figure.player = new Player(figure, data);
}
