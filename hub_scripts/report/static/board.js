"use strict";

const Z95 = 1.959964;
const ALL = "all";
// A century: no data makes the window of months longer.
const MOST_MONTHS = 1200;
let board;
let months = [];
let sortBy = { column: 0, descending: true };
let latest = 0;

// The chosen settings: ours, then those that only the papers have scores for, which belong to no round.
const shownSettings = () => {
  const limit = Number(byId("context").value) || Infinity;
  const [round, task] = [byId("round").value, byId("task").value];
  const chosen = (one) => (task === ALL || one.task === task) && (one.context === null || one.context <= limit);
  const own = board.settings
    .map((setting, index) => ({ ...setting, index }))
    .filter((one) => (round === ALL || one.round === round) && chosen(one));
  const others = byId("published").checked ? board.published_settings.filter(chosen) : [];
  return [...own, ...others.filter((one) => !own.some((mine) => mine.name === one.name))];
};

// Other scales that scores may be shown on, where a cell has them: label, and how the caption puts it.
const SCALES = {
  linked: ["the first round's", "on the first round's scale"],
  placed: ["0 = floor, 1 = ceiling or perfect", "between floor (0) and ceiling (1, or a perfect score where no ceiling is known)"],
};
// The scale that scores are shown on; a span of months is rescored on its own.
const chosenScale = () => (isWholeWindow() ? byId("scale").value : "");

const isOurs = (setting) => setting.index !== undefined;

const chosenMonths = () => [months[byId("from").value], months[byId("to").value]];
const isWholeWindow = () => Number(byId("from").value) === 0 && Number(byId("to").value) === months.length - 1;

// Mean and interval as `lm_eval_tasks/core/intervals.py` has them: first authors are left out one at a time, for their papers come and
// go together; of fewer than ten no interval.
const FEWEST = 10;
// The quantile of Student's t (Cornish and Fisher; Abramowitz and Stegun 26.7.5), to three decimals from nine degrees on.
const t95 = (freedom) => {
  const z = Z95;
  const terms = [
    z,
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
  ];
  return terms.reduce((sum, term, power) => sum + term / freedom ** power, 0);
};

const clustered = (values, clusters) => {
  if (!values.length) return null;
  const total = values.reduce((sum, value) => sum + value, 0);
  const [n, mean] = [values.length, total / values.length];
  const groups = new Map();
  values.forEach((value, i) => {
    const [sum, count] = groups.get(clusters[i]) ?? [0, 0];
    groups.set(clusters[i], [sum + value, count + 1]);
  });
  if (groups.size < FEWEST) return [mean];
  const own = [...groups.values()];
  const squares = own.reduce((sum, [part, count]) => sum + ((total - part) / (n - count) - mean) ** 2, 0);
  const error = Math.sqrt(((groups.size - 1) / groups.size) * squares);
  const freedom = (n * n) / own.reduce((sum, [, count]) => sum + count * count, 0) - 1;
  if (!error) {
    const share = 1 - 0.025 ** (1 / (freedom + 1));
    return [mean, mean * (1 - share), mean + share * (1 - mean)];
  }
  const t = t95(freedom);
  const within = (low, high) => [mean, Math.max(0, low), Math.min(1, high)];
  if (!values.every((value) => value === 0 || value === 1)) return within(mean - t * error, mean + t * error);
  // Wilson's interval.
  const spread = mean * (1 - mean);
  const independent = Math.min(n, spread / error ** 2);
  const middle = mean + (t * t) / (2 * independent);
  const reach = t * Math.sqrt(spread / independent + (t / (2 * independent)) ** 2);
  const scale = 1 + (t * t) / independent;
  return within((middle - reach) / scale, (middle + reach) / scale);
};

const inWindow = (scores, values, [from, to]) => {
  const kept = [];
  const clusters = [];
  scores.published.forEach((day, i) => {
    const month = day.slice(0, 7);
    if (month >= from && month <= to && values?.[i] !== null && values?.[i] !== undefined) {
      kept.push(values[i] / 10000);
      clusters.push(scores.clusters[i]);
    }
  });
  return [kept, clusters];
};

const rescored = (scores, model, window, of) => {
  const own = scores.models[model];
  if (!own) return null;
  const figures = { x: {}, n: 0, of: of ?? null, cut: null, empty: null, capped: null };
  for (const metric of Object.keys(board.metrics)) {
    const [values, clusters] = inWindow(scores, own[metric], window);
    if (values.length) figures.x[metric] = clustered(values, clusters);
    figures.n = Math.max(figures.n, values.length);
  }
  const share = (name) => clustered(...inWindow(scores, own[name], window))?.[0] ?? null;
  figures.cut = share("truncated");
  figures.empty = share("empty") ?? share("no_answer");
  figures.capped = share("capped");
  return figures;
};

