// Questions to a worker, one after the other.

export class Asking {
    #module;
    #worker;
    #number = 0;
    #waiting = new Map();

    constructor(module) {
        this.#module = module;
        this.#start();
    }

    #start() {
        this.#worker?.terminate();
        this.#worker = new Worker("worker.mjs", { type: "module" });
        this.#worker.onmessage = ({ data: { number, reply } }) => {
            this.#waiting.get(number)?.(reply);
            this.#waiting.delete(number);
            if (reply.broken) this.stop();
        };
        this.#worker.postMessage({ module: this.#module });
    }

    /** The answer to a request; null if it was stopped. */
    ask(request) {
        const number = this.#number += 1;
        this.#worker.postMessage({ number, request });
        return new Promise(resolve => this.#waiting.set(number, resolve));
    }

    /** Leaves all that was asked without an answer. */
    stop() {
        if (this.#waiting.size === 0) return;
        this.#start();
        for (const resolve of this.#waiting.values()) resolve(null);
        this.#waiting.clear();
    }
}
