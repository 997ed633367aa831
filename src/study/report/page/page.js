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

for (const link of document.querySelectorAll("a[data-picture]")) {
  link.hidden = false;
  link.addEventListener("click", event => {
    event.preventDefault();
    const svg = new XMLSerializer().serializeToString(link.closest("figure").querySelector("svg"));
    const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    const save = Object.assign(document.createElement("a"), { href: address, download: link.download });
    save.click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  });
}