const cellsOf = async (settings) => {
  const found = new Map();
  if (isWholeWindow()) {
    const scale = chosenScale();
    const shown = (cell) => (cell[scale] ? { ...cell, x: { ...cell.x, ...cell[scale] }, scale } : cell);
    board.cells.forEach((cell) => found.set(`${cell.m} ${cell.s}`, shown(cell)));
    return found;
  }
  const window = chosenMonths();
  for (const setting of settings.filter(isOurs)) {
    const scores = await academiceval.load(`scores:${setting.slug}`, `data/scores/${setting.slug}.js`);
    board.models.forEach((model, m) => {
      const figures = rescored(scores, model.name, window, setting.of);
      if (figures) found.set(`${m} ${setting.index}`, figures);
    });
  }
  return found;
};

const ownRows = (settings, cells) =>
  board.models.map((model, m) => ({
    ...model,
    cells: settings.map((setting) => cells.get(`${m} ${setting.index}`) ?? null),
  }));

const publishedRows = (settings, metric) => {
  const rows = new Map();
  for (const one of board.published) {
    if (one.x !== metric) continue;
    settings.forEach((setting, column) => {
      if (setting.name !== one.s) return;
      if (!rows.has(one.m)) rows.set(one.m, { name: one.m, note: one.note, sources: new Set(), cells: settings.map(() => null) });
      rows.get(one.m).sources.add(one.source);
      rows.get(one.m).cells[column] = { x: { [metric]: [one.v] }, n: null, of: null, cut: null, empty: null, capped: null };
    });
  }
  return [...rows.values()].map((row) => ({ ...row, source: [...row.sources].join("; ") }));
};

const sorted = (rows, metric) => {
  const { column, descending } = sortBy;
  const direction = descending ? -1 : 1;
  if (column < 0) return rows.sort((a, b) => -direction * a.name.localeCompare(b.name));
  const value = (row) => row.cells[column]?.x[metric]?.[0];
  return rows.sort((a, b) => {
    if (value(a) === undefined || value(b) === undefined) {
      return (value(a) === undefined) - (value(b) === undefined) || a.name.localeCompare(b.name);
    }
    return direction * (value(a) - value(b)) || a.name.localeCompare(b.name);
  });
};

const header = (label, column, detail) => {
  const chosen = sortBy.column === column;
  const button = element("button", { type: "button" }, label);
  button.addEventListener("click", () => {
    sortBy = { column, descending: chosen ? !sortBy.descending : true };
    show();
  });
  const order = chosen ? (sortBy.descending === column >= 0 ? "descending" : "ascending") : "none";
  const mark = chosen ? element("span", { "aria-hidden": "true" }, order === "descending" ? " ▼" : " ▲") : null;
  return element("th", { scope: "col", "aria-sort": order }, button, mark, detail ? element("span", { class: "detail" }, detail) : null);
};

// A larger share of answers at their cap says more about the cap than about the model.
const MOST_CAPPED = 0.05;

const cellOf = (cell, metric, setting, row) => {
  const own = cell?.x[metric];
  if (!own) return element("td", {}, "–");
  const value = element("strong", {}, score(own[0]));
  if (row.source) return element("td", {}, value);
  const link = element("a", { href: `samples.html#${new URLSearchParams({ setting: setting.slug })}` }, value);
  const details = [
    metric !== "win_rate" && cell.x.win_rate ? `win\u00a0${percent(cell.x.win_rate[0])}` : null,
    cell.cut === null ? null : `cut\u00a0${percent(cell.cut)}`,
    cell.empty === null ? null : `empty\u00a0${percent(cell.empty)}`,
    cell.capped === null ? null : `capped\u00a0${percent(cell.capped)}`,
    cell.of === null ? `n\u00a0${cell.n}` : `n\u00a0${cell.n}\u00a0of\u00a0${cell.of}`,
  ];
  const badges = [
    cell.scale === "linked" && cell.linked[metric] ? element("span", { class: "tag" }, "linked") : null,
    cell.of !== null && cell.n < cell.of ? element("span", { class: "tag", title: "Only part of the setting's samples was scored." }, "subset") : null,
    cell.capped > MOST_CAPPED ? element("span", { class: "tag", title: "Many answers were cut off at the longest length that the task allows." }, "cut off") : null,
  ];
  return element(
    "td",
    {},
    link,
    own.length > 1 ? element("span", { class: "interval" }, ` [${score(own[1])}, ${score(own[2])}]`) : null,
    ...badges.filter((badge) => badge !== null).flatMap((badge) => [" ", badge]),
    element("span", { class: "detail" }, details.filter((part) => part !== null).join(" · ")),
  );
};

