// Played runs: that they draw, move, and show the numbers of the recording, as the other outputs of `parsim critical-path` have them.

import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";

const RUNS = [
  { name: "mesh", scenario: "gauss-jordan-neighbour", arguments: ["--set", "ranks=16", "--set", "program.n=64"], exact: true, loads: true },
  { name: "fat-tree", scenario: "collective", arguments: ["--set", "machine.network.topology=fat-tree"], exact: true, loads: true },
  { name: "torus", scenario: "stencil", arguments: ["--set", "machine.network.topology=torus2d"], exact: true, loads: true },
  { name: "wormhole", scenario: "collective", arguments: ["--set", "machine.network.switching=wormhole"], exact: true, loads: true },
  { name: "time-warp", scenario: "ising-time-warp", arguments: ["--set", "program.attempts=20", "--set", "ranks=4"], exact: true, loads: true },
  { name: "loggops", scenario: "loggops-collectives", arguments: [], exact: true, loads: false },
  { name: "cluster", scenario: "cluster-fft2d", arguments: [], exact: true, loads: true },
  { name: "one-rank", scenario: "gauss-jordan-neighbour", arguments: ["--set", "ranks=1", "--set", "program.n=16"], exact: true, loads: false },
  { name: "dragonfly", scenario: "collective", arguments: ["--set", "machine.network.topology=dragonfly", "--set", "ranks=72"], exact: true, loads: true },
  { name: "large", scenario: "stencil", arguments: ["--set", "ranks=1024", "--set", "machine.network.topology=Mesh2d(rows: 32, columns: 32)",
    "--set", "program.parameters.iterations=4"], exact: false, loads: true },
];

function table(file) {
  const [head, ...rows] = readFileSync(file, "utf8").trim().split("\n").map(line => line.split(","));
  return rows.map(row => Object.fromEntries(head.map((name, at) => [name, row[at]])));
}

/// The transfers of each link, by its ends, from the export for Perfetto: begin and end in nanoseconds, time on the wire, packets.
function transfers(file) {
  const entries = JSON.parse(readFileSync(file, "utf8")).traceEvents.filter(entry => entry.pid === 3);
  const names = new Map(entries.filter(entry => entry.name === "thread_name").map(entry => [entry.tid, entry.args.name.split(",")[0]]));
  const found = new Map();
  for (const entry of entries.filter(entry => entry.ph === "X" && "packet_bytes" in entry.args)) {
    const name = names.get(entry.tid);
    if (!found.has(name)) found.set(name, []);
    found.get(name).push({ begin: entry.ts * 1e6, end: (entry.ts + entry.dur) * 1e6, busy: entry.args.busy_s * 1e12, packets: entry.args.packets });
  }
  return found;
}

const near = (one, other, slack) => Math.abs(one - other) <= slack;

/// The numbers at many times against those of the tables and the export.
async function checkNumbers(page, run, files, expect) {
  const events = table(files.events).filter(event => Number(event.service_s) > 0);
  const stride = Math.max(1, Math.floor(events.length / 300));
  const asked = events.filter((_, at) => at % stride === 0).map(event => {
    const end = Number(event.critical_s) * 1e12, service = Number(event.service_s) * 1e12;
    return { rank: Number(event.process), time: end - service / 2, begin: end - service, end, kind: event.kind, phase: event.phase };
  });
  const activities = await page.evaluate(all => all.map(({ rank, time }) => document.querySelector("figure").player.run.activityAt(rank, time)), asked);
  asked.forEach((wanted, at) => {
    const seen = activities[at];
    const holds = seen.kind === wanted.kind && seen.phase === wanted.phase && seen.begin <= wanted.begin + 2 && seen.end >= wanted.end - 2;
    expect(holds, `${run.name}: rank ${wanted.rank} at ${wanted.time} ps: ${JSON.stringify(seen)} instead of ${JSON.stringify(wanted)}`);
  });
  const pieces = table(files.path).map(row => ({ ...row, time: (Number(row.from_s) + Number(row.to_s)) / 2 * 1e12, length: Number(row.to_s) - Number(row.from_s) }))
    .filter(row => row.length > 1e-11).slice(0, 500);
  const path = await page.evaluate(all => all.map(time => document.querySelector("figure").player.run.pathAt(time)), pieces.map(piece => piece.time));
  pieces.forEach((piece, at) => {
    const holds = piece.kind === path[at].kind && (piece.process === "" || Number(piece.process) === path[at].rank);
    expect(holds, `${run.name}: the critical path at ${piece.time} ps is ${JSON.stringify(path[at])} instead of ${JSON.stringify(piece)}`);
  });
  return asked.length + pieces.length;
}

async function checkLoads(page, run, files, expect) {
  const carried = transfers(files.perfetto);
  expect(carried.size > 0, `${run.name}: nothing was carried`);
  const ask = share => page.evaluate(part => {
    const { player } = document.querySelector("figure"), { run: own } = player, time = own.makespan * part;
    return { time, links: own.scene.links.map((_, link) => ({ name: player.linkName(link), ...own.carriedUntil(link, time) })) };
  }, share);
  let compared = 0;
  for (const share of [0.1, 0.37, 0.5, 0.81, 1]) {
    const { time, links } = await ask(share);
    for (const { name, busy, packets } of links) {
      const all = carried.get(name) ?? [];
      // A transfer on its way at that time counts between nothing and all of it.
      const over = all.filter(one => one.end < time - 1000), begun = all.filter(one => one.begin <= time + 1000);
      const sum = (list, key) => list.reduce((total, one) => total + one[key], 0);
      const holds = busy >= sum(over, "busy") - 1 - 1e-9 * busy && busy <= sum(begun, "busy") + 1 + 1e-9 * busy
        && packets >= sum(over, "packets") && packets <= sum(begun, "packets");
      expect(holds, `${run.name}: link ${name} at ${time} ps: ${busy} ps, ${packets} packets; the export has ${sum(over, "busy")} to ${sum(begun, "busy")} ps, ${sum(over, "packets")} to ${sum(begun, "packets")} packets`);
      compared += 1;
    }
  }
  const { links } = await ask(1);
  const total = [...carried.values()].flat().reduce((sum, one) => sum + one.packets, 0);
  expect(links.reduce((sum, link) => sum + link.packets, 0) === total, `${run.name}: ${total} packets in the export`);
  return compared;
}

