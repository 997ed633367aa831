// The module of the playground in node, against the command: the same bytes of runs, sweeps, pictures and faults.
//
//     node tests/playground/check.mjs FOLDER PARSIM      (FOLDER from bindings/playground/build.sh)

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [folder, parsim] = process.argv.slice(2).map(path => resolve(path));
const { answering } = await import(pathToFileURL(join(folder, "module.mjs")));
const { fragment, state } = await import(pathToFileURL(join(folder, "link.mjs")));
const module = readFileSync(join(folder, "parsim.wasm"));
const answer = await answering(module);
const scratch = mkdtempSync(join(tmpdir(), "parsim-playground-"));

const printed = (...words) => execFileSync(parsim, words, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
const { scenarios, style, script } = answer({ ask: "scenarios" });
assert.ok(scenarios.length > 40, `${scenarios.length} scenarios`);

let runs = 0, sweeps = 0;
for (const { name, text } of scenarios) {
    const path = `scenarios/${name}`;
    assert.equal(text, readFileSync(path, "utf8"), name);
    const question = { name, text };
    const run = answer({ ask: "run", ...question });
    assert.ok(!run.error, `${name}: ${run.error}`);
    assert.equal(run.json, printed("run", path, "--format", "json"), name);
    assert.equal(run.words, printed("run", path), name);
    runs += 1;
}

for (const [name, over] of [["ring-shift", []], ["ping", []], ["gauss-jordan-neighbour", [["n", ["64", "128"]], ["p", ["1", "4", "16"]]]], ["wormhole-mesh", []]]) {
    const [path, scenario] = [`scenarios/${name}.ron`, scenarios.find(one => one.name === `${name}.ron`)];
    const words = over.flatMap(([axis, values]) => ["--over", `${axis}=${values}`]);
    const picture = join(scratch, "picture.svg");
    const jsonl = printed("sweep", path, ...words, "--format", "jsonl", "--plot", picture);
    const swept = answer({ ask: "sweep", ...scenario, over });
    assert.equal(swept.jsonl, jsonl, name);
    assert.equal(swept.words, printed("sweep", path, ...words), name);
    assert.equal(swept.picture, readFileSync(picture, "utf8"), name);
    if (name === "ring-shift" || name === "gauss-jordan-neighbour") {
        const drawn = swept.charts.charts[0].lines.flatMap(line => line.points.map(([, time]) => time));
        const times = jsonl.trim().split("\n").map(row => JSON.parse(row).makespan_s);
        assert.deepEqual(times.filter(time => !drawn.includes(time)), [], name);
    }
    sweeps += 1;
}

const gauss = { ...scenarios.find(one => one.name === "gauss-jordan-neighbour.ron"), set: [["ranks", "8"], ["program.n", "32"]] };
const set = ["--set", "ranks=8", "--set", "program.n=32"];
const drawn = join(scratch, "drawn.svg");
printed("critical-path", "scenarios/gauss-jordan-neighbour.ron", ...set, "--space-time", drawn);
assert.equal(answer({ ask: "space-time", ...gauss }).picture, readFileSync(drawn, "utf8"));
printed("run", "scenarios/gauss-jordan-neighbour.ron", ...set, "--heat-map", drawn);
assert.equal(answer({ ask: "heat-map", ...gauss }).picture, readFileSync(drawn, "utf8"));

// A run that moves is the one in the page of the command, which has the same script and style.
let moving = 0;
for (const [name, values] of [["gauss-jordan-neighbour", gauss.set], ["ring-shift", []], ["collective", [["machine.network.topology", "fat-tree"]]], ["loggops-collectives", []]]) {
    const path = join(scratch, "run.html");
    printed("critical-path", `scenarios/${name}.ron`, ...values.flatMap(([at, value]) => ["--set", `${at}=${value}`]), "--animation", path);
    const html = readFileSync(path, "utf8");
    const data = JSON.parse(html.match(/<script type="application\/json" id="data">(.*?)<\/script>/s)[1]);
    const animated = answer({ ask: "animation", ...scenarios.find(one => one.name === `${name}.ron`), set: values });
    assert.deepEqual(animated.run, data.runs[0], name);
    assert.ok(html.includes(animated.picture) && html.includes(script) && html.includes(style), name);
    moving += 1;
}

const { constants } = answer({ ask: "constants", ...gauss });
const perByte = constants.find(({ path }) => path === "machine.network.links.per_byte");
assert.deepEqual([perByte.value, perByte.unit, perByte.whole], [0.68, "us/B", false]);

// Faults are those that the command prints on stderr, of a file that lies where the page's text does.
const faulty = [
    text => text.replace("ranks:", "rank:"),
    text => text.replace("SendFirst", "SendLast"),
    text => text.replace("t800.ron", "t900.ron"),
    text => text.slice(0, 300),
];
const shift = scenarios.find(one => one.name === "ring-shift.ron");
for (const change of faulty) {
    const text = change(shift.text);
    assert.notEqual(text, shift.text);
    const file = "scenarios/playground-check.ron";
    writeFileSync(file, text);
    const { stderr, status } = spawnSync(parsim, ["run", file], { encoding: "utf8" });
    rmSync(file);
    const found = answer({ ask: "check", name: "playground-check.ron", text });
    assert.deepEqual([status, found.error.trimEnd()], [2, stderr.trimEnd()]);
    assert.ok(found.faults[0].line > 0 || found.faults[0].file === null);
}
assert.match(answer({ ask: "nothing" }).error, /the request is none/);
const deadlock = answer({ ask: "run", ...shift, set: [["machine.sends", "rendezvous"]] });
assert.match(deadlock.error, /deadlock|wait/);

const shared = { name: shift.name, text: shift.text, factors: [["machine.network.links.per_byte", 2.5]] };
assert.deepEqual(await state(await fragment(shared)), shared);
assert.deepEqual([await state(""), await state("#!"), await state("#abc")], [null, null, null]);
rmSync(scratch, { recursive: true });
console.log(`${runs} runs, ${sweeps} sweeps and ${moving} runs that move: the bytes of the command; ${module.length} bytes, compressed ${gzipSync(module, { level: 9 }).length}`);
