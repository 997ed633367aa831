// The playground in Chromium: a run, a fault while one types, a slider, a sweep, a link.
//
//     npm install --no-save playwright-core && node tests/playground/page.mjs FOLDER SCREENSHOTS   (FOLDER from bindings/playground/build.sh)

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, resolve } from "node:path";

const { chromium } = createRequire(`${process.cwd()}/`)("playwright-core");
const [folder, screenshots] = process.argv.slice(2).map(path => resolve(path));
mkdirSync(screenshots, { recursive: true });

const kinds = { ".html": "text/html", ".css": "text/css", ".mjs": "text/javascript", ".wasm": "application/wasm" };
const server = createServer(({ url }, response) => {
    try {
        const path = url === "/" ? "index.html" : url.slice(1).split(/[?#]/)[0];
        response.writeHead(200, { "content-type": kinds[extname(path)] });
        response.end(readFileSync(join(folder, path)));
    } catch {
        response.writeHead(404).end();
    }
}).listen(0);
const address = `http://localhost:${server.address().port}/`;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1500, height: 1100 } });
const errors = [];
page.on("pageerror", error => errors.push(error.message));
page.on("console", message => message.type() === "error" && !message.text().includes("favicon") && errors.push(message.text()));

const words = () => page.locator("#words").textContent();
const done = () => page.waitForFunction(() => / ms$/.test(document.getElementById("state").textContent));
await page.goto(address);
await done();
assert.match(await words(), /Ping on/);
await page.selectOption("#shipped", "ring-shift.ron");
await page.click("#run");
await page.waitForFunction(() => document.getElementById("words").textContent.includes("RingShift"));
await done();
assert.ok(await page.locator("#pictures svg").count() >= 1, "no picture");
await page.screenshot({ path: join(screenshots, "run.png") });

await page.locator("#text").evaluate(area => {
    area.value = area.value.replace("SendFirst", "SendLast");
    area.dispatchEvent(new Event("input"));
});
await page.waitForFunction(() => document.getElementById("faults").textContent.includes("SendLast"));
await page.screenshot({ path: join(screenshots, "fault.png") });
await page.locator("#text").evaluate(area => {
    area.value = area.value.replace("SendLast", "SendFirst");
    area.dispatchEvent(new Event("input"));
});
await page.waitForFunction(() => document.getElementById("faults").textContent === "" && document.getElementById("constant").options.length > 3);

await page.click("#run");
await done();
const before = await words();
await page.click("#constants summary");
await page.selectOption("#constant", "machine.network.links.per_byte");
await page.click("#add");
await page.locator("#sliders input").evaluate(input => {
    input.value = "2";
    input.dispatchEvent(new Event("input"));
});
await page.waitForFunction(before => document.getElementById("words").textContent !== before, before);
assert.equal(await page.locator("#sliders output").textContent(), "2.72 us/B");

await page.click("#sweep");
await page.waitForFunction(() => document.querySelector("#downloads a")?.textContent === "sweep.jsonl");
assert.match(await words(), /makespan/);
await page.screenshot({ path: join(screenshots, "sweep.png"), fullPage: true });

await page.click("#link");
await page.waitForFunction(() => location.hash.length > 100);
const other = await browser.newPage();
await other.goto(page.url());
await other.waitForFunction(() => document.getElementById("words").textContent.includes("RingShift"));
assert.deepEqual(errors, []);
await browser.close();
server.close();
console.log("the page runs, tells faults, follows a slider, sweeps and is shared by a link");