const rowOf = (row, metric, settings) => {
  const name = element("th", { scope: "row" }, row.name);
  const about = [row.organisation, row.parameters, row.licence, row.released, row.cutoff ? `cut-off ${row.cutoff}` : ""].filter(Boolean);
  if (row.source) name.append(element("span", { class: "detail" }, [row.source, row.note].filter(Boolean).join(". ")));
  if (row.baseline) name.append(" ", element("span", { class: "tag" }, "baseline"));
  if (about.length) name.append(element("span", { class: "detail" }, about.join(" · ")));
  const cells = row.cells.map((cell, column) => cellOf(cell, metric, settings[column], row));
  return element("tr", row.source ? { class: "published" } : row.baseline ? { class: "reference" } : {}, name, ...cells);
};

// What a wrong paper's text would score, the mean over models: they answered the same samples.
const ceilingRow = (settings, metric) => {
  const ceilings = settings.map((setting) => setting.ceilings?.[metric] ?? null);
  if (ceilings.every((one) => one === null)) return [];
  const shown = ceilings.map((one) => element("td", {}, one === null ? "–" : element("strong", {}, score(one))));
  const name = element("th", { scope: "row" }, "ceiling ", element("span", { class: "tag" }, "authors' first version"));
  return [element("tr", { class: "reference" }, name, ...shown)];
};

const floorRow = (settings, cells, metric) => {
  const floors = settings.map((setting) => {
    const shown = board.models.map((_, m) => cells.get(`${m} ${setting.index}`));
    const known = shown.filter((cell) => cell?.floors?.[metric] !== undefined);
    // A run over a part of the samples has another floor.
    const most = Math.max(...known.map((cell) => cell.n));
    const own = known.filter((cell) => cell.n === most).map((cell) => cell.floors[metric]);
    return own.length ? own.reduce((sum, one) => sum + one, 0) / own.length : null;
  });
  if (floors.every((one) => one === null)) return [];
  const shown = floors.map((one) => element("td", {}, one === null ? "–" : element("strong", {}, score(one))));
  const name = element("th", { scope: "row" }, "floor ", element("span", { class: "tag" }, metric === "accuracy" ? "guessing" : "wrong paper"));
  return [element("tr", { class: "reference" }, name, ...shown)];
};

const blockHead = (text, columns) => element("tr", { class: "block" }, element("th", { colspan: columns, scope: "rowgroup" }, text));

const show = async () => {
  const turn = ++latest;
  const settings = shownSettings();
  const metric = byId("metric").value;
  let cells;
  try {
    cells = await cellsOf(settings);
  } catch (error) {
    byId("status").textContent = error.message;
    return;
  }
  if (turn !== latest) return;
  if (sortBy.column >= settings.length) sortBy = { column: 0, descending: true };
  const shown = (rows) =>
    sorted(
      rows.filter((row) => row.cells.some((cell) => cell?.x[metric])).filter(isWanted),
      metric,
    ).map((row) => rowOf(row, metric, settings));
  const rows = shown(ownRows(settings, cells));
  const published = byId("published").checked && !chosenScale() ? shown(publishedRows(settings, metric)) : [];
  const block = published.length ? [blockHead("Published scores: other papers, no intervals", settings.length + 1), ...published] : [];
  const several = new Set(settings.filter(isOurs).map((one) => one.round)).size > 1;
  const detail = (one) => (isOurs(one) ? (several ? one.round : null) : "published only");
  const heads = settings.map((one, column) => header(one.name, column, detail(one)));
  const table = byId("board");
  table.tHead.replaceChildren(element("tr", {}, header("Model", -1, null), ...heads));
  // Floors and ceilings are on the scale of the scores themselves, and of all papers.
  const references = chosenScale() || !isWholeWindow() ? [] : [...ceilingRow(settings, metric), ...floorRow(settings, cells, metric)];
  table.tBodies[0].replaceChildren(...rows, ...references, ...block);
  const scale = chosenScale() ? `, ${SCALES[chosenScale()][1]}` : "";
  table.caption.textContent = `${board.metrics[metric] ?? "No score"}${scale}, with 95% interval`;
  const [from, to] = chosenMonths();
  byId("from-shown").textContent = from;
  byId("to-shown").textContent = to;
  byId("scale").disabled = !isWholeWindow();
  const span = isWholeWindow() ? "all papers" : `papers published from ${from} to ${to}, recomputed`;
  const none = "No setting has such a length: choose another task or a longer context.";
  byId("status").textContent = settings.length ? `Models: ${rows.length}. Settings: ${settings.length}. Shown: ${span}.` : none;
  tables.drawn(table);
  markWide();
  remember();
};

