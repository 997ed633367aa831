// The time of a run in the module of the playground, in milliseconds: median of 11 after a first one.

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const folder = resolve(process.argv[2]);
const { answering } = await import(pathToFileURL(join(folder, "module.mjs")));
const answer = await answering(readFileSync(join(folder, "parsim.wasm")));
const { scenarios } = answer({ ask: "scenarios" });
const set = [["ranks", "64"], ["program.n", "256"]];
const request = { ask: "run", ...scenarios.find(one => one.name === "gauss-jordan-neighbour.ron"), set };
const times = Array.from({ length: 12 }, () => {
    const begin = performance.now();
    const { error } = answer(request);
    if (error) throw new Error(error);
    return performance.now() - begin;
}).slice(1).sort((one, other) => one - other);
console.log(`WebAssembly in node: ${times[5].toFixed(1)} ms`);
