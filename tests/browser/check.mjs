// Opens reports of `parsim report` in a real browser, without a network.
//
//     npm install --no-save playwright-core && node tests/browser/check.mjs target/debug/parsim SCREENSHOTS
//
// Needs Chromium (/usr/bin/chromium, or the path in CHROMIUM). Makes the reports of the T800 experiment, a cluster and the
// Time Warp study, and fails on: an error in the console or a request; a figure that is missing, invisible or empty; a
// table that a click on its head does not sort both ways; a download that is not what its name says; a page that is wider than
// a phone of 390 px, in light or dark, or whose text has too little contrast; or a page that cannot be printed.
// Screenshots and PDFs go to the folder SCREENSHOTS. Exit code 1 if anything fails.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

// From the folder where it was installed, which need not be this one.
const { chromium } = createRequire(`${process.cwd()}/`)("playwright-core");

const [parsim, folder] = process.argv.slice(2);
if (!folder) {
  console.error("usage: node tests/browser/check.mjs PARSIM SCREENSHOTS");
  process.exit(2);
}
mkdirSync(folder, { recursive: true });

const CURVES = ["figure-3-4-times.svg", "execution-communication.svg", "figure-5-components.svg", "figure-7-b-ratios.svg",
  "speedup.svg", "efficiency.svg", "space-time.svg", "links.svg"];
const LAWS = ["laws-speedup.svg", "laws-efficiency.svg", "karp-flatt.svg"];
// The model of the cluster gives efficiencies, whose errors stand in the results. The lattice of the Time Warp study grows with p: outside the laws.
const REPORTS = [
  { name: "t800", scenario: "gauss-jordan-neighbour", arguments: ["--over", "n=128,256"], figures: [...CURVES, ...LAWS], residuals: true },
  { name: "cluster", scenario: "cluster-matmul", arguments: [], figures: [...CURVES, ...LAWS], residuals: false },
  { name: "time-warp", scenario: "ising-time-warp", arguments: ["--over", "p=1,4,16", "--over", "seed=1"], figures: CURVES, residuals: false },
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

/// The relative luminances of text and page as WCAG 2 has them, and their contrast.
function contrast(ink, paper) {
  const luminance = colour => {
    const [red, green, blue] = colour.match(/[\d.]+/g).slice(0, 3).map(value => value / 255)
      .map(value => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark, light] = [luminance(ink), luminance(paper)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

async function checkFigures(page, report, layout) {
  const figures = await page.$$eval("figure", all => all.map(figure => {
    const svg = figure.querySelector("svg");
    const box = svg.getBoundingClientRect();
    return {
      file: figure.querySelector("a.download").download, caption: figure.querySelector("figcaption").innerText,
      width: box.width, height: box.height, shapes: svg.querySelectorAll("*").length,
    };
  }));
  for (const file of report.figures) {
    expect(figures.some(figure => figure.file.endsWith(file)), `${report.name}: ${file} is missing`);
  }
  for (const { file, caption, width, height, shapes } of figures) {
    const visible = width > 100 && height > 60 && shapes > 10 && caption.length > 5;
    expect(visible, `${report.name}, ${layout.name}: ${file} is ${width} x ${height} with ${shapes} shapes`);
  }
  return figures.length;
}

async function checkSorting(page, report) {
  const tables = await page.$$("table.sortable");
  expect(tables.length >= (report.residuals ? 2 : 1), `${report.name}: ${tables.length} tables`);
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

/// What a click on `link` saves. Of dozens of downloads within a second the browser leaves out some: another try follows.
async function downloaded(page, link) {
  for (let tries = 0; tries < 3; tries += 1) {
    const [download] = await Promise.all([page.waitForEvent("download", { timeout: 2000 }), link.click()]).catch(() => []);
    if (download) return download;
    await page.waitForTimeout(1000);
  }
  return undefined;
}

async function checkDownloads(page, report) {
  const links = await page.$$("a.download");
  const rows = await page.$eval("table.sortable", table => table.tBodies[0].rows.length);
  const kinds = new Set();
  for (const link of links) {
    // What is folded away cannot be clicked.
    await link.evaluate(own => own.closest("details")?.setAttribute("open", ""));
    const wanted = await link.getAttribute("download");
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
      expect(objects.length === rows && objects.every(object => "makespan_s" in object), `${report.name}: ${file}`);
    } else if (kind === "csv") {
      const lines = text.trim().split("\n");
      expect(lines.length === rows + 1 && lines[0].includes("makespan_s"), `${report.name}: ${file}`);
    } else {
      expect(kind === "ron" && text.includes("program"), `${report.name}: ${file}`);
    }
  }
  expect(["svg", "csv", "jsonl", "ron"].every(kind => kinds.has(kind)), `${report.name}: downloads are ${[...kinds]}`);
  return links.length;
}

async function checkLayout(page, report, layout) {
  await page.setViewportSize({ width: layout.width, height: 900 });
  await page.emulateMedia({ media: "screen", colorScheme: layout.scheme });
  const seen = await page.evaluate(() => {
    const style = getComputedStyle(document.body);
    const soft = getComputedStyle(document.querySelector("figcaption")).color;
    return { wide: document.documentElement.scrollWidth, ink: style.color, paper: style.backgroundColor, soft };
  });
  const at = `${report.name}, ${layout.name}`;
  expect(seen.wide <= layout.width, `${at}: the page is ${seen.wide} px wide`);
  for (const ink of [seen.ink, seen.soft]) {
    expect(contrast(ink, seen.paper) >= 4.5, `${at}: ${ink} on ${seen.paper} can hardly be read`);
  }
  const dark = contrast(seen.paper, "rgb(0, 0, 0)") < 4.5;
  expect(dark === (layout.scheme === "dark"), `${at}: the page is ${seen.paper}`);
  await checkFigures(page, report, layout);
  await page.screenshot({ path: `${folder}/${report.name}-${layout.name}.png`, fullPage: true });
}

async function checkReport(browser, report) {
  const file = `${folder}/${report.name}.html`;
  execFileSync(parsim, ["report", `scenarios/${report.scenario}.ron`, ...report.arguments, "--out", file]);
  const context = await browser.newContext({ acceptDownloads: true, offline: true });
  const page = await context.newPage();
  const address = pathToFileURL(resolve(file)).href;
  page.on("console", message => expect(message.type() !== "error", `${report.name}: ${message.text()}`));
  page.on("pageerror", error => expect(false, `${report.name}: ${error}`));
  page.on("request", request => {
    const own = request.url() === address || request.url().startsWith("data:");
    expect(own, `${report.name}: the page asks for ${request.url()}`);
  });
  await page.goto(address);
  const figures = await checkFigures(page, report, LAYOUTS[0]);
  const headings = await page.$$eval("h3", all => all.map(heading => heading.innerText));
  expect(headings.includes("Residuals") === report.residuals, `${report.name}: headings are ${headings}`);
  for (const layout of LAYOUTS) {
    await checkLayout(page, report, layout);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  const tables = await checkSorting(page, report);
  const downloads = await checkDownloads(page, report);
  const pdf = await page.pdf({ path: `${folder}/${report.name}.pdf`, format: "A4" });
  const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  expect(pages >= 1 && pdf.subarray(0, 5).toString() === "%PDF-", `${report.name}: no PDF`);
  console.log(`${report.name}: ${figures} figures, ${tables} tables sorted, ${downloads} downloads, ${pages} printed pages`);
  await context.close();
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
for (const report of REPORTS) {
  await checkReport(browser, report);
}
console.log(`Chromium ${browser.version()}: ${faults} faults`);
await browser.close();
process.exit(faults === 0 ? 0 : 1);
