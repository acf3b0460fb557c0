"use strict";

// What every table can do: be sorted by a column, show only some columns, and be saved as CSV. What is drawn later, by board.js, calls
// `tables.drawn` each time.
const tables = (() => {
  const hidden = new Map();
  const menus = new Map();
  const text = (cell) => cell.textContent.replace(/\s+/g, " ").trim();
  const heads = (table) => [...table.tHead.rows[0].cells];
  // A heading without the mark of its order; what stands below it, such as a round, tells columns of one name apart.
  const nameOf = (head) =>
    [...(head.querySelector("button")?.parentNode === head ? head.childNodes : [head])]
      .filter((part) => part.getAttribute?.("aria-hidden") !== "true")
      .map(text)
      .join(" ")
      .trim();

  // The first number of a cell, else its text; what is missing comes last either way.
  const key = (cell) => {
    const shown = cell ? text(cell) : "";
    if (!shown || ["–", "-", "n/a"].includes(shown)) return null;
    const number = shown.replaceAll(",", "").match(/^[+-]?\d+(\.\d+)?(?=$|[\s%[(:])/);
    return number ? Number(number[0]) : shown.toLowerCase();
  };
  const compared = (a, b) =>
    typeof a === typeof b ? (typeof a === "string" ? a.localeCompare(b) : a - b) : typeof a === "number" ? -1 : 1;

  const sort = (table, column) => {
    const head = heads(table)[column];
    const values = [...table.tBodies[0].rows].map((row) => [key(row.cells[column]), row]);
    // Numbers from the largest first, names from A.
    const first = values.some(([value]) => typeof value === "number") && column > 0 && nameOf(head) !== "Rank" ? "descending" : "ascending";
    const before = head.getAttribute("aria-sort");
    const order = before === first ? (first === "ascending" ? "descending" : "ascending") : first;
    const way = order === "ascending" ? 1 : -1;
    values.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : way * compared(a, b)));
    heads(table).forEach((one) => one.setAttribute("aria-sort", one === head ? order : "none"));
    heads(table).forEach((one) => one.querySelector(".order")?.remove());
    head.append(element("span", { class: "order", "aria-hidden": "true" }, order === "descending" ? " ▼" : " ▲"));
    table.tBodies[0].append(...values.map(([, row]) => row));
  };

  const makeSortable = (table) =>
    heads(table).forEach((head, column) => {
      const button = element("button", { type: "button" }, ...head.childNodes);
      button.addEventListener("click", () => sort(table, column));
      head.setAttribute("aria-sort", "none");
      head.replaceChildren(button);
    });

  const hideColumns = (table) => {
    const names = heads(table).map(nameOf);
    const chosen = hidden.get(table);
    for (const row of table.rows) {
      if (row.cells.length === names.length) [...row.cells].forEach((cell, i) => (cell.hidden = chosen.has(names[i])));
    }
  };

  const choices = (table, menu) => {
    const boxes = heads(table).map((head, column) => {
      const name = nameOf(head);
      const box = element("input", { type: "checkbox" });
      box.checked = !hidden.get(table).has(name);
      box.addEventListener("input", () => {
        hidden.get(table)[box.checked ? "delete" : "add"](name);
        hideColumns(table);
        markWide();
      });
      return column === 0 ? null : element("label", { class: "check" }, box, name);
    });
    menu.replaceChildren(...boxes.filter((box) => box !== null));
  };

  // A cell as a spreadsheet takes it for text or a number: with a sign first it is what this page writes, never a formula.
  const SIGNED = /^[+-][\d.,]+%?( \[[-+\d., ]+\])?( p [<\d. ]+)?$/;
  const cell = (content) => {
    const isFormula = /^[=@\t\r\uff1d\uff0b\uff0d\uff20]/.test(content) || (/^[+-]/.test(content) && !SIGNED.test(content));
    return `"${(isFormula ? `'${content}` : content).replaceAll('"', '""')}"`;
  };
  // What a cell shows, apart: its value, the bounds of an interval or a second number, and what stands below it in small print.
  const partsOf = (shown) => {
    const all = (selector) => [...shown.querySelectorAll(selector)].map(text).filter(Boolean);
    const intervals = all(".interval");
    if (intervals.length > 1) return { value: text(shown) };
    const copy = shown.cloneNode(true);
    copy.querySelectorAll(".interval, .detail, .tag").forEach((part) => part.remove());
    const bounds = intervals[0]?.match(/^\[(.+), (.+)\]$/);
    const number = (part) => (/^\d{1,3}(,\d{3})+$/.test(part) ? part.replaceAll(",", "") : part);
    return {
      value: number(text(copy)),
      low: bounds?.[1],
      high: bounds?.[2],
      second: bounds || !intervals.length ? undefined : number(intervals[0].replace(/^(to|\+) /, "")),
      note: all(".tag, .detail").join("; ") || undefined,
    };
  };
  const csv = (table) => {
    const [head, ...rows] = [...table.rows].filter((row) => !row.hidden).map((row) => [...row.cells].filter((one) => !one.hidden));
    const body = rows.map((row) => row.map(partsOf));
    // A part has a column if any cell of that column has it.
    const columns = head.flatMap((one, i) =>
      ["value", "low", "high", "second", "note"]
        .filter((part) => part === "value" || body.some((row) => row[i]?.[part] !== undefined))
        .map((part) => ({ name: part === "value" ? nameOf(one) : `${nameOf(one)} ${part}`, i, part })),
    );
    const lines = body.map((row) => columns.map(({ i, part }) => cell(row[i]?.[part] ?? "")));
    return [columns.map(({ name }) => cell(name)), ...lines].map((line) => line.join(",")).join("\n");
  };

  const save = (table) => {
    const file = new Blob([`${csv(table)}\n`], { type: "text/csv" });
    const link = element("a", { href: URL.createObjectURL(file), download: `${table.dataset.name.replace(/[^\w.-]+/g, "-")}.csv` });
    link.click();
    URL.revokeObjectURL(link.href);
  };

  const addTools = (table) => {
    hidden.set(table, new Set((table.dataset.hidden ?? "").split(",").filter(Boolean)));
    hideColumns(table);
    const button = element("button", { type: "button" }, "CSV");
    button.addEventListener("click", () => save(table));
    const menu = element("div");
    const details = element("details", {}, element("summary", {}, "Columns"), menu);
    menus.set(table, () => choices(table, menu));
    details.addEventListener("toggle", menus.get(table));
    (table.closest(".wide") ?? table).before(element("div", { class: "tools" }, details, button));
  };

  const drawn = (table) => {
    hideColumns(table);
    menus.get(table)?.();
  };

  document.querySelectorAll("table[data-name]").forEach((table) => {
    if (table.classList.contains("sortable")) makeSortable(table);
    addTools(table);
  });
  return { drawn, csv };
})();
