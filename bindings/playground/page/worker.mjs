// Runs scenarios beside the page, which can stop it.

import { answering } from "./module.mjs";

const answer = fetch("parsim.wasm").then(response => {
    if (!response.ok) throw new Error(`parsim.wasm: ${response.status} ${response.statusText}`);
    return response.arrayBuffer();
}).then(answering);

onmessage = async ({ data: { number, request } }) => {
    let reply;
    try {
        const begin = performance.now();
        reply = (await answer)(request);
        reply.milliseconds = performance.now() - begin;
    } catch (error) {
        // The module has come to a defect or out of memory: what it has left is worth nothing.
        reply = { error: `parsim stopped: ${error.message}`, faults: [], broken: true };
    }
    postMessage({ number, reply });
};
