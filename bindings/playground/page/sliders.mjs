// Sliders over constants of the scenario.

const part = id => document.getElementById(id);
const made = (name, properties, ...content) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...content);
    return element;
};

/** The sliders of a page, each from a tenth to ten times its value; `turned` is called when one has moved, or is gone. */
export class Sliders {
    #all = [];
    #turned;

    constructor(turned) {
        this.#turned = turned;
        part("add").onclick = () => {
            const { constant } = part("constant").selectedOptions[0] ?? {};
            if (constant) this.add(constant);
        };
    }

    /** The values that replace those of the scenario, by their paths. */
    get settings() {
        return this.#all.filter(slider => slider.factor() !== 1).map(({ path, value }) => [path, value()]);
    }

    /** The factors, for a link. */
    get factors() {
        return this.#all.map(({ path, factor }) => [path, factor()]);
    }

    clear() {
        this.#all = [];
        part("sliders").replaceChildren();
    }

    /** Offers these constants, those with a unit first. */
    offer(constants) {
        const chosen = part("constant").value;
        const group = (label, members) => made("optgroup", { label }, ...members.map(constant =>
            Object.assign(new Option(`${constant.path} = ${constant.value} ${constant.unit}`.trim(), constant.path), { constant })));
        const groups = [["with a unit", true], ["numbers", false]].map(([label, wanted]) => [label, constants.filter(({ unit }) => (unit !== "") === wanted)]);
        part("constant").replaceChildren(...groups.filter(([, members]) => members.length).map(([label, members]) => group(label, members)));
        if (constants.some(({ path }) => path === chosen)) part("constant").value = chosen;
    }

    /** A slider over a constant, at `factor` times its value; whole numbers stay whole. */
    add({ path, value, unit, whole }, factor = 1) {
        if (this.#all.some(slider => slider.path === path)) return;
        const input = made("input", { type: "range", min: -1, max: 1, step: 0.01, value: Math.log10(factor), id: `slider-${path}` });
        const shown = made("output", {});
        const remove = made("button", { type: "button", textContent: "Remove" });
        remove.setAttribute("aria-label", `Remove the slider of ${path}`);
        const row = made("div", { className: "slider" }, made("label", { textContent: path, htmlFor: input.id }), input, shown, remove);
        const now = () => 10 ** Number(input.value);
        const current = () => whole ? String(Math.max(1, Math.round(value * now()))) : `${Number((value * now()).toPrecision(4))} ${unit}`.trim();
        const slider = { path, value: current, factor: now };
        const tell = () => {
            shown.textContent = `${current()} (${Number(now().toPrecision(3))} ×)`;
            input.setAttribute("aria-valuetext", shown.textContent);
        };
        input.oninput = () => { tell(); this.#turned(); };
        input.ondblclick = () => { input.value = 0; input.oninput(); };
        remove.onclick = () => {
            this.#all = this.#all.filter(other => other !== slider);
            row.remove();
            this.#turned();
        };
        tell();
        part("sliders").append(row);
        this.#all.push(slider);
    }
}
