// Figures of the page, which the script of the report page brings to life.

/* global liveCharts, liveRun: the script that comes with the module */

function saved(figure, file) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: "SVG", title: `Saves ${file}` });
    button.onclick = () => {
        const text = new XMLSerializer().serializeToString(figure.querySelector(".picture svg"));
        const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(new Blob([text], { type: "image/svg+xml" })), download: file });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    };
    return button;
}

function figureOf({ picture, caption, file }) {
    const figure = document.createElement("figure");
    const frame = Object.assign(document.createElement("div"), { className: "picture", tabIndex: 0 });
    frame.setAttribute("role", "img");
    frame.setAttribute("aria-label", caption);
    frame.append(document.importNode(new DOMParser().parseFromString(picture, "image/svg+xml").documentElement, true));
    const words = document.createElement("figcaption");
    words.append(`${caption} `, saved(figure, file));
    figure.append(frame, words);
    return figure;
}

/** Shows pictures in `place`: `charts` of them answer to the cursor, a `run` is played from where the last one was. */
export function show(place, pictures) {
    const before = place.querySelector("figure.is-live .run")?.closest("figure").player;
    const share = before ? before.now / before.run.makespan : 0;
    const playing = before?.playing;
    const view = before?.view.map(end => end / before.run.makespan);
    place.replaceChildren(...pictures.map(figureOf));
    // What is live measures the room that it has, so it must be on the page.
    pictures.forEach((picture, at) => {
        const figure = place.children[at];
        if (picture.charts) liveCharts(figure, picture.charts);
        if (!picture.run) return;
        liveRun(figure, picture.run);
        const { player } = figure;
        if (!player || !before) return;
        player.view = view.map(end => end * player.run.makespan);
        player.redraw();
        player.seek(share * player.run.makespan);
        if (playing) player.toggle();
    });
}
