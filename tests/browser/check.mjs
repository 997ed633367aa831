// Opens reports and played runs of parsim in a real browser, without a network.
//
//     npm install --no-save playwright-core axe-core && node tests/browser/check.mjs target/release/parsim SCREENSHOTS
//
// Needs Chromium (/usr/bin/chromium, or the path in CHROMIUM). Fails on: an error in the console or a request; a figure that is missing,
// invisible or empty, with or without the script; a chart whose values under the cursor are not those of its data; a table that a click
// on its head does not sort both ways; a download that is not what its name says; a page that is wider than a phone of 390 px, or that axe-core
// objects to, in light or dark; a page that cannot be printed, or that needs more than a second until something is painted, or 2 MB; a
// played run that does not move, or whose numbers are not those that `parsim critical-path` and `parsim run` print of the recording.
// Screenshots and PDFs go to the folder SCREENSHOTS. Exit code 1 if anything fails.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { checkRun } from "./run.mjs";

// From the folder where they were installed, which need not be this one.
const load = createRequire(`${process.cwd()}/`);
const { chromium } = load("playwright-core");
const AXE = readFileSync(load.resolve("axe-core/axe.min.js"), "utf8");

const [parsim, folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node tests/browser/check.mjs PARSIM SCREENSHOTS");
  process.exit(2);
}
mkdirSync(folder, { recursive: true });

const CURVES = ["times.svg", "components.svg", "space-time.svg", "links.svg"];
const REPORTS = [
  { name: "t800", scenario: "gauss-jordan-neighbour", arguments: [], figures: [...CURVES, "scaling.svg", "parts.svg"], residuals: true, largest: 2e6 },
  { name: "cluster", scenario: "cluster-matmul", arguments: [], figures: [...CURVES, "scaling.svg"], residuals: false },
  // The lattice grows with p.
  { name: "time-warp", scenario: "ising-time-warp", arguments: ["--over", "p=1,4,16", "--over", "seed=1"], figures: [...CURVES, "growing-problem.svg"], residuals: false },
  { name: "traffic", scenario: "traffic-64", arguments: ["--over", "pattern=Transpose"], figures: ["latency-load.svg", "links.svg"], residuals: false },
  { name: "categories", scenario: "collective-algorithms", arguments: [], figures: ["times.svg"], residuals: false },
  { name: "one-case", scenario: "dot-product", arguments: ["--set", "axes=[]"], figures: [], residuals: false },
];
const LAYOUTS = [
  { name: "desktop-light", width: 1280, scheme: "light" },
  { name: "desktop-dark", width: 1280, scheme: "dark" },
  { name: "phone-light", width: 390, scheme: "light" },
  { name: "phone-dark", width: 390, scheme: "dark" },
];

let faults = 0;
function expect(holds, what) {
  if (!holds) {
    faults += 1;
    console.log(`FAULT ${what}`);
  }
}

/// A page that fails on errors and on everything that it asks for.
async function opened(browser, file, name, options = {}) {
  const context = await browser.newContext({ acceptDownloads: true, offline: true, ...options });
  const page = await context.newPage();
  const address = pathToFileURL(resolve(file)).href;
  page.on("console", message => expect(message.type() !== "error", `${name}: ${message.text()}`));
  page.on("pageerror", error => expect(false, `${name}: ${error}`));
  page.on("request", request => {
    const own = request.url() === address || /^(data|blob):/.test(request.url());
    expect(own, `${name}: the page asks for ${request.url()}`);
  });
  await page.goto(address);
  return page;
}

/// Every figure shows something: its picture, or what the script puts in its place.
async function checkFigures(page, report, at, isLive) {
  const figures = await page.$$eval("figure", all => all.map(figure => {
    const shown = figure.querySelector(".live") ?? figure.querySelector(".picture");
    const box = shown.getBoundingClientRect();
    const canvases = [...figure.querySelectorAll("canvas")].map(canvas => {
      const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      return pixels.some(value => value > 0);
    });
    return { file: figure.querySelector("button.download").dataset.file, caption: figure.querySelector("figcaption").innerText, width: box.width,
      height: box.height, shapes: figure.querySelector("svg").querySelectorAll("*").length + figure.querySelectorAll(".picture svg *").length, canvases };
  }));
  for (const file of report.figures) expect(figures.some(figure => figure.file === file), `${report.name}: ${file} is missing`);
  for (const { file, caption, width, height, shapes, canvases } of figures) {
    const visible = width > 100 && height > 60 && shapes > 10 && caption.length > 5;
    expect(visible, `${at}: ${file} is ${width} x ${height} with ${shapes} shapes`);
    if (isLive) expect(canvases.every(drawn => drawn), `${at}: ${file} has an empty canvas`);
  }
  return figures.length;
}

