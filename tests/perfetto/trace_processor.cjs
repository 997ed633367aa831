// Perfetto's trace processor, as its user interface ships it (WebAssembly), behind a Unix socket.
//
//   node trace_processor.cjs FOLDER SOCKET
//
// FOLDER holds engine_bundle.js and trace_processor*.wasm. Bytes pass through as they come: both sides speak Perfetto's
// TraceProcessorRpcStream. The engine expects to be a worker of a browser, so as much of one is made here as it uses.
const { readFileSync } = require("node:fs");
const { createServer } = require("node:net");
const { basename, join } = require("node:path");
const vm = require("node:vm");

const [folder, socket] = process.argv.slice(2);

class LocalFile {
  open(_method, url) {
    this.response = readFileSync(join(folder, basename(url)));
  }
  send() {}
}

globalThis.self = globalThis;
globalThis.WorkerGlobalScope = class {};
globalThis.location = { href: "http://localhost/engine_bundle.js" };
globalThis.XMLHttpRequest = LocalFile;
process.type = "renderer";
console.warn = () => {};
vm.runInThisContext(readFileSync(join(folder, "engine_bundle.js"), "utf8"), { filename: "engine_bundle.js" });

const port = {};
globalThis.onmessage({ data: port });
createServer((client) => {
  port.postMessage = (bytes) => client.write(bytes);
  client.on("data", (bytes) => port.onmessage({ data: new Uint8Array(bytes) }));
  client.on("end", () => process.exit());
}).listen(socket, () => console.log("ready"));
