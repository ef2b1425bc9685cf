"use strict";
// Building blocks. Text is only ever set as text, so nothing that an app or a model wrote becomes markup.

function h(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.entries(value).forEach(([key, each]) => element.style.setProperty(key, each));
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// ---- numbers and words ----

const number = (value, digits = 3) =>
  value === null || value === undefined ? "–" : Number(value).toFixed(digits).replace(/^-(?=[0.]+$)/, "").replace("-", "−");
const signed = (value) => (value > 0 && /[1-9]/.test(number(value)) ? "+" : "") + number(value);
const percent = (part, whole) => (whole ? `${Math.round((100 * part) / whole)} %` : "–");
const words = (count, one) => `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;

function clock(seconds) {
  return seconds ? new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" }) : "";
}

function outcomeOf(row) {
  if (row.fault !== null) return "fault";
  if (row.outcome === null) return "unjudged";
  return row.outcome >= 1 ? "solved" : "failed";
}

const OUTCOMES = {
  solved: ["good", "✓ solved"],
  failed: ["bad", "✕ not solved"],
  fault: ["warn", "⚠ fault"],
  unjudged: ["", "no verdict"],
};

function outcomePill(row) {
  const [kind, label] = OUTCOMES[outcomeOf(row)];
  return h("span", { class: `pill ${kind}` }, label);
}

// ---- addresses: #/page?name=value ----

function linkTo(page, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const text = new URLSearchParams(given).toString();
  return `#/${page}${text ? `?${text}` : ""}`;
}

function place() {
  const [page, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { page: page || "overview", query: Object.fromEntries(new URLSearchParams(query)) };
}

let shown = null; // the address of the page that is drawn
const loading = () => location.hash !== shown;

// What the reader chose on the page that is drawn becomes part of its address.
function rename(page, query) {
  history.replaceState(null, "", linkTo(page, query));
  shown = location.hash;
}