/// Arrow keys move the cursor of a chart, and the values below it are those of its data; a line can be taken away.
async function checkCharts(page, report) {
  const figures = await page.$$("figure[data-chart]");
  for (const figure of figures) {
    const plot = await figure.$(".plot");
    await plot.focus();
    await page.keyboard.press("ArrowRight");
    const seen = await figure.evaluate(own => {
      const chart = own.live[0], index = chart.plot.cursor.idx;
      const named = chart.chart.lines.map((line, at) => [line, chart.plot.data[at + 1][index]]).filter(([, value]) => value !== null && value !== undefined);
      const isTime = /\[s\]/.test(chart.chart.y.label);
      const wanted = named.map(([line, value]) => {
        const [, exact] = line.points.find(([x]) => x === chart.xs[index]);
        return { exact, value, text: isTime ? timeText(value) : digits(value) };
      });
      return { text: chart.readout.innerText, wanted, lines: chart.chart.lines.length };
    });
    for (const { exact, value, text } of seen.wanted) {
      expect(exact === value && seen.text.includes(text), `${report.name}: ${text} is not in "${seen.text}"`);
    }
    expect(seen.wanted.length > 0, `${report.name}: the first place of a chart has no value`);
    const toggle = await figure.$(".toggle");
    if (!toggle) continue;
    const shown = () => figure.evaluate(own => own.live.flatMap(one => one.plot.series.slice(1)).filter(one => one.show).length);
    const before = await shown();
    await toggle.click();
    expect(await shown() < before && await toggle.getAttribute("aria-pressed") === "false", `${report.name}: a line cannot be taken away`);
    await toggle.click();
    for (const select of await figure.$$(".controls select")) {
      for (const value of await select.$$eval("option", all => all.map(option => option.value))) await select.selectOption(value);
      await select.selectOption({ index: 0 });
    }
    await plot.focus();
    await page.keyboard.press("+");
    await page.keyboard.press("0");
  }
  return figures.length;
}

async function checkSorting(page, report) {
  const tables = await page.$$("table.sortable");
  expect(tables.length === (report.residuals ? 2 : tables.length), `${report.name}: ${tables.length} tables`);
  for (const [index, table] of tables.entries()) {
    const heads = await table.$$("th button");
    for (const [column, head] of heads.entries()) {
      for (const [order, sign] of [["ascending", 1], ["descending", -1]]) {
        await head.click();
        const found = await table.evaluate((own, at) => ({
          sorted: own.tHead.rows[0].cells[at].getAttribute("aria-sort"),
          values: [...own.tBodies[0].rows].map(row => row.cells[at].dataset.value).filter(value => value !== undefined).map(Number),
        }), column);
        const rising = found.values.every((value, row) => row === 0 || sign * (value - found.values[row - 1]) >= 0);
        expect(found.sorted === order && rising, `${report.name}: column ${column} of table ${index} is not ${order}`);
      }
    }
  }
  return tables.length;
}

/// The file that a click on `link` saves. Of dozens of downloads within a second the browser leaves out some: another try follows.
async function downloaded(page, link) {
  for (let tries = 0; tries < 3; tries += 1) {
    const [download] = await Promise.all([page.waitForEvent("download", { timeout: 2000 }), link.click()]).catch(() => []);
    if (download) return download;
    await page.waitForTimeout(1000);
  }
  return undefined;
}

async function checkDownloads(page, report) {
  const links = await page.$$("button.download");
  const rows = await page.$eval("table.sortable", table => table.tBodies[0].rows.length);
  const kinds = new Set();
  for (const link of links) {
    // A link that is folded away cannot be clicked.
    await link.evaluate(own => own.closest("details")?.setAttribute("open", ""));
    const wanted = await link.getAttribute("data-file");
    const download = await downloaded(page, link);
    expect(download, `${report.name}: ${wanted} is not downloaded`);
    if (!download) continue;
    const file = download.suggestedFilename();
    const kind = file.split(".").pop();
    kinds.add(kind);
    const text = readFileSync(await download.path(), "utf8");
    if (kind === "svg") {
      const root = await page.evaluate(svg => new DOMParser().parseFromString(svg, "image/svg+xml").documentElement.nodeName, text);
      expect(root === "svg", `${report.name}: ${file} is no SVG (${root})`);
    } else if (kind === "jsonl") {
      const objects = text.trim().split("\n").map(line => JSON.parse(line));
      expect(objects.length === rows || file.includes("residuals"), `${report.name}: ${file} has ${objects.length} rows`);
    } else if (kind === "csv") {
      const lines = text.trim().split("\n");
      expect(lines.length === rows + 1 || file.includes("residuals"), `${report.name}: ${file} has ${lines.length} lines`);
    } else {
      expect(kind === "ron" && text.includes("program"), `${report.name}: ${file}`);
    }
  }
  const wanted = report.figures.length ? ["svg", "csv", "jsonl", "ron"] : ["csv", "jsonl", "ron"];
  expect(wanted.every(kind => kinds.has(kind)), `${report.name}: downloads are ${[...kinds]}`);
  return links.length;
}

