"use strict";
// Interactive charts: small multiples of lines over one axis, drawn by uPlot in place of a static picture.

/** Formats a number with four significant digits. */
function digits(value) {
  return value === 0 ? "0" : String(Number(value.toPrecision(4)));
}

/** Formats a time with a suitable unit. */
function timeText(seconds) {
  const units = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"], [1e-12, "ps"]];
  const [unit, name] = units.find(([unit]) => Math.abs(seconds) >= 0.99995 * unit) ?? units[seconds === 0 ? 0 : 4];
  return `${digits(seconds / unit)} ${name}`;
}

/** Returns a colour of the page; dark mode has different ones. */
function colourOf(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function element(name, attributes = {}, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key in made && key !== "list") made[key] = value; else made.setAttribute(key, value);
  }
  made.append(...content);
  return made;
}

/* One listener serves all live figures, because one per figure would keep figures that have left the page alive. */
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const figure of document.querySelectorAll("figure")) figure.redraw?.();
});

const MARKS = {
  0: [[-2, -4], [2, -4], [4, -2], [4, 2], [2, 4], [-2, 4], [-4, 2], [-4, -2]],
  1: [[-4, -4], [4, -4], [4, 4], [-4, 4]],
  2: [[0, -5], [5, 4], [-5, 4]],
  3: [[0, -6], [5, 0], [0, 6], [-5, 0]],
  4: [[0, 5], [5, -4], [-5, -4]],
};
const HUES = 11;

/** Returns the ticks of an axis from `least` to `most`. */
function marksOf(least, most, isLog, base) {
  const inside = value => value >= least * (1 - 1e-9) && value <= most * (1 + 1e-9);
  if (isLog && least > 0) {
    const first = Math.floor(Math.log(least) / Math.log(base));
    const last = Math.ceil(Math.log(most) / Math.log(base));
    const stride = Math.max(1, Math.ceil((last - first) / 12));
    const steps = base === 10 && last - first <= 4 ? [1, 2, 5] : [1];
    const marks = [];
    for (let power = first; power <= last; power += stride) {
      marks.push(...steps.map(step => step * base ** power).filter(inside));
    }
    // A range of less than a factor of two contains no powers, so it has the ticks of a linear axis.
    if (marks.length > 2) return marks;
  }
  const rough = (most - least) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(digit => digit * power).find(size => size >= rough) ?? 10 * power;
  const marks = [];
  for (let index = Math.ceil(least / step - 1e-9); index * step <= most + 1e-9 * step; index += 1) marks.push(index * step);
  return marks;
}

/** One chart of a figure. `shared` has the scales and the visible lines, which all charts share. */
class LiveChart {
  constructor(chart, shared) {
    Object.assign(this, { chart, shared });
    const numbered = chart.lines.flatMap(line => line.points.map(point => point[0]));
    this.xs = [...new Set(numbered)].sort((a, b) => a - b);
    this.place = element("div", { className: "plot", tabIndex: 0, role: "group" });
    this.place.setAttribute("aria-label", `${chart.title || shared.title}: chart; the arrow keys move its cursor, plus and minus zoom, 0 shows all`);
    this.readout = element("div", { className: "readout" });
    // The page must not shift under the pointer when values appear.
    if (shared.several) this.readout.style.minHeight = `${1.55 * Math.min(chart.lines.length + 1, 7)}em`;
    const title = shared.several ? [element("p", { className: "panel-title" }, chart.title)] : [];
    this.node = element("div", { className: "panel" }, ...title, this.place, this.readout);
    this.place.addEventListener("keydown", event => this.key(event));
    this.place.addEventListener("focus", () => this.readout.setAttribute("aria-live", "polite"));
    this.place.addEventListener("blur", () => this.readout.removeAttribute("aria-live"));
    this.place.addEventListener("dblclick", () => shared.reset());
  }

