// The playground in Chromium: a run that moves, a fault while one types, sliders, a sweep with charts, a link; its numbers are the command's.
//
//     npm install --no-save playwright-core axe-core
//     node tests/playground/page.mjs FOLDER PARSIM SCREENSHOTS      (FOLDER from bindings/playground/build.sh)

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, resolve } from "node:path";

const require = createRequire(`${process.cwd()}/`);
const { chromium } = require("playwright-core");
const [folder, parsim, screenshots] = process.argv.slice(2).map(path => resolve(path));
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
// Checks of access are put into the page, whatever it allows.
const context = await browser.newContext({ viewport: { width: 1500, height: 1100 }, bypassCSP: true });
const page = await context.newPage();
const errors = [];
page.on("pageerror", error => errors.push(error.message));
page.on("console", message => message.type() === "error" && errors.push(message.text()));

const printed = (...words) => JSON.parse(execFileSync(parsim, [...words, "--format", "json"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
const settings = pairs => pairs.flatMap(([path, value]) => ["--set", `${path}=${value}`]);
const words = () => page.locator("#words").textContent();
const done = () => page.waitForFunction(() => document.getElementById("stop").disabled && / ms$/.test(document.getElementById("state").textContent));
const shot = name => page.screenshot({ path: join(screenshots, `playground-${name}.png`), fullPage: true });
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

async function accessible(which) {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document));
    assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes[0].html.slice(0, 120)]), [], which);
}

/** What is downloaded as `run.json` is what the command prints. */
async function sameAsCommand(scenario, set) {
    const href = await page.locator("#downloads a").getAttribute("href");
    const json = await page.evaluate(async address => (await fetch(address)).json(), href);
    assert.deepEqual(json, printed("run", `scenarios/${scenario}`, ...settings(set)));
    return json.makespan_s;
}

await page.goto(address);
await done();
assert.match(await words(), /GaussJordan on/);
await page.waitForSelector("figure.is-live canvas");
await sameAsCommand("gauss-jordan-neighbour.ron", []);

// It draws, it moves, and the numbers at the cursor are those of the run.
await page.selectOption("#shipped", "ring-shift.ron");
await page.waitForFunction(() => document.getElementById("words").textContent.includes("RingShift"));
await done();
const makespan = await sameAsCommand("ring-shift.ron", []);
const pictures = () => page.evaluate(() => [...document.querySelectorAll("figure canvas")].map(canvas => canvas.toDataURL()));
const player = () => page.evaluate(() => { const { now, run } = document.querySelector("figure").player; return { now, makespan: run.makespan, exact: run.isExact, loads: run.hasLoads }; });
const still = await pictures();
const before = await player();
assert.deepEqual([before.now, before.exact, before.loads, Math.abs(before.makespan * 1e-12 / makespan - 1) < 1e-12], [0, true, true, true]);
await page.getByRole("button", { name: "Play" }).click();
await page.waitForTimeout(1500);
await page.getByRole("button", { name: "Pause" }).click();
assert.ok((await player()).now > 0, "it does not move");
const seek = share => page.evaluate(part => { const { player } = document.querySelector("figure"); player.seek(player.run.makespan * part); }, share);
assert.ok((await pictures())[1] !== still[1], "the cursor is not drawn anew");
await seek(0.9);
assert.ok((await pictures())[0] !== still[0], "the network always looks the same");
const { packet_hops: hops } = printed("run", "scenarios/ring-shift.ron");
const begun = await page.evaluate(() => { const { run } = document.querySelector("figure").player; return run.scene.links.reduce((sum, _, link) => sum + run.carriedUntil(link, run.makespan).packets, 0); });
assert.equal(begun, hops);
await seek(0.4);
await shot("run");
await accessible("light");
await page.emulateMedia({ colorScheme: "dark" });
await page.waitForTimeout(200);
await shot("run-dark");
await accessible("dark");
await page.emulateMedia({ colorScheme: "light" });

