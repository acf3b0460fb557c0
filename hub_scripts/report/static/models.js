"use strict";

// Which models the tables of the landing page show: by name, size, licence and month of release.
const SIZES = { small: ["up to 4B", 0, 4], medium: ["over 4B, up to 15B", 4, 15], large: ["over 15B, up to 80B", 15, 80], huge: ["over 80B", 80, Infinity] };
// "47B (13B active)" has 47 billion parameters.
const UNITS = { m: 0.001, b: 1, t: 1000 };
const billions = (parameters) => {
  const [, number, unit] = /^([\d.]+)\s*([MBT])/i.exec(parameters ?? "") ?? [];
  return unit ? Number(number) * UNITS[unit.toLowerCase()] : NaN;
};

const isOfSize = (model, [, low, high]) => {
  const count = billions(model.parameters);
  return count > low && count <= high;
};

const isWanted = (model) => {
  const [size, licence, released] = ["size", "licence", "released"].map((id) => byId(id).value);
  if (!model.name.toLowerCase().includes(byId("model").value.trim().toLowerCase())) return false;
  if (model.baseline) return byId("baselines").checked;
  if (size && !isOfSize(model, SIZES[size])) return false;
  if (licence && model.licence !== licence) return false;
  return !released || (model.released ?? "") >= released;
};

const filterBoards = (models) => {
  const wanted = new Map(models.map((model) => [model.name, isWanted(model)]));
  document.querySelectorAll("tr[data-model]").forEach((row) => (row.hidden = wanted.get(row.dataset.model) === false));
  const kept = [...wanted.values()].filter(Boolean).length;
  byId("kept").textContent = kept === wanted.size ? "" : `${kept} of ${wanted.size} models are shown; ranks count all.`;
};

const prepareModels = (models, hash) => {
  const values = (name) => [...new Set(models.map((model) => model[name]).filter(Boolean))].sort();
  const sizes = Object.entries(SIZES).filter(([, size]) => models.some((model) => isOfSize(model, size)));
  const options = {
    size: sizes.map(([name, [label]]) => [name, label]),
    licence: values("licence").map((one) => [one, one]),
    released: values("released").map((one) => [one, one]),
  };
  for (const [id, offered] of Object.entries(options)) {
    fillSelect(byId(id), [["", "any"], ...offered], hash.get(id) ?? "");
    byId(id).closest("label").hidden = !offered.length;
  }
  byId("model").value = hash.get("model") ?? "";
  byId("baselines").checked = hash.get("baselines") !== "false";
  byId("models").hidden = false;
};