  /** Returns the values of a line at the positions of all lines. */
  column(line) {
    const whole = this.shared.scale === "share" ? new Map(this.chart.lines[0].points) : undefined;
    const values = new Map(line.points.map(([x, y]) => [x, whole ? 100 * y / whole.get(x) : y]));
    const isLog = this.isLog("y");
    return this.xs.map(x => {
      const value = values.get(x);
      return value === undefined || value === null || (isLog && !(value > 0)) ? null : value;
    });
  }

  /** Returns the values of a line and the ends of its band, as far as the scale can show them. */
  heights(line) {
    const ends = this.shared.scale === "share" ? [] : (line.band ?? []).flatMap(ends => ends ?? []);
    return [...this.column(line), ...ends.filter(end => !this.isLog("y") || end > 0)];
  }

  isLog(axis) {
    return axis === "x" ? this.shared.x !== "linear" && this.chart.x.scale !== "Linear" && !this.isNamed()
      : this.shared.scale === "log";
  }

  isNamed() {
    return this.chart.x.categories.length > 0;
  }

  range(axis) {
    return (_, least, most) => {
      const zoom = this.shared.zoom?.[axis];
      if (zoom) return zoom;
      if (axis === "x" && this.isNamed()) return [-0.5, this.chart.x.categories.length - 0.5];
      // Charts of one quantity share a scale, so that they can be compared.
      const all = this.shared.extent(this, axis);
      [least, most] = [Math.min(all[0], least ?? all[0]), Math.max(all[1], most ?? all[1])];
      if (this.isLog(axis)) {
        const pad = Math.max(most / least, 1.5) ** 0.04;
        return [least / pad, most * pad];
      }
      const bottom = axis === "y" ? Math.min(least, 0) : least;
      const pad = 0.04 * (most - bottom || Math.abs(most) || 1);
      return [axis === "y" && bottom === 0 ? 0 : bottom - pad, most + pad];
    };
  }

  draw() {
    this.plot?.destroy();
    const [ink, grid] = [colourOf("--soft"), colourOf("--line")];
    const lines = this.chart.lines;
    const x = this.chart.x, isShare = this.shared.scale === "share";
    const base = x.scale === "Log2" ? 2 : 10;
    const axis = (which, label, text, more) => ({
      label, labelSize: 22, labelFont: "13px system-ui, sans-serif", font: "12px system-ui, sans-serif", stroke: ink,
      grid: { stroke: grid, width: 1 }, ticks: { stroke: grid }, filter: (_, marks) => marks,
      splits: (_, __, least, most) => marksOf(least, most, this.isLog(which), which === "x" ? base : 10),
      values: (_, marks) => marks.map(text), ...more,
    });
    const named = this.isNamed() ? { splits: () => x.categories.map((_, index) => index) } : {};
    const options = {
      width: Math.max(this.place.clientWidth, 220), height: this.shared.several ? 260 : 380,
      legend: { show: false },
      cursor: { sync: { key: this.shared.key }, drag: { x: true, y: true, uni: 24, setScale: false } },
      scales: {
        x: { time: false, distr: this.isLog("x") ? 3 : 1, log: base, range: this.range("x") },
        y: { distr: this.isLog("y") ? 3 : 1, log: 10, range: this.range("y") },
      },
      axes: [
        axis("x", x.label, mark => this.isNamed() ? short(x.categories[mark]) : digits(mark), named),
        axis("y", isShare ? "Share of the whole [%]" : this.chart.y.label, mark => digits(mark), { size: 62 }),
      ],
      series: [{}, ...lines.map(line => this.series(line))],
      hooks: {
        draw: [plot => this.marks(plot)],
        setCursor: [plot => this.tell(plot.cursor.idx)],
        setSelect: [plot => this.zoom(plot)],
      },
    };
    this.plot = new uPlot(options, [this.xs, ...lines.map(line => this.column(line))], this.place);
    this.tell(null);
  }

