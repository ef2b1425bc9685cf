"use strict";
// Which page is shown, what the keys do, and looking again while a training runs.

const PAGES = { overview: overviewPage, episodes: episodesPage, episode: episodePage };
const KEYS = [
  ["← →", "previous and next step"], ["↑ ↓", "candidate above and below"], ["1 … 9", "a candidate"],
  ["W", "what if the chosen candidate had been played"], ["P T I", "prompt, tree, task"], ["[ ]", "previous and next episode of the list"],
  ["/", "search"], ["E", "episodes"], ["R", "runs"], ["?", "these keys"],
];
const AGAIN = 3000; // milliseconds between two looks at the server
let stamps = "";
let asked = 0;
let done = 0; // the latest of the pages asked for that is not on its way any more
const early = []; // keys pressed before the page was there: it gets them when it is

const stampsOf = (runs) => JSON.stringify(runs.map((run) => [run.name, run.stamp]));

// A page first loads what it needs, then draws at once. Between the two, the reader may have asked for another page,
// whose event is perhaps still on its way: a page may touch the address only while the address is its own.
async function show() {
  const { page, query } = place();
  const [mine, address] = [++asked, location.hash];
  const main = h("main", { id: "main" });
  const sorry = (problem) => main.replaceChildren(h("p", { class: "empty" }, `This cannot be shown: ${problem.message}.`));
  let draw;
  let seen = "";
  try {
    const runs = await data.runs();
    seen = stampsOf(runs);
    draw = await (PAGES[page] ?? overviewPage)(runs, query);
  } catch (problem) {
    draw = () => sorry(problem);
  }
  if (mine !== asked) return;
  done = mine;
  if (address !== location.hash) return;
  stamps = seen;
  current = null;
  try {
    current = draw(main) ?? null;
  } catch (problem) {
    sorry(problem);
  }
  document.getElementById("main").replaceWith(main);
  document.querySelectorAll("nav a").forEach((link) => link.toggleAttribute("aria-current", link.dataset.page === page));
  if (page !== "episodes") window.scrollTo(0, 0);
  shown = location.hash;
  while (early.length && !loading()) ACTIONS[early.shift()]();
}

async function lookAgain() {
  const runs = await data.runs().catch(() => null);
  const live = document.getElementById("live");
  live.hidden = runs === null || !runs.some((run) => Date.now() / 1000 - run.changed < 60);
  const busy = asked !== done || document.activeElement?.matches("input, select");
  if (runs === null || busy || place().page === "episode" || stampsOf(runs) === stamps) return;
  const top = window.scrollY;
  await show();
  window.scrollTo(0, top);
}

function showKeys() {
  const open = document.querySelector(".keys");
  if (open) return open.remove();
  const rows = KEYS.map(([keys, what]) => [h("dt", null, keys.split(" ").map((key) => [h("kbd", null, key), " "])), h("dd", null, what)]);
  document.body.append(h("div", { class: "keys", onclick: showKeys }, h("div", { class: "card" }, h("h1", null, "Keys"), h("dl", null, rows))));
}

const ACTIONS = {
  ArrowRight: () => current?.step(1), ArrowLeft: () => current?.step(-1), Home: () => current?.first(), End: () => current?.last(),
  ArrowDown: () => current?.candidate(1), ArrowUp: () => current?.candidate(-1), w: () => current?.play(),
  p: () => current?.tab("prompt"), t: () => current?.tab("tree"), i: () => current?.tab("task"),
  "[": () => current?.episode(-1), "]": () => current?.episode(1),
  "/": () => document.querySelector("[data-search]")?.focus(), e: () => { location.hash = "#/episodes"; }, r: () => { location.hash = "#/"; },
  "?": showKeys, Escape: () => document.querySelector(".keys")?.remove(),
};
for (let at = 0; at < 9; at++) ACTIONS[at + 1] = () => current?.pick(at);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur?.();
    return;
  }
  const scrolls = /^(Arrow|Home$|End$)/.test(event.key) && place().page !== "episode";
  if (scrolls || !ACTIONS[event.key]) return;
  event.preventDefault();
  if (!loading()) ACTIONS[event.key]();
  else if (!event.repeat) early.push(event.key);
});

function chooseTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("theme", theme); } catch { /* a page without storage forgets it */ }
}

try { if (localStorage.getItem("theme")) chooseTheme(localStorage.getItem("theme")); } catch { /* likewise */ }
document.getElementById("theme").addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark"
    || (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  chooseTheme(dark ? "light" : "dark");
});
document.getElementById("help").addEventListener("click", showKeys);
window.addEventListener("hashchange", show);
show();
if (!exported) setInterval(lookAgain, AGAIN);