const remembered = ["task", "metric", "round", "context", "model", "size", "licence", "released", "scale", "from", "to"];
const remember = () => {
  const values = Object.fromEntries(remembered.map((id) => [id, byId(id).value]));
  writeHash({ ...values, published: byId("published").checked, baselines: byId("baselines").checked });
};

// A task is offered if it has scores: ours, or published ones while those are shown.
const offerTasks = () => {
  const shown = [...board.settings, ...(byId("published").checked || !board.settings.length ? board.published_settings : [])];
  const tasks = Object.entries(board.tasks).filter(([task]) => shown.some((one) => one.task === task));
  fillSelect(byId("task"), [...tasks, [ALL, "all"]], byId("task").value);
};

// A metric is offered where any shown setting has it; one that the user chose comes back when it is there again.
let wantedMetric = "";
const offerMetrics = () => {
  const settings = shownSettings();
  const [indices, names] = [new Set(settings.map((one) => one.index)), new Set(settings.map((one) => one.name))];
  const present = Object.keys(board.metrics).filter(
    (metric) =>
      board.cells.some((cell) => indices.has(cell.s) && cell.x[metric]) ||
      (byId("published").checked && board.published.some((one) => names.has(one.s) && one.x === metric)),
  );
  const chosen = present.includes(wantedMetric) ? wantedMetric : (present[0] ?? "");
  fillSelect(byId("metric"), present.map((name) => [name, board.metrics[name]]), chosen);
};

const allMonths = (first, last) => {
  const found = [];
  let [year, month] = first.split("-").map(Number);
  while (found.length < MOST_MONTHS && (found.at(-1) ?? "") < last) {
    found.push(`${year}-${String(month).padStart(2, "0")}`);
    [year, month] = month < 12 ? [year, month + 1] : [year + 1, 1];
  }
  return found;
};

const prepare = () => {
  const rounds = [...new Set(board.settings.map((one) => one.round))].sort().reverse();
  const everything = board.settings.length ? board.settings : board.published_settings;
  const contexts = [...new Set(everything.map((one) => one.context).filter((one) => one !== null))].sort((a, b) => a - b);
  const hash = readHash();
  const tasks = Object.entries(board.tasks);
  const ours = tasks.find(([task]) => board.settings.some((one) => one.round === rounds[0] && one.task === task));
  fillSelect(byId("round"), [...rounds.map((one) => [one, one]), [ALL, "all"]], hash.get("round") ?? rounds[0]);
  fillSelect(byId("task"), [...tasks, [ALL, "all"]], hash.get("task") ?? (ours ?? tasks[0])[0]);
  fillSelect(byId("context"), [["", "any"], ...contexts.map((one) => [String(one), `${one}K`])], hash.get("context") ?? "");
  wantedMetric = hash.get("metric") ?? "";
  prepareModels(board.models, hash);
  byId("published").checked = hash.get("published") === "true";
  const scales = Object.entries(SCALES).filter(([name]) => board.cells.some((cell) => cell[name]));
  byId("scaling").hidden = !scales.length;
  fillSelect(byId("scale"), [["", "as scored"], ...scales.map(([name, [label]]) => [name, label])], hash.get("scale") ?? "");
  const days = board.settings.flatMap((one) => [one.first, one.last]).sort();
  byId("window").hidden = !days.length;
  months = days.length ? allMonths(days[0].slice(0, 7), days.at(-1).slice(0, 7)) : [""];
  for (const [id, usual] of [["from", 0], ["to", months.length - 1]]) {
    byId(id).max = months.length - 1;
    byId(id).value = hash.get(id) ?? usual;
  }
};

const listen = () => {
  byId("models").addEventListener("submit", (event) => event.preventDefault());
  byId("models").addEventListener("input", () => {
    filterBoards(board.models);
    show();
  });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("input", (event) => {
    const [from, to] = [byId("from"), byId("to")];
    if (Number(from.value) > Number(to.value)) (event.target === from ? to : from).value = event.target.value;
    if (event.target.id === "published") offerTasks();
    if (event.target.id === "metric") wantedMetric = event.target.value;
    if (["task", "round", "context", "published"].includes(event.target.id)) offerMetrics();
    show();
  });
};

academiceval.when("board").then((data) => {
  board = data;
  prepare();
  offerTasks();
  offerMetrics();
  listen();
  byId("filters").hidden = false;
  filterBoards(board.models);
  show();
});
