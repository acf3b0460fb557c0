"use strict";

let settings;
let latest = 0;

const text = (content, label) => element("pre", { class: "text", tabindex: "0", "aria-label": label }, content);

const paperLink = (sample) => {
  const id = sample.paper_id ?? sample.id;
  return sample.url ? element("a", { href: sample.url, rel: "noreferrer" }, id) : element("span", {}, id);
};

const definition = (name, value) => element("div", {}, element("dt", {}, name), element("dd", {}, value));

// Both orders of a judge: who won with the generated text first, and with it second.
const verdictTable = (judge, orders) => {
  const caption = element("caption", {}, `Judge: ${judge}`);
  const names = orders === "empty" ? [] : Object.keys(orders[0] ?? orders[1] ?? {});
  if (!names.length) {
    const reason = orders === "empty" ? "no text to judge: lost" : "could not be read";
    return element("table", {}, caption, element("tbody", {}, element("tr", {}, element("td", {}, reason))));
  }
  const winner = (order, name, place) => (order && name in order ? (order[name] === 0 ? "tie" : order[name] === place ? "model" : "reference") : "unread");
  const rows = names.map((name) => {
    const cells = [winner(orders[0], name, 1), winner(orders[1], name, 2)].map((one) => element("td", {}, one));
    return element("tr", {}, element("th", { scope: "row" }, name), ...cells);
  });
  const head = ["Dimension", "Model first", "Reference first"].map((one) => element("th", { scope: "col" }, one));
  return element("table", {}, caption, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
};

const verdictDetails = (verdicts) => {
  const tables = Object.entries(verdicts).map(([judge, orders]) => verdictTable(judge, orders));
  return tables.length ? element("details", {}, element("summary", {}, "Verdicts: who won in each order"), ...tables) : null;
};

// The words of the longest common subsequence, which ROUGE-L counts; texts too long for a table of all pairs are not marked.
const MOST_PAIRS = 4e6;
const words = (content) => content.match(/[\p{L}\p{N}]+|[^\p{L}\p{N}]+/gu) ?? [];
const isWord = (part) => /^[\p{L}\p{N}]/u.test(part);

const sharedWith = (parts, others) => {
  const [own, theirs] = [parts, others].map((all) => all.flatMap((part, i) => (isWord(part) ? [[part.toLowerCase(), i]] : [])));
  if (own.length * theirs.length > MOST_PAIRS) return new Set();
  const width = theirs.length + 1;
  const lengths = new Uint16Array((own.length + 1) * width);
  for (let i = own.length - 1; i >= 0; i -= 1) {
    for (let j = theirs.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        own[i][0] === theirs[j][0]
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const found = new Set();
  for (let [i, j] = [0, 0]; i < own.length && j < theirs.length; ) {
    if (own[i][0] === theirs[j][0]) {
      found.add(own[i][1]);
      [i, j] = [i + 1, j + 1];
    } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) i += 1;
    else j += 1;
  }
  return found;
};

// A text with the words marked that it shares with another, in order.
const marked = (content, other, label) => {
  const shown = text("", label);
  if (other === null || other === undefined) {
    shown.append(content);
    return shown;
  }
  const parts = words(content);
  const shared = sharedWith(parts, words(other));
  parts.forEach((part, i) => shown.append(shared.has(i) ? element("mark", {}, part) : part));
  return shown;
};

const answerCard = (target) => (answer) => {
  const scores = Object.entries(answer.scores).map(([name, value]) => definition(name.replaceAll("_", " "), String(value)));
  return element(
    "section",
    { class: "card" },
    element("h3", {}, answer.model),
    answer.answer === null
      ? element("p", {}, "Not shown: it repeats texts whose licence does not allow it.")
      : answer.answer
        ? marked(answer.answer, target, `Answer of ${answer.model}`)
        : text("(no text)", `Answer of ${answer.model}`),
    element("details", {}, element("summary", {}, "Scores"), element("dl", {}, ...scores)),
    verdictDetails(answer.verdicts),
  );
};

const slotName = (slot) => {
  const of = { body: "the paper", fixed: "the paper", around: "the paper around the mask" }[slot.part];
  return `${slot.field} of ${of ?? `${slot.part.replaceAll("_", " ")} ${slot.index + 1}`}`;
};

// A text that another prompt of the sample does not show, or shows cut elsewhere, is tagged; where it stands in the prompt does not matter.
const shownText = (slot) => JSON.stringify([slot.part, slot.index, slot.field, slot.end - slot.start, slot.head, slot.tail]);
const differs = (slot, prompts) =>
  prompts.some((prompt) => !prompt.slots.some((one) => shownText(one) === shownText(slot)));

const slotDetails = (prompts) => (slot) => {
  const kept = slot.end - slot.start;
  const lengths = kept === slot.characters ? `${kept} characters` : `${kept} of ${slot.characters} characters`;
  const summary = element("summary", {}, slotName(slot), " ", element("span", { class: "interval" }, lengths));
  if (differs(slot, prompts)) summary.append(" ", element("span", { class: "tag" }, "differs"));
  if (slot.head === undefined) return element("details", {}, summary, element("p", {}, "The licence does not allow this text to be shown."));
  const between = kept - slot.head.length - slot.tail.length;
  const parts = [text(slot.head, `${slotName(slot)}, beginning`)];
  if (between > 0) parts.push(element("p", { class: "detail" }, `${between} characters are not shown`));
  if (slot.tail) parts.push(text(slot.tail, `${slotName(slot)}, end`));
  return element("details", {}, summary, ...parts);
};

const promptSection = (prompt, index, sample) => {
  const models = sample.answers.filter((answer) => answer.prompt === index).map((answer) => answer.model);
  const cut = Object.entries(prompt.cut).map(([part, tokens]) => `${part.replaceAll("_", " ")} ${tokens}`);
  const counted = prompt.tokens_before ? `${prompt.tokens_after} of ${prompt.tokens_before} tokens` : "not counted: no tokenizer was known";
  return element(
    "section",
    { class: "card" },
    element("h3", {}, `Prompt of ${models.join(", ")}`),
    element("dl", {}, definition("Length", counted), definition("Tokens cut", cut.join(", ") || "none")),
    ...prompt.slots.map(slotDetails(sample.prompts)),
  );
};

const render = (sample) => {
  const facts = [
    definition("Paper", paperLink(sample)),
    definition("Published", sample.published),
    definition("Licence", sample.license),
    definition("Prompt", sample.prompt_name),
  ];
  const withheld = "The licence does not allow this text to be shown.";
  const target = sample.target === null ? element("p", {}, withheld) : text(sample.target, "Target");
  byId("shown").replaceChildren(
    element("h2", {}, sample.title || sample.id),
    element("dl", {}, ...facts),
    element("h3", {}, "Target"),
    target,
    element("h2", {}, "Answers"),
    element("p", { class: "detail" }, sample.target === null ? "" : "Marked: the words that ROUGE-L also finds in the target, in the same order."),
    element("div", { class: "cards" }, ...sample.answers.map(answerCard(sample.target))),
    element("h2", {}, "Prompts"),
    element("div", { class: "cards" }, ...sample.prompts.map((prompt, index) => promptSection(prompt, index, sample))),
  );
};

const showSample = async () => {
  const turn = ++latest;
  const slug = byId("setting").value;
  const index = Number(byId("sample").value);
  writeHash({ setting: slug, sample: index });
  byId("previous").disabled = index <= 0;
  byId("next").disabled = index >= byId("sample").options.length - 1;
  try {
    const sample = await academiceval.load(`sample:${slug}/${index}`, `data/samples/${slug}/${index}.js`);
    if (turn !== latest) return;
    render(sample);
    byId("status").textContent = `Sample ${index + 1} of ${byId("sample").options.length}.`;
  } catch (error) {
    byId("status").textContent = error.message;
  }
};

const showSetting = async (wanted) => {
  const slug = byId("setting").value;
  try {
    const scores = await academiceval.load(`scores:${slug}`, `data/scores/${slug}.js`);
    if (slug !== byId("setting").value) return;
    const options = scores.ids.map((id, i) => [String(i), `${id} ${scores.titles[i]}`]);
    fillSelect(byId("sample"), options, wanted);
    await showSample();
  } catch (error) {
    byId("status").textContent = error.message;
  }
};

const step = (by) => {
  byId("sample").value = String(Number(byId("sample").value) + by);
  showSample();
};

const start = () => {
  const hash = readHash();
  fillSelect(byId("setting"), settings.map((one) => [one.slug, `${one.name}, round ${one.round}`]), hash.get("setting"));
  showSetting(hash.get("sample") ?? "0");
};

academiceval.when("board").then((board) => {
  settings = board.settings;
  if (!settings.length) {
    byId("status").textContent = "There are no samples yet.";
    return;
  }
  byId("choose").addEventListener("submit", (event) => event.preventDefault());
  byId("setting").addEventListener("input", () => showSetting("0"));
  byId("sample").addEventListener("input", showSample);
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  addEventListener("hashchange", start);
  start();
});
