"use strict";
// All runs, and their curves side by side.

const FIRST_TAGS = [
  "rollout/success_rate", "eval/success_rate", "train/explained_variance", "train/q_mean", "train/q_contrast",
  "train/entropy", "train/all_equal", "rollout/ep_len_mean", "rollout/fault_rate",
];
const hiddenRuns = new Set();
let tagFilter = "";

async function overviewPage(runs) {
  const curves = Object.fromEntries(
    await Promise.all(runs.filter((run) => run.curves).map(async (run) => [run.name, await data.curves(run.name)])),
  );
  return (main) => drawOverview(main, runs, curves);
}

function drawOverview(main, runs, curves) {
  const shownRuns = () => runs.filter((run) => run.curves && !hiddenRuns.has(run.name));
  const charts = h("div", { class: "charts" });
  const colourOf = (run) => COLOURS[runs.indexOf(run) % COLOURS.length];
  const draw = () => {
    const tags = [...new Set(shownRuns().flatMap((run) => Object.keys(curves[run.name])))];
    const wanted = tags.filter((tag) => (tagFilter ? tag.includes(tagFilter) : FIRST_TAGS.includes(tag)));
    wanted.sort((a, b) => ((FIRST_TAGS.indexOf(a) + 1) || 99) - ((FIRST_TAGS.indexOf(b) + 1) || 99) || a.localeCompare(b));
    charts.replaceChildren(...wanted.map((tag) => chart(tag, linesOf(tag, shownRuns(), curves, colourOf))));
    if (!wanted.length) charts.append(h("p", { class: "empty" }, "No curves here yet."));
  };
  const search = h("input", {
    class: "grow", type: "search", placeholder: "All curves whose name contains …", value: tagFilter, "data-search": true,
    oninput: (event) => { tagFilter = event.target.value; draw(); },
  });
  const list = runs.map((run) => runCard(run, colourOf(run), draw));
  main.replaceChildren(
    h("div", { class: "overview" },
      h("aside", null, h("section", { class: "card" }, h("header", null, h("h2", null, words(runs.length, "run"))), list)),
      h("div", null, h("div", { class: "tools" }, search), charts)),
  );
  if (!runs.length) main.replaceChildren(h("p", { class: "empty" }, "There are no runs in this folder yet. The page looks again by itself."));
  draw();
}

function linesOf(tag, runs, curves, colourOf) {
  return runs
    .filter((run) => curves[run.name][tag]?.length)
    .map((run) => ({ name: run.name, colour: colourOf(run), points: curves[run.name][tag] }));
}

function runCard(run, colour, draw) {
  const box = h("input", {
    type: "checkbox", checked: !hiddenRuns.has(run.name), disabled: !run.curves, "aria-label": `Curves of ${run.name}`,
    onchange: (event) => { hiddenRuns[event.target.checked ? "delete" : "add"](run.name); draw(); },
  });
  return h("div", { class: "run" },
    box, h("span", { class: "swatch", style: { background: colour } }), h("span", { class: "name" }, run.name),
    run.judged ? h("span", { class: "pill" }, percent(run.solved, run.judged)) : null,
    h("span", { class: "facts" },
      run.episodes ? h("a", { href: linkTo("episodes", { run: run.name }) }, words(run.episodes, "episode")) : "no episodes",
      run.faults ? ` · ${words(run.faults, "fault")}` : "", run.changed ? ` · ${clock(run.changed)}` : ""));
}