await page.locator("#text").evaluate(area => {
    area.value = area.value.replace("SendFirst", "SendLast");
    area.dispatchEvent(new Event("input"));
});
await page.waitForFunction(() => document.getElementById("faults").textContent.includes("SendLast"));
await shot("fault");
await page.locator("#text").evaluate(area => {
    area.value = area.value.replace("SendLast", "SendFirst");
    area.dispatchEvent(new Event("input"));
});
await page.waitForFunction(() => document.getElementById("faults").textContent === "" && document.getElementById("constant").options.length > 3);

// A slider runs again at once, beside the base value, and the picture keeps its place.
const turn = async (path, at) => {
    await page.selectOption("#constant", path);
    await page.click("#add");
    await page.locator(`[id="slider-${path}"]`).evaluate((input, value) => {
        input.value = value;
        input.dispatchEvent(new Event("input"));
    }, String(at));
};
await turn("machine.network.links.per_byte", 1);
await page.waitForFunction(() => document.getElementById("effect").textContent.startsWith("makespan"));
await done();
const slower = await sameAsCommand("ring-shift.ron", [["machine.network.links.per_byte", "6.8 us/B"]]);
assert.ok(slower > makespan);
const effect = await page.locator("#effect").textContent();
const expected = await page.evaluate(([own, base]) => `makespan ${timeText(own)}; with the values of the scenario ${timeText(base)} (${(own / base).toPrecision(4)} ×)`, [slower, makespan]);
assert.equal(effect, expected);
await page.waitForFunction(longest => Math.abs(document.querySelector("figure").player?.run.makespan * 1e-12 / longest - 1) < 1e-9, slower);
const kept = await player();
assert.ok(Math.abs(kept.now / kept.makespan - 0.4) < 1e-9, "the cursor has not kept its place");
// Many moves in a row end at the last one.
await page.locator('[id="slider-machine.network.links.per_byte"]').evaluate(async input => {
    for (let at = 0.9; at > -1.001; at -= 0.1) {
        input.value = at.toFixed(2);
        input.dispatchEvent(new Event("input"));
        await new Promise(done => setTimeout(done, 5));
    }
});
await page.waitForFunction(() => document.querySelector("#sliders output").textContent.startsWith("0.068 us/B"));
await page.waitForTimeout(600);
await done();
const faster = await sameAsCommand("ring-shift.ron", [["machine.network.links.per_byte", "0.068 us/B"]]);
assert.ok(faster < makespan);
await page.waitForFunction(longest => Math.abs(document.querySelector("figure").player?.run.makespan * 1e-12 / longest - 1) < 1e-9, faster);
await shot("sliders");
await accessible("sliders");

await page.click("#link");
await page.waitForFunction(() => document.getElementById("state").textContent.startsWith("the link"));
const other = await context.newPage();
await other.goto(page.url());
await other.waitForFunction(() => document.getElementById("words").textContent.includes("RingShift") && document.querySelector("#sliders output"));
assert.match(await other.locator("#sliders output").textContent(), /^0.068 us\/B/);
await other.close();

await page.getByRole("button", { name: "Remove" }).click();
await page.click("#sweep");
await page.waitForFunction(() => document.querySelector("#downloads a")?.textContent === "sweep.jsonl");
await page.waitForSelector("figure.is-live .plot canvas");
assert.match(await words(), /makespan/);
await shot("sweep");
await accessible("sweep");
for (const [width, height] of [[390, 844], [1100, 800]]) {
    await page.setViewportSize({ width, height });
    await page.click("#run");
    await page.waitForSelector("figure.is-live .stage canvas");
    await done();
    await shot(String(width));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `the page is ${wide} px wide on ${width}`);
}
assert.deepEqual(errors, []);
await browser.close();
server.close();
console.log("the page runs, moves, tells faults, follows sliders, sweeps and is shared by a link, with the command's numbers");
