// The script of a page: its charts, its tables, and the data that can be saved.
const data = JSON.parse(document.getElementById("data").textContent);

for (const figure of document.querySelectorAll("figure[data-chart]")) liveCharts(figure, data.charts[figure.dataset.chart]);
for (const figure of document.querySelectorAll("figure[data-run]")) liveRun(figure, data.runs[figure.dataset.run]);

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.addEventListener("click", () => {
    const rising = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const value = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const compare = (a, b) => a - b || String(a).localeCompare(String(b));
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((a, b) => compare(value(a), value(b)) * (rising ? 1 : -1));
    body.append(...rows);
  }));
}

const KINDS = { svg: "image/svg+xml", csv: "text/csv", jsonl: "application/jsonl", ron: "text/plain" };
for (const button of document.querySelectorAll("button.download")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const name = button.dataset.file;
    const text = "picture" in button.dataset
      ? new XMLSerializer().serializeToString(button.closest("figure").querySelector(".picture svg")) : data.files[name];
    const address = URL.createObjectURL(new Blob([text], { type: `${KINDS[name.split(".").pop()]};charset=utf-8` }));
    element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  });
}
for (const line of document.querySelectorAll(".downloads")) line.hidden = false;