  series(line) {
    const joined = line.style !== "Marks" && !this.isNamed();
    const dash = dashOf(line) ?? [];
    return {
      label: line.name, stroke: colourOf(`--c${line.hue % HUES}`), width: 2, dash, spanGaps: true,
      show: !this.shared.hidden.has(line.name), points: { show: false },
      ...(joined ? {} : { paths: () => null }),
    };
  }

  /** Draws the bands behind the lines, markers, error bars and the reference height. */
  marks(plot) {
    const { ctx } = plot, ratio = devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(plot.bbox.left - 6, plot.bbox.top - 6, plot.bbox.width + 12, plot.bbox.height + 12);
    ctx.clip();
    ctx.lineWidth = ratio;
    if (this.chart.reference !== null && this.shared.scale !== "share") {
      const y = plot.valToPos(this.chart.reference, "y", true);
      ctx.strokeStyle = colourOf("--soft");
      ctx.strokeRect(plot.bbox.left, y, plot.bbox.width, 0);
    }
    this.bands(plot);
    this.chart.lines.forEach((line, index) => {
      if (!plot.series[index + 1].show) return;
      const bare = line.style === "Formula" && line.points.length > 1 && !this.isNamed();
      ctx.fillStyle = ctx.strokeStyle = colourOf(`--c${line.hue % HUES}`);
      const halves = new Map(line.points.map((point, at) => [point[0], line.half_widths[at] ?? 0]));
      plot.data[index + 1].forEach((value, at) => {
        if (value === null) return;
        const [x, y] = [plot.valToPos(this.xs[at], "x", true), plot.valToPos(value, "y", true)];
        const half = this.shared.scale === "share" ? 0 : halves.get(this.xs[at]) ?? 0;
        if (half > 0) {
          const ends = [value - half, value + half].map(end => plot.valToPos(this.isLog("y") ? Math.max(end, 1e-300) : end, "y", true));
          ctx.strokeRect(x, ends[0], 0, ends[1] - ends[0]);
          for (const end of ends) ctx.strokeRect(x - 4 * ratio, end, 8 * ratio, 0);
        }
        if (bare) return;
        ctx.beginPath();
        for (const [dx, dy] of MARKS[line.marker % 5]) ctx.lineTo(x + dx * ratio * 0.9, y + dy * ratio * 0.9);
        ctx.fill();
      });
    });
    ctx.restore();
  }

  /** Fills the intervals of neighbouring points of each line; over categories, joins the ends of each. */
  bands(plot) {
    if (this.shared.scale === "share") return;
    const { ctx } = plot;
    const place = (x, y) => [plot.valToPos(x, "x", true), plot.valToPos(this.isLog("y") ? Math.max(y, 1e-300) : y, "y", true)];
    this.chart.lines.forEach((line, index) => {
      if (!line.band || !plot.series[index + 1].show) return;
      ctx.fillStyle = ctx.strokeStyle = colourOf(`--c${line.hue % HUES}`);
      const known = line.points.map(([x], at) => line.band[at] && [x, ...line.band[at]]);
      if (this.isNamed() || known.length < 2) {
        for (const [x, low, high] of known.filter(Boolean)) {
          const [[across, from], [, to]] = [place(x, low), place(x, high)];
          ctx.strokeRect(across, from, 0, to - from);
        }
        return;
      }
      ctx.save();
      ctx.globalAlpha = 0.18;
      known.slice(1).forEach((next, at) => {
        const last = known[at];
        if (!last || !next) return;
        ctx.beginPath();
        for (const corner of [[last[0], last[1]], [next[0], next[1]], [next[0], next[2]], [last[0], last[2]]]) ctx.lineTo(...place(...corner));
        ctx.fill();
      });
      ctx.restore();
    });
  }

