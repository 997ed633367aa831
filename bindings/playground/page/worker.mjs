// Runs scenarios beside the page, which can stop it. Its first message is the module.

import { answering } from "./module.mjs";

let answer;

onmessage = async ({ data: { number, module, request } }) => {
    if (module) {
        answer = answering(module);
        return;
    }
    let reply;
    try {
        const ready = await answer;
        const begin = performance.now();
        reply = ready(request);
        reply.milliseconds = performance.now() - begin;
    } catch (error) {
        // The module has come to a defect or out of memory: what it has left is worth nothing.
        reply = { error: `parsim stopped: ${error.message}`, faults: [], broken: true };
    }
    postMessage({ number, reply });
};
