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
    const shown = String(data).replace(/<[^>]*>/g, "").trim();
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
  const selects = [...form.querySelectorAll("select")];
  selects.forEach((select) => {
    choose(select);
    select.addEventListener("input", () => {
      choose(select);
      board.draw();
    });
  });
  const search = document.getElementById("search");
  search.addEventListener("input", () => board.search(search.value).draw());

  // The slider: scores over the papers before a month and from it on, which were computed when the page was made.
  const slider = document.getElementById("month");
  const show = () => {
    const { months, rows } = handed.months;
    const step = Number(slider.value) - 1;
    document.getElementById("month-shown").textContent = step < 0 ? "all papers together" : `before and from ${months[step]} on`;
    board.rows().every(function update(index) {
      const texts = step < 0 ? ["", ""] : rows[Number(this.node().dataset.row)][step];
      [".before", ".since"].forEach((column, i) => board.cell(index, column).data(texts[i]));
    });
    board.columns([".before", ".since"]).visible(step >= 0);
    board.columns(".whole").visible(step < 0);
    board.draw();
  };
  slider?.addEventListener("input", show);
  board.columns([".before", ".since"]).visible(false);
  board.draw();
});
