// The page: a text, its faults while one types, runs and sweeps, sliders over constants.

import { fragment, state } from "./link.mjs";

const part = id => document.getElementById(id);
const text = part("text");
let worker, shipped = [], number = 0, name = "scenario.ron", sliders = [];
const waiting = new Map();

/** Starts a worker; what the last one was asked is not answered any more. */
function start() {
    worker?.terminate();
    for (const { resolve } of waiting.values()) resolve(null);
    waiting.clear();
    worker = new Worker("worker.mjs", { type: "module" });
    worker.onmessage = ({ data: { number, reply } }) => {
        waiting.get(number)?.resolve(reply);
        waiting.delete(number);
        if (reply.broken) start();
    };
    worker.onerror = event => { part("faults").textContent = event.message; };
}

function ask(request) {
    number += 1;
    worker.postMessage({ number, request });
    return new Promise(resolve => waiting.set(number, { resolve }));
}

const settings = () => sliders.map(({ path, value }) => [path, value()]);
const question = asked => ({ ask: asked, name, text: text.value, set: settings() });

/** Shows the faults of an answer; true if there are none. */
function sound(answer) {
    part("faults").textContent = answer?.error ?? "";
    return answer !== null && !answer.error;
}

function show(markup, caption) {
    const figure = document.createElement("figure");
    const picture = new DOMParser().parseFromString(markup, "image/svg+xml").documentElement;
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", caption);
    figure.append(document.importNode(picture, true));
    part("pictures").append(figure);
}

function offer(content, file) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type: "application/json" }));
    link.download = file;
    link.textContent = file;
    part("downloads").append(link, " ");
}

let turn = 0;

/** Runs or sweeps; a later call takes the place of one that is not done. */
async function play(asked) {
    const mine = ++turn;
    if (part("stop").disabled === false) start();
    part("stop").disabled = false;
    part("state").textContent = "running …";
    const answer = await ask(question(asked));
    if (mine !== turn) return;
    const pictures = [];
    if (sound(answer)) {
        part("words").textContent = answer.words;
        part("notes").textContent = [answer.failures, ...answer.notes].filter(Boolean).join("\n");
        if (answer.picture) pictures.push([answer.picture, "times along the last axis"]);
        const wanted = [["space-time", "ranks against time"], ["heat-map", "utilization of the links"]];
        for (const [kind, caption] of asked === "run" ? wanted : []) {
            if (!part(`with-${kind}`).checked) continue;
            const drawn = await ask(question(kind));
            if (mine !== turn) return;
            if (drawn?.picture) pictures.push([drawn.picture, caption]);
            else if (drawn) part("notes").textContent += `\n${caption}: ${drawn.error}`;
        }
        part("pictures").replaceChildren();
        part("downloads").replaceChildren();
        for (const [picture, caption] of pictures) show(picture, caption);
        offer(answer.json ?? answer.jsonl, asked === "run" ? "run.json" : "sweep.jsonl");
        part("state").textContent = `${answer.milliseconds.toFixed(0)} ms`;
    } else {
        part("state").textContent = answer === null ? "stopped" : "";
    }
    part("stop").disabled = true;
}

/** The faults of the text, and the constants that it has. */
async function check() {
    if (!sound(await ask(question("check")))) return;
    const { constants = [] } = await ask(question("constants")) ?? {};
    part("constant").replaceChildren(...constants.map(constant => {
        const option = new Option(`${constant.path} = ${constant.value} ${constant.unit}`, constant.path);
        option.constant = constant;
        return option;
    }));
    part("sweep").disabled = false;
}

let timer;
function typed() {
    clearTimeout(timer);
    timer = setTimeout(async () => {
        history.replaceState(null, "", await fragment({ name, text: text.value }));
        check();
    }, 300);
}

/** A slider from an eighth to eight times the value; whole numbers stay whole. */
function slide({ path, value, unit, whole }) {
    if (sliders.some(slider => slider.path === path)) return;
    const row = document.createElement("div");
    row.className = "slider";
    const label = document.createElement("label");
    label.textContent = path;
    const input = Object.assign(document.createElement("input"), { type: "range", min: -3, max: 3, step: 0.05, value: 0, id: `slider-${path}` });
    label.htmlFor = input.id;
    const shown = document.createElement("output");
    const remove = Object.assign(document.createElement("button"), { type: "button", textContent: "Remove" });
    const current = () => {
        const scaled = value * 2 ** Number(input.value);
        return whole ? String(Math.max(1, Math.round(scaled))) : `${Number(scaled.toPrecision(4))} ${unit}`.trim();
    };
    const slider = { path, value: current };
    const turned = () => {
        shown.textContent = current();
        clearTimeout(timer);
        timer = setTimeout(() => play("run"), 60);
    };
    input.oninput = turned;
    remove.onclick = () => {
        sliders = sliders.filter(other => other !== slider);
        row.remove();
        play("run");
    };
    shown.textContent = current();
    row.append(label, input, shown, remove);
    part("sliders").append(row);
    sliders.push(slider);
}

function take(given) {
    name = given.name;
    text.value = given.text;
    sliders = [];
    part("sliders").replaceChildren();
    part("shipped").value = shipped.some(one => one.name === name) ? name : "";
    typed();
}

text.oninput = typed;
part("run").onclick = () => play("run");
part("sweep").onclick = () => play("sweep");
part("stop").onclick = start;
part("add").onclick = () => {
    const { constant } = part("constant").selectedOptions[0] ?? {};
    if (constant) slide(constant);
};
part("shipped").onchange = () => take(shipped.find(one => one.name === part("shipped").value));
part("link").onclick = async () => {
    location.hash = await fragment({ name, text: text.value });
    await navigator.clipboard?.writeText(location.href);
    part("state").textContent = "the link is in the address, and copied";
};

start();
const { scenarios, version, commit } = await ask({ ask: "scenarios" });
shipped = scenarios;
part("version").textContent = `parsim ${version}${commit ? ` (${commit})` : ""}`;
part("shipped").append(...shipped.map(({ name }) => new Option(name, name)));
const linked = await state(location.hash);
take(typeof linked?.text === "string" ? { name: String(linked.name), text: linked.text } : shipped.find(one => one.name === "ping.ron"));
await play("run");