  /** Writes the values at a position below the chart. */
  tell(index) {
    if (index === null || index === undefined) {
      const hint = "Point at a chart, or move its cursor with the arrow keys.";
      this.readout.replaceChildren(...(this.chart === this.shared.first ? [element("span", { className: "hint" }, hint)] : []));
      return;
    }
    const x = this.xs[index], unit = /\[s\]/.test(this.chart.y.label) && this.shared.scale !== "share";
    const name = this.chart.x.label.replace(/^Processors (?=.)/, "");
    const where = this.isNamed() ? this.chart.x.categories[x] : `${name} = ${digits(x)}`;
    const parts = [element("strong", {}, where)];
    this.chart.lines.forEach((line, at) => {
      const value = this.plot?.data[at + 1][index];
      if (this.shared.hidden.has(line.name) || value === null || value === undefined) return;
      const half = line.half_widths[line.points.findIndex(point => point[0] === x)] ?? 0;
      const text = number => unit ? timeText(number) : digits(number) + (this.shared.scale === "share" ? " %" : "");
      const bar = half > 0 && this.shared.scale !== "share" ? ` ± ${text(half)}` : "";
      const ends = this.shared.scale !== "share" && line.band?.[line.points.findIndex(point => point[0] === x)];
      const band = ends ? ` (${text(ends[0])} to ${text(ends[1])})` : "";
      parts.push(element("span", {}, swatch(line), ` ${line.name || this.chart.title} ${text(value)}${bar}${band}`));
    });
    this.readout.replaceChildren(...parts);
  }

  /** Shows the range that was selected with the mouse. */
  zoom(plot) {
    const { left, top, width, height } = plot.select;
    if (width < 8 && height < 8) return;
    const of = (axis, from, size, whole) => size < 8 || size >= whole ? this.shared.zoom?.[axis]
      : [plot.posToVal(from, axis), plot.posToVal(from + size, axis)].sort((a, b) => a - b);
    const over = plot.over;
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.shared.show({ x: of("x", left, width, over.clientWidth), y: of("y", top, height, over.clientHeight) });
  }

