"use strict";

// Data comes as scripts that call `academiceval(name, data)`: a page opened from disk may load a script but not fetch a file.
const academiceval = (() => {
  const known = new Map();
  const waiting = new Map();
  const register = (name, data) => {
    known.set(name, data);
    (waiting.get(name) ?? []).forEach((resolve) => resolve(data));
    waiting.delete(name);
  };
  register.when = (name) =>
    known.has(name)
      ? Promise.resolve(known.get(name))
      : new Promise((resolve) => waiting.set(name, [...(waiting.get(name) ?? []), resolve]));
  register.load = (name, path) => {
    if (known.has(name)) return Promise.resolve(known.get(name));
    const found = register.when(name);
    const script = document.createElement("script");
    script.src = path;
    const failed = new Promise((_, reject) => {
      script.onerror = () => reject(new Error(`${path} cannot be loaded`));
    });
    document.head.append(script);
    return Promise.race([found, failed]);
  };
  return register;
})();

// An element; strings among its children become text, never markup.
const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};

const byId = (id) => document.getElementById(id);
const score = (value) => value.toFixed(3).replace(/^-(0\.0*)$/, "$1");
const percent = (value) => `${Math.round(100 * value)}%`;

const fillSelect = (select, options, chosen) => {
  select.replaceChildren(...options.map(([value, label]) => element("option", { value }, label)));
  select.value = options.some(([value]) => value === chosen) ? chosen : (options[0]?.[0] ?? "");
};

// A table that is wider than its place says so.
const markWide = () =>
  document.querySelectorAll(".wide").forEach((one) => one.classList.toggle("scrolls", one.scrollWidth > one.clientWidth + 1));
addEventListener("resize", markWide);
addEventListener("load", markWide);
document.addEventListener("toggle", markWide, true);

const readHash = () => new URLSearchParams(location.hash.slice(1));
const writeHash = (values) => {
  history.replaceState(null, "", `#${new URLSearchParams(values)}`);
};
