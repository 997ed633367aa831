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
const { scenarios } = answer({ ask: "scenarios" });
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
    sweeps += 1;
}

const gauss = { ...scenarios.find(one => one.name === "gauss-jordan-neighbour.ron"), set: [["ranks", "8"], ["program.n", "32"]] };
const set = ["--set", "ranks=8", "--set", "program.n=32"];
const drawn = join(scratch, "drawn.svg");
printed("critical-path", "scenarios/gauss-jordan-neighbour.ron", ...set, "--space-time", drawn);
assert.equal(answer({ ask: "space-time", ...gauss }).picture, readFileSync(drawn, "utf8"));
printed("run", "scenarios/gauss-jordan-neighbour.ron", ...set, "--heat-map", drawn);
assert.equal(answer({ ask: "heat-map", ...gauss }).picture, readFileSync(drawn, "utf8"));
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

const shared = { name: shift.name, text: shift.text };
assert.deepEqual(await state(await fragment(shared)), shared);
assert.deepEqual([await state(""), await state("#!"), await state("#abc")], [null, null, null]);
rmSync(scratch, { recursive: true });
console.log(`${runs} runs and ${sweeps} sweeps: the bytes of the command; ${module.length} bytes, compressed ${gzipSync(module, { level: 9 }).length}`);
