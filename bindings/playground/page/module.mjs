// The module of WebAssembly: a request in, an answer out, both as text.

/** What libraries import that can draw into a page, too: parsim draws texts, and calls none of it. */
function absent(module) {
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
        (imports[from] ??= {})[name] = () => { throw new Error(`${from}.${name} is not there`); };
    }
    return imports;
}

/** A function that answers requests, of the bytes of the module or of the module that they are compiled to. */
export async function answering(given) {
    const module = given instanceof WebAssembly.Module ? given : await WebAssembly.compile(given);
    const { memory, parsim_request, parsim_answer, parsim_text } = (await WebAssembly.instantiate(module, absent(module))).exports;
    return request => {
        const text = new TextEncoder().encode(JSON.stringify(request));
        const place = parsim_request(text.length);
        new Uint8Array(memory.buffer, place, text.length).set(text);
        const length = parsim_answer();
        return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, parsim_text(), length)));
    };
}