/// The words below the pictures are those of the run.
async function checkWords(page, run, expect) {
  const found = await page.evaluate(() => {
    const { player } = document.querySelector("figure");
    return [0.2, 0.5, 0.9].map(share => {
      player.seek(player.run.makespan * share);
      const state = player.state(), doing = state.ranks[player.rank];
      const wanted = [doing.kind, timeText(doing.begin * 1e-12), timeText(doing.end * 1e-12)];
      if (player.run.hasLoads) wanted.push(timeText(state.links[player.link].busy * 1e-12), `${digits(100 * state.links[player.link].load)} %`);
      return { text: player.readout.innerText, wanted };
    });
  });
  for (const { text, wanted } of found) {
    expect(wanted.every(words => text.includes(words)), `${run.name}: "${text}" lacks one of ${wanted}`);
  }
}

const shot = page => page.evaluate(() => [...document.querySelectorAll("figure canvas")].map(canvas => canvas.toDataURL()));

async function checkMotion(page, run, expect) {
  const now = () => page.evaluate(() => document.querySelector("figure").player.now);
  await page.evaluate(() => document.querySelector("figure").player.seek(0));
  const before = await shot(page);
  await page.getByRole("button", { name: "Play" }).click();
  await page.waitForTimeout(1500);
  await page.getByRole("button", { name: "Pause" }).click();
  const [after, at] = [await shot(page), await now()];
  expect(at > 0, `${run.name}: it does not move`);
  expect(after[1] !== before[1], `${run.name}: the cursor is not drawn anew`);
  const later = [];
  for (const share of [0.999, 0.9, 0.3, 0.5]) {
    await page.evaluate(part => { const { player } = document.querySelector("figure"); player.seek(player.run.makespan * part); }, share);
    later.push((await shot(page))[0]);
  }
  expect(later.some(picture => picture !== before[0]), `${run.name}: the network always looks the same`);
  await page.locator(".time").focus();
  const [middle] = [await now()];
  await page.keyboard.press("ArrowRight");
  expect(await now() > middle, `${run.name}: the slider does not move the cursor`);
  await page.locator(".diagram").focus();
  for (const [key, moves] of [["Home", value => value === 0], ["ArrowRight", value => value > 0], ["End", value => value > middle]]) {
    await page.keyboard.press(key);
    expect(moves(await now()), `${run.name}: ${key} does not move the cursor`);
  }
  const whole = await shot(page);
  await page.keyboard.press("+");
  expect((await shot(page))[1] !== whole[1], `${run.name}: + does not zoom`);
  await page.keyboard.press("0");
}

/// Less motion, on request, is a step a second.
async function checkStillness(tools, file, run) {
  const page = await tools.opened(tools.browser, file, run.name, { reducedMotion: "reduce" });
  await page.getByRole("button", { name: "Play" }).click();
  const seen = await page.evaluate(async () => {
    const { player } = document.querySelector("figure"), times = new Set();
    for (let frame = 0; frame < 40; frame += 1) {
      await new Promise(done => setTimeout(done, 50));
      times.add(player.now);
    }
    return [...times];
  });
  tools.expect(seen.length >= 2 && seen.length <= 4, `${run.name}: with less motion the cursor was at ${seen.length} places in 2 s`);
  await page.context().close();
}

export async function checkRun(tools) {
  const { browser, parsim, folder, expect, opened, checkAccess } = tools;
  for (const run of RUNS) {
    const files = Object.fromEntries([["html", "html"], ["events", "csv"], ["path", "path.csv"], ["perfetto", "json"]].map(([key, ending]) => [key, `${folder}/run-${run.name}.${ending}`]));
    execFileSync(parsim, ["critical-path", `scenarios/${run.scenario}.ron`, ...run.arguments, "--animation", files.html, "--events", files.events,
      "--path", files.path, "--perfetto", files.perfetto], { maxBuffer: 1 << 28 });
    const page = await opened(browser, files.html, run.name);
    const kind = await page.evaluate(() => { const { run: own } = document.querySelector("figure").player; return { exact: own.isExact, loads: own.hasLoads }; });
    expect(kind.exact === run.exact && kind.loads === run.loads, `${run.name}: ${JSON.stringify(kind)}`);
    let compared = 0;
    if (run.exact) compared += await checkNumbers(page, run, files, expect);
    if (run.exact && run.loads) compared += await checkLoads(page, run, files, expect);
    await checkWords(page, run, expect);
    await checkMotion(page, run, expect);
    if (run.name === "mesh") await checkStillness(tools, files.html, run);
    for (const [width, scheme] of [[1280, "light"], [390, "dark"]]) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme: scheme });
      await page.evaluate(() => { const { player } = document.querySelector("figure"); player.seek(player.run.makespan * 0.4); });
      await page.waitForTimeout(200);
      await page.screenshot({ path: `${folder}/run-${run.name}-${width}.png`, fullPage: true });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide <= width, `${run.name}: the page is ${wide} px wide on ${width}`);
      await checkAccess(page, `${run.name}, ${scheme}`);
    }
    await page.context().close();
    console.log(`run ${run.name}: ${statSync(files.html).size} bytes, ${compared} numbers compared`);
  }
}
