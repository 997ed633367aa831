// A scenario in the fragment of a link: compressed, in the letters that links may have.

async function through(stream, bytes) {
    const piped = new Blob([bytes]).stream().pipeThrough(stream);
    return new Uint8Array(await new Response(piped).arrayBuffer());
}

/** The fragment that holds a state, a JSON object. */
export async function fragment(state) {
    const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(state)));
    const letters = Array.from(bytes, byte => String.fromCharCode(byte)).join("");
    return "#" + btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The state in a fragment; null if it holds none. */
export async function state(fragment) {
    if (fragment.length < 2) return null;
    try {
        const letters = atob(fragment.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
        const bytes = await through(new DecompressionStream("deflate-raw"), Uint8Array.from(letters, letter => letter.charCodeAt(0)));
        return JSON.parse(new TextDecoder().decode(bytes));
    } catch {
        return null;
    }
}
