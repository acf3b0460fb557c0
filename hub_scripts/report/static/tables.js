"use strict";

// Data comes as scripts that call `academiceval(name, data)`: a page opened from disk may load a script but not fetch a file.
const handed = {};
const academiceval = (name, data) => {
  handed[name] = data;
};

document.addEventListener("DOMContentLoaded", () => {
  // Sorting, with the order of the page first; no paging, so that a search of the browser finds every row.
  const order = (data, type) => {
    if (type !== "sort" && type !== "type") return data;
    const shown = String(data).replace(/<[^>]*>|&[lg]t;/g, "").trim();
    const number = /^[-+]?[\d,]*\.?\d+(?=$|[\s%[(])/.exec(shown);
    return number ? Number(number[0].replaceAll(",", "")) : shown === "–" ? "" : shown;
  };
  const options = { columnDefs: [{ targets: "_all", render: order }], paging: false, info: false, searching: true, order: [], autoWidth: false };
  const layout = { topStart: null, topEnd: null, bottomStart: null, bottomEnd: null };
  const tables = new Map();
  document.querySelectorAll("table.sortable").forEach((table) => tables.set(table.id, new DataTable(table, { ...options, layout })));

  const board = tables.get("scores");
  const form = document.getElementById("filters");
  if (!board || !form) return;
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());

  const choose = (select) => {
    const value = DataTable.util.escapeRegex(select.value);
    board.column(`.${select.dataset.column}`).search(value ? `^${value}$` : "", { regex: true, smart: false });
  };
  const selects = [...form.querySelectorAll("select[data-column]")];
  selects.forEach((select) => {
    choose(select);
    select.addEventListener("input", () => {
      choose(select);
      board.draw();
    });
  });
  const search = document.getElementById("search");
  search.addEventListener("input", () => board.search(search.value).draw());

  // Scores over two parts, older and newer papers or shorter and longer prompts, which were computed when the page was made.
  const split = document.getElementById("split");
  const show = () => {
    const { rows } = handed.splits;
    const step = Number(split.value) - 1;
    board.rows().every(function update(index) {
      const texts = step < 0 ? ["", ""] : rows[Number(this.node().dataset.row)][step];
      [".first", ".rest"].forEach((column, i) => board.cell(index, column).data(texts[i]));
    });
    board.columns([".first", ".rest"]).visible(step >= 0);
    board.columns(".whole").visible(step < 0);
    board.draw();
  };
  split?.addEventListener("input", show);
  board.columns([".first", ".rest"]).visible(false);
  board.draw();
});