/// That axe-core has no objection to the page as it is.
async function checkAccess(page, at) {
  await page.evaluate(AXE);
  const found = await page.evaluate(() => axe.run(document));
  for (const { id, help, nodes } of found.violations) {
    expect(false, `${at}: axe-core, ${id}: ${help}; ${nodes.length} times, first ${nodes[0].html.slice(0, 200)}`);
  }
  return found.passes.length;
}

async function checkLayout(page, report, layout) {
  await page.setViewportSize({ width: layout.width, height: 900 });
  await page.emulateMedia({ media: "screen", colorScheme: layout.scheme });
  await page.waitForTimeout(200);
  const seen = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, paper: getComputedStyle(document.body).backgroundColor }));
  const at = `${report.name}, ${layout.name}`;
  expect(seen.wide <= layout.width, `${at}: the page is ${seen.wide} px wide`);
  const isDark = seen.paper.match(/\d+/g).every(part => Number(part) < 128);
  expect(isDark === (layout.scheme === "dark"), `${at}: the page is ${seen.paper}`);
  await checkFigures(page, report, at, true);
  await page.screenshot({ path: `${folder}/${report.name}-${layout.name}.png`, fullPage: true });
  return checkAccess(page, at);
}

/// The time until something is painted, in milliseconds, the least of three: the others are those of a busy machine.
async function firstPaint(browser, file, name) {
  const times = [];
  for (let tries = 0; tries < 3; tries += 1) {
    const page = await opened(browser, file, name);
    await page.waitForTimeout(300);
    times.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Infinity));
    await page.context().close();
  }
  return Math.min(...times);
}

async function checkReport(browser, report) {
  const file = `${folder}/${report.name}.html`;
  execFileSync(parsim, ["report", `scenarios/${report.scenario}.ron`, ...report.arguments, "--out", file]);
  const bytes = statSync(file).size;
  expect(bytes <= (report.largest ?? 1e7), `${report.name}: the page has ${bytes} bytes`);
  const plain = await opened(browser, file, `${report.name} without script`, { javaScriptEnabled: false });
  const pictures = await plain.locator("figure .picture svg").count();
  for (let index = 0; index < pictures; index += 1) {
    expect(await plain.locator("figure .picture svg").nth(index).isVisible(), `${report.name}: without script picture ${index} is hidden`);
  }
  expect(!await plain.locator("button.download").first().isVisible(), `${report.name}: without script nothing can be saved`);
  await plain.context().close();
  const page = await opened(browser, file, report.name);
  const figures = await checkFigures(page, report, report.name, true);
  const headings = await page.$$eval("h3", all => all.map(heading => heading.innerText));
  expect(headings.includes("Residuals") === report.residuals || !report.residuals, `${report.name}: headings are ${headings}`);
  let rules = 0;
  for (const layout of LAYOUTS) rules = await checkLayout(page, report, layout);
  await page.setViewportSize({ width: 1280, height: 900 });
  const charts = await checkCharts(page, report);
  const tables = await checkSorting(page, report);
  const downloads = await checkDownloads(page, report);
  // Paper is white, whatever the screen is.
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  const printed = await page.$$eval("figure .picture", all => all.every(picture => getComputedStyle(picture).display !== "none"));
  expect(printed, `${report.name}: a picture is not printed`);
  expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor) === "rgb(255, 255, 255)", `${report.name}: the paper is not white`);
  const pdf = await page.pdf({ path: `${folder}/${report.name}.pdf`, format: "A4" });
  const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  expect(pages >= 1 && pdf.subarray(0, 5).toString() === "%PDF-", `${report.name}: no PDF`);
  await page.context().close();
  const paint = await firstPaint(browser, file, report.name);
  expect(paint < 1000, `${report.name}: painted after ${paint} ms`);
  console.log(`${report.name}: ${bytes} bytes, first paint ${Math.round(paint)} ms, ${figures} figures, ${charts} with charts, ${tables} tables sorted, ${downloads} downloads, ${pages} printed pages, ${rules} rules of axe-core`);
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
const only = process.env.ONLY;
for (const report of REPORTS) {
  if (!only || only === report.name) await checkReport(browser, report);
}
if (!only || only === "runs") await checkRun({ browser, parsim, folder, expect, opened, checkAccess });
console.log(`Chromium ${browser.version()}: ${faults} faults`);
await browser.close();
process.exit(faults === 0 ? 0 : 1);
