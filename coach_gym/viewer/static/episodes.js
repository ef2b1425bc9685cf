"use strict";
// A list of episodes that only builds the rows in sight, with filters that live in the address.

const ROW = 76;
let listed = []; // the episodes of the latest list, for going from one to the next

async function episodesPage(runs, query) {
  const rows = await rowsOf(runs);
  return (main) => drawEpisodes(main, rows, query);
}

function drawEpisodes(main, rows, query) {
  const filters = { run: "", phase: "", task: "", outcome: "", least: "", most: "", text: "", ...query };
  const sheet = h("div", { class: "sheet" });
  const list = h("div", { class: "card list", tabindex: 0, onscroll: () => paint() });
  list.append(sheet);
  const count = h("span", { class: "muted number", id: "count" });
  const families = h("div", { class: "families" });
  const paint = () => {
    const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 4);
    const last = Math.min(listed.length, first + Math.ceil(list.clientHeight / ROW) + 8);
    sheet.replaceChildren(...listed.slice(first, last).map((row, at) => rowOf(row, first + at)));
  };
  const apply = () => {
    listed = rows.filter((row) => matches(row, filters));
    sheet.style.setProperty("height", `${listed.length * ROW}px`);
    list.style.setProperty("--rows", Math.max(1, listed.length));
    count.textContent = `${words(listed.length, "episode")} of ${rows.length.toLocaleString("en")}`;
    rename("episodes", filters);
    families.replaceChildren(...familiesOf(rows.filter((row) => matches(row, { ...filters, task: "" })), filters.task, (task) => change("task", task)));
    if (!listed.length) sheet.replaceChildren(h("p", { class: "empty" }, rows.length ? "No episode matches these filters." : "No episodes yet."));
    else paint();
  };
  const change = (name, value) => {
    filters[name] = filters[name] === value && name === "task" ? "" : value;
    if (name === "task") selects.task.value = filters.task;
    list.scrollTop = 0;
    apply();
  };
  const choice = (name, label, values) => h("select", { "aria-label": label, "data-filter": name, onchange: (e) => change(name, e.target.value) },
    [["", label], ...values].map(([value, text]) => h("option", { value, selected: value === filters[name] }, text)));
  const distinct = (name) => [...new Set(rows.map((row) => row[name]))].filter(Boolean).sort().map((value) => [value, value]);
  const length = (name, label) => h("input", { type: "number", min: 0, placeholder: label, "aria-label": `${label} steps`, "data-filter": name, value: filters[name], oninput: (e) => change(name, e.target.value) });
  const selects = {
    run: choice("run", "All runs", distinct("run")),
    phase: choice("phase", "All phases", distinct("phase")),
    task: choice("task", "All tasks", distinct("task")),
    outcome: choice("outcome", "All outcomes", Object.keys(OUTCOMES).map((key) => [key, OUTCOMES[key][1]])),
  };
  const search = h("input", {
    class: "grow", type: "search", placeholder: "Goal, answer, fault …", "data-search": true, "data-filter": "text",
    value: filters.text, oninput: (event) => change("text", event.target.value),
  });
  main.replaceChildren(
    h("div", { class: "tools" }, search, Object.values(selects), length("least", "min"), length("most", "max"), h("span", { class: "muted" }, "steps"), count),
    h("div", { class: "episodes" }, list,
      h("aside", null, h("section", { class: "card" }, h("header", null, h("h2", null, "Success by family")), families))));
  apply();
  new ResizeObserver(() => { if (listed.length) paint(); }).observe(list);
}

function matches(row, filters) {
  return (!filters.run || row.run === filters.run)
    && (!filters.phase || row.phase === filters.phase)
    && (!filters.task || row.task === filters.task)
    && (!filters.outcome || outcomeOf(row) === filters.outcome)
    && (!filters.least || row.length >= Number(filters.least))
    && (!filters.most || row.length <= Number(filters.most))
    && (!filters.text || filters.text.toLowerCase().split(/\s+/).every((word) => row.words.includes(word)));
}

function rowOf(row, position) {
  const facts = [row.task, row.phase, row.timesteps === null ? null : `at ${row.timesteps.toLocaleString("en")} steps`,
    `k = ${row.k}`, row.seed === null ? null : `seed ${row.seed}`, row.fault, row.run].filter(Boolean);
  return h("a", { class: "row", href: linkTo("episode", { run: row.run, id: row.id }), style: { top: `${position * ROW}px` }, "data-id": row.id },
    row.screen ? h("img", { src: data.screen(row.run, row.screen), alt: "", loading: "lazy", decoding: "async" }) : h("span"),
    h("span", { class: "goal" }, row.goal),
    h("span", null, h("span", { class: "muted number wide-only" }, `${words(row.length, "step")}  `), outcomePill(row)),
    h("span", { class: "facts" }, facts.join(" · ")));
}

function familiesOf(rows, chosen, choose) {
  const counts = new Map();
  for (const row of rows) {
    const known = counts.get(row.task) ?? { solved: 0, judged: 0 };
    const outcome = outcomeOf(row);
    known.solved += outcome === "solved";
    known.judged += outcome === "solved" || outcome === "failed";
    counts.set(row.task, known);
  }
  return [...counts].sort(([a], [b]) => a.localeCompare(b)).map(([task, { solved, judged }]) =>
    h("button", { class: "family", "aria-pressed": String(task === chosen), onclick: () => choose(task) },
      h("span", { class: "what" }, h("span", null, task || "(no task)"), h("span", { class: "muted number" }, `${solved} of ${judged}`)),
      h("span", { class: "meter" }, h("span", { style: { width: judged ? `${(100 * solved) / judged}%` : "0" } }))));
}
