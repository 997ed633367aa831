// The page: a text, its faults while one types, runs and sweeps, sliders over constants.

import { Asking } from "./asking.mjs";
import { fragment, state } from "./link.mjs";
import { show } from "./pictures.mjs";
import { Sliders } from "./sliders.mjs";

/* global timeText: of the script that comes with the module */

const part = id => document.getElementById(id);
const text = part("text");
let shipped = [], name = "scenario.ron", turn = 0;

async function module() {
    const response = await fetch("parsim.wasm");
    if (!response.ok) throw new Error(`parsim.wasm: ${response.status} ${response.statusText}`);
    return WebAssembly.compile(await response.arrayBuffer());
}

const compiled = await module().catch(error => { part("faults").textContent = error.message; throw error; });
// Pictures take longer than a run, so they come from a worker of their own: a slider does not wait for them.
const [runner, painter] = [new Asking(compiled), new Asking(compiled)];
const sliders = new Sliders(() => turned());
const question = asked => ({ ask: asked, name, text: text.value, set: sliders.settings });

/** Shows the faults of an answer; true if there are none. */
function sound(answer) {
    part("faults").textContent = answer?.error ?? "";
    return answer !== null && !answer.error;
}

function offer(content, file) {
    URL.revokeObjectURL(part("downloads").firstElementChild?.href);
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([content], { type: "application/json" })), download: file, textContent: file });
    part("downloads").replaceChildren(link);
}

function tell(answer, file) {
    part("words").textContent = answer.words;
    part("notes").textContent = [answer.failures, ...answer.notes].filter(Boolean).join("\n");
    offer(answer.json ?? answer.jsonl, file);
    part("state").textContent = `${answer.milliseconds.toFixed(0)} ms`;
}

function busy(isBusy) {
    part("stop").disabled = !isBusy;
    if (isBusy) part("state").textContent = "running …";
}

/** Runs or sweeps; a later call takes the place of one that is not done. */
async function play(asked) {
    const mine = turn += 1;
    runner.stop();
    painter.stop();
    busy(true);
    const answer = await runner.ask(question(asked));
    if (mine !== turn) return;
    if (sound(answer)) {
        tell(answer, asked === "run" ? "run.json" : "sweep.jsonl");
        if (asked === "run") {
            await compare(answer);
            if (mine === turn) await paint();
        } else {
            part("effect").textContent = "";
            show(part("pictures"), answer.picture ? [{ picture: answer.picture, charts: answer.charts, caption: "Times along the last axis.", file: "sweep.svg" }] : []);
        }
    } else {
        part("state").textContent = answer === null ? "stopped" : "";
    }
    if (mine === turn) busy(false);
}

let painted = 0;

/** The pictures of the run; those that are asked for later take the place of these. */
async function paint() {
    const mine = painted += 1, pictures = [];
    painter.stop();
    part("pictures").ariaBusy = "true";
    for (const kind of ["animation", "heat-map"]) {
        if (!part(`with-${kind}`).checked) continue;
        const drawn = await painter.ask(question(kind));
        if (mine !== painted) return;
        if (drawn?.picture) pictures.push({ caption: "Utilization of every link over the whole of the run.", file: "links.svg", ...drawn });
        else if (drawn) part("notes").textContent += `\nno ${kind}: ${drawn.error}`;
    }
    show(part("pictures"), pictures);
    part("pictures").ariaBusy = "false";
}

let base = {};

/** The makespan beside that of the scenario without the sliders. */
async function compare(answer) {
    const own = JSON.parse(answer.json).makespan_s;
    part("effect").textContent = "";
    if (sliders.settings.length === 0 || own === undefined) return;
    if (base.text !== text.value || base.name !== name) {
        const given = { name, text: text.value };
        const plain = await runner.ask({ ask: "run", ...given });
        if (!plain?.json) return;
        base = { ...given, makespan: JSON.parse(plain.json).makespan_s };
    }
    const change = base.makespan > 0 ? ` (${(own / base.makespan).toPrecision(4)} ×)` : "";
    part("effect").textContent = `makespan ${timeText(own)}; with the values of the scenario ${timeText(base.makespan)}${change}`;
}

let moving = false, again = false, rest;

/** Runs again at once after a slider has moved; while a run is under way the next one waits. Pictures follow when the slider rests. */
async function turned() {
    again = true;
    clearTimeout(rest);
    if (moving) return;
    moving = true;
    const mine = turn += 1;
    runner.stop();
    while (again && mine === turn) {
        again = false;
        busy(true);
        const answer = await runner.ask(question("run"));
        if (mine !== turn) break;
        if (sound(answer)) {
            tell(answer, "run.json");
            await compare(answer);
        }
        busy(false);
    }
    moving = false;
    if (mine !== turn) return;
    clearTimeout(rest);
    rest = setTimeout(() => { link(); paint(); }, 250);
}

/** The faults of the text, and the constants that it has. */
async function check(factors = []) {
    if (!sound(await runner.ask(question("check")))) return;
    const { constants = [] } = await runner.ask({ ...question("constants"), set: [] }) ?? {};
    sliders.offer(constants);
    for (const [path, factor] of factors) {
        const constant = constants.find(one => one.path === path);
        if (constant && factor >= 0.1 && factor <= 10) sliders.add(constant, factor);
    }
    part("constants").open ||= factors.length > 0;
}

/** Keeps the scenario in the address. */
async function link() {
    history.replaceState(null, "", await fragment({ name, text: text.value, factors: sliders.factors }));
}

let typing;
function typed() {
    clearTimeout(typing);
    typing = setTimeout(() => { link(); check(); }, 300);
}

async function take(given) {
    name = given.name;
    text.value = given.text;
    sliders.clear();
    part("shipped").value = shipped.some(one => one.name === name) ? name : "";
    await check(given.factors);
    await link();
    await play("run");
}

function linked(found) {
    if (typeof found?.text !== "string") return null;
    const factors = Array.isArray(found.factors) ? found.factors.filter(Array.isArray) : [];
    return { name: String(found.name), text: found.text, factors };
}

text.oninput = typed;
part("run").onclick = () => play("run");
part("sweep").onclick = () => play("sweep");
part("stop").onclick = () => { runner.stop(); painter.stop(); };
part("shipped").onchange = () => take(shipped.find(one => one.name === part("shipped").value));
for (const kind of ["animation", "heat-map"]) part(`with-${kind}`).onchange = () => paint();
part("link").onclick = async () => {
    await link();
    await navigator.clipboard?.writeText(location.href);
    part("state").textContent = "the link is in the address, and copied";
};

const { scenarios, version, commit, style, script } = await runner.ask({ ask: "scenarios" });
// The report page's own style and script, behind the style of this page in force.
document.head.prepend(Object.assign(document.createElement("style"), { textContent: style }));
document.head.append(Object.assign(document.createElement("script"), { textContent: script }));
shipped = scenarios;
part("version").textContent = `parsim ${version}${commit ? ` (${commit})` : ""}`;
part("shipped").append(...shipped.map(({ name }) => new Option(name, name)));
await take(linked(await state(location.hash)) ?? shipped.find(one => one.name === "gauss-jordan-neighbour.ron"));
