"use strict";

// An element; strings among its children become text, never markup.
const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};
const byId = (id) => document.getElementById(id);
const WITHHELD = "The licence does not allow this text to be shown.";
const LEFT_OUT = "The results were published without texts.";
const text = (content, label) => element("pre", { class: "text", tabindex: "0", "aria-label": label }, content);
const definition = (name, value) => element("div", {}, element("dt", {}, name), element("dd", {}, value));
const words = (name) => handed.labels?.[name] ?? name.replaceAll("_", " ");

// Where a text is missing, no judge is asked.
const SETTLED = { empty: "no text to judge: lost", unopposed: "no reference: won", "no texts": "neither text is there: a tie" };

// Both orders of a judge: who won with the generated text first, and with it second.
const verdictTable = ([judge, orders]) => {
  const settled = SETTLED[orders];
  const names = settled ? [] : Object.keys(orders[0] ?? orders[1] ?? {});
  const winner = (order, name, place) =>
    order && name in order ? (order[name] === 0 ? "tie" : order[name] === place ? "model" : "reference") : "unread";
  const rows = names.map((name) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, name),
      ...[0, 1].map((order) => element("td", {}, winner(orders[order], name, order + 1))),
    ),
  );
  const reason = settled ?? "could not be read";
  const head = ["Dimension", "Model first", "Reference first"].map((name) => element("th", { scope: "col" }, name));
  return element(
    "table",
    {},
    element("caption", {}, `Judge: ${judge}${names.length ? "" : `, ${reason}`}`),
    ...(names.length ? [element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)] : []),
  );
};

const length = (prompt) =>
  prompt.tokens_before ? `${prompt.tokens_after} of ${prompt.tokens_before} prompt tokens` : "tokens not counted: no tokenizer was known";

const answerCard = (sample) => (answer) => {
  const shown = answer.answer === null ? element("p", {}, WITHHELD) : text(answer.answer || (sample.target === "" ? LEFT_OUT : "(no text)"), `Answer of ${answer.model}`);
  const scores = Object.entries(answer.scores).map(([name, value]) => definition(words(name), String(value)));
  const verdicts = Object.entries(answer.verdicts).map(verdictTable);
  const first = Object.entries(answer.scores).slice(0, 1).map(([name, value]) => `${words(name)} ${value}`);
  return element(
    "section",
    { class: "card" },
    element("h3", {}, answer.model),
    element("p", { class: "detail" }, [...first, length(sample.prompts[answer.prompt])].join("; ")),
    shown,
    element("details", {}, element("summary", {}, "Scores"), element("dl", {}, ...scores)),
    verdicts.length ? element("details", {}, element("summary", {}, "Verdicts: who won in each order"), ...verdicts) : null,
  );
};

const slotDetails = (slot) => {
  const of = { body: "the paper", fixed: "the paper", around: "the paper around the mask" }[slot.component];
  const name = `${slot.field} of ${of ?? `${words(slot.component)} ${slot.index + 1}`}`;
  const kept = slot.end - slot.start;
  const lengths = kept === slot.characters ? `${kept} characters` : `${kept} of ${slot.characters} characters`;
  const summary = element("summary", {}, name, " ", element("span", { class: "interval" }, lengths));
  if (slot.head === undefined) return element("details", {}, summary, element("p", {}, WITHHELD));
  const between = kept - [...slot.head].length - [...slot.tail].length;
  return element(
    "details",
    {},
    summary,
    text(slot.head, `${name}, beginning`),
    between > 0 ? element("p", { class: "detail" }, `${between} characters are not shown`) : null,
    slot.tail ? text(slot.tail, `${name}, end`) : null,
  );
};

const promptCard = (sample) => (prompt, index) => {
  const models = sample.answers.filter((answer) => answer.prompt === index).map((answer) => answer.model);
  const cut = Object.entries(prompt.cut).map(([component, tokens]) => `${words(component)} ${tokens}`);
  return element(
    "section",
    { class: "card" },
    element("h3", {}, `Prompt of ${models.join(", ")}`),
    element("dl", {}, definition("Length", length(prompt)), definition("Tokens cut", cut.join(", ") || "none")),
    ...prompt.slots.map(slotDetails),
  );
};

const render = (sample) => {
  const id = sample.paper_id ?? sample.id;
  const paper = sample.url ? element("a", { href: sample.url, rel: "noreferrer" }, id) : id;
  const facts = { Paper: paper, Published: sample.published, Licence: sample.license, Prompt: sample.prompt_name };
  byId("shown").replaceChildren(
    element("h2", {}, sample.title || sample.id),
    element("dl", {}, ...Object.entries(facts).map(([name, value]) => definition(name, value))),
    element("h3", {}, "Target"),
    sample.target === null ? element("p", {}, WITHHELD) : text(sample.target || LEFT_OUT, "Target"),
    element("h2", {}, "Answers"),
    element("div", { class: "cards" }, ...sample.answers.map(answerCard(sample))),
    element("h2", {}, "Prompts"),
    element("div", { class: "cards" }, ...sample.prompts.map(promptCard(sample))),
  );
};

const load = (name, path) =>
  new Promise((resolve, reject) => {
    if (name in handed) return void resolve(handed[name]);
    const script = element("script", { src: path });
    script.onload = () => resolve(handed[name]);
    script.onerror = () => reject(new Error(`${path} cannot be loaded`));
    document.head.append(script);
  });

document.addEventListener("DOMContentLoaded", () => {
  const settings = handed.settings ?? [];
  const [setting, sample] = [byId("setting"), byId("sample")];
  if (!settings.length) {
    byId("status").textContent = "There are no samples yet.";
    return;
  }
  const fill = (select, names) => select.replaceChildren(...names.map((name, i) => element("option", { value: String(i) }, name)));
  const show = async () => {
    const [{ slug, samples }, index] = [settings[Number(setting.value)], Number(sample.value)];
    history.replaceState(null, "", `#${new URLSearchParams({ setting: slug, sample: index })}`);
    byId("previous").disabled = index <= 0;
    byId("next").disabled = index >= samples.length - 1;
    try {
      const found = await load(`sample:${slug}/${index}`, `data/samples/${slug}/${index}.js`);
      if (slug !== settings[Number(setting.value)].slug || index !== Number(sample.value)) return;
      render(found);
      byId("status").textContent = `Sample ${index + 1} of ${samples.length}.`;
    } catch (error) {
      byId("status").textContent = error.message;
    }
  };
  const showSetting = (wanted) => {
    fill(sample, settings[Number(setting.value)].samples);
    sample.value = wanted < sample.options.length ? String(wanted) : "0";
    show();
  };
  const step = (by) => {
    sample.value = String(Number(sample.value) + by);
    show();
  };
  const start = () => {
    const hash = new URLSearchParams(location.hash.slice(1));
    setting.value = String(Math.max(0, settings.findIndex((one) => one.slug === hash.get("setting"))));
    showSetting(Number(hash.get("sample") ?? 0));
  };
  fill(setting, settings.map((one) => one.name));
  byId("choose").addEventListener("submit", (event) => event.preventDefault());
  setting.addEventListener("input", () => showSetting(0));
  sample.addEventListener("input", show);
  byId("previous").addEventListener("click", () => step(-1));
  byId("next").addEventListener("click", () => step(1));
  addEventListener("hashchange", start);
  start();
});