  key(event) {
    const steps = { ArrowLeft: -1, ArrowRight: 1 };
    if (event.key in steps) {
      const at = this.plot.cursor.idx;
      const next = at === null || at === undefined ? 0 : Math.min(Math.max(at + steps[event.key], 0), this.xs.length - 1);
      this.plot.setCursor({ left: this.plot.valToPos(this.xs[next], "x"), top: this.plot.over.clientHeight / 2 });
    } else if (event.key === "0" || event.key === "Escape") {
      this.shared.reset();
    } else if (event.key === "+" || event.key === "-") {
      this.closer(event.key === "+" ? 0.5 : 2);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Zooms around the cursor along the axis. */
  closer(factor) {
    const { min, max } = this.plot.scales.x, at = this.xs[this.plot.cursor.idx ?? 0];
    const [to, back] = this.isLog("x") ? [Math.log, Math.exp] : [value => value, value => value];
    const end = value => back(to(at) + (to(value) - to(at)) * factor);
    this.shared.show({ x: [end(min), end(max)], y: this.shared.zoom?.y });
  }
}

function short(name) {
  return name.length > 14 ? `${name.slice(0, 6)}…${name.slice(-7)}` : name;
}

/** Returns the dashes of a line, which differ if its colour is that of an earlier line; none if its points are not joined. */
function dashOf(line) {
  const later = [null, [2, 3], [12, 3], [4, 9]][(Math.floor(line.hue / HUES) + (line.dash ?? 0)) % 4];
  return { Solid: [], Dashed: later ?? [7, 5], Formula: later ?? [4, 4] }[line.style];
}

/** Returns the marker and the stroke of a line. */
function swatch(line) {
  const svg = "http://www.w3.org/2000/svg";
  const made = (name, attributes) => {
    const part = document.createElementNS(svg, name);
    for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
    return part;
  };
  const sign = made("svg", { width: 26, height: 12, class: "swatch", "aria-hidden": "true" });
  const colour = `var(--c${line.hue % HUES})`;
  const dash = dashOf(line);
  if (dash) sign.append(made("path", { d: "M0 6H26", stroke: colour, "stroke-width": 2, "stroke-dasharray": dash.join(" ") }));
  if (line.style !== "Formula") {
    sign.append(made("polygon", { points: MARKS[line.marker % 5].map(([x, y]) => `${x + 13},${y + 6}`).join(" "), fill: colour }));
  }
  return sign;
}

let figures = 0;

/** Puts interactive charts into `figure`, in place of its picture. */
function liveCharts(figure, panels) {
  const lines = new Map();
  for (const line of panels.charts.flatMap(chart => chart.lines)) if (!lines.has(line.name)) lines.set(line.name, line);
  const first = panels.charts[0];
  const isLog = panels.charts.every(chart => chart.y.scale === "Log10");
  const same = panels.charts.every(chart => chart.y.label === first.y.label);
  const shared = {
    first, title: panels.title, several: panels.charts.length > 1, hidden: new Set(), key: `figure-${figures += 1}`,
    scale: isLog ? "log" : "linear", x: "own", zoom: undefined,
    extent(own, axis) {
      const charts = (same || axis === "x" ? live : [own]).flatMap(one => one.chart.lines.filter(line => !this.hidden.has(line.name)).flatMap(line => axis === "x" ? one.xs : one.heights(line)));
      const values = charts.filter(value => value !== null && (axis === "y" || !own.isLog("x") || value > 0));
      const marked = axis === "y" && own.chart.reference !== null && this.scale !== "share" ? [own.chart.reference] : [];
      const all = [...values, ...marked];
      return all.length ? [Math.min(...all), Math.max(...all)] : [own.isLog(axis) ? 0.1 : 0, 1];
    },
    show(zoom) { this.zoom = zoom; live.forEach(one => one.draw()); },
    reset() { this.show(undefined); },
  };
  // A log scale that suits one chart need not suit the others beside it.
  const live = panels.charts.map(chart => new LiveChart(chart, same ? shared : Object.assign(Object.create(shared), { scale: chart.y.scale === "Log10" ? "log" : "linear" })));
  const redraw = () => live.forEach(one => one.draw());
  const toggles = [...lines.values()].filter(line => line.name).map(line => {
    const button = element("button", { type: "button", className: "toggle" }, swatch(line), ` ${line.name}`);
    button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(shown));
      if (shown) shared.hidden.delete(line.name); else shared.hidden.add(line.name);
      redraw();
    });
    return button;
  });
  const choice = (label, values, chosen, change) => {
    const select = element("select", {}, ...values.map(([value, words]) => element("option", { value, selected: value === chosen }, words)));
    select.addEventListener("change", () => { change(select.value); shared.reset(); });
    return element("label", {}, `${label} `, select);
  };
  const scales = [["log", "logarithmic"], ["linear", "linear"], ...(panels.has_whole ? [["share", "share of the whole"]] : [])];
  const setScale = value => live.forEach(one => { one.shared.scale = value; });
  const isLogX = panels.charts.some(chart => chart.x.scale !== "Linear" && chart.x.categories.length === 0);
  const controls = element("div", { className: "controls" }, ...toggles,
    choice("vertical", scales, shared.scale, setScale),
    ...(isLogX ? [choice("horizontal", [["own", "logarithmic"], ["linear", "linear"]], "own", value => { shared.x = value; })] : []),
    element("button", { type: "button", className: "reset", onclick: () => shared.reset() }, "Show all"));
  const grid = element("div", { className: shared.several ? "panels" : "panels single" }, ...live.map(one => one.node));
  figure.prepend(element("div", { className: "live" }, controls, grid));
  figure.classList.add("is-live");
  redraw();
  figure.redraw = redraw;
  let width = grid.clientWidth;
  new ResizeObserver(() => {
    // A height that changes with the text below must not trigger a redraw.
    if (grid.clientWidth !== width) { width = grid.clientWidth; redraw(); }
  }).observe(grid);
  figure.live = live;
}
