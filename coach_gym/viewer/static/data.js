"use strict";
// Where the page gets its data: from the server, or from itself if it was exported.

const embedded = document.getElementById("exported");
const exported = embedded ? JSON.parse(embedded.textContent) : null;

async function fetched(path, query) {
  const answer = await fetch(`${path}?${new URLSearchParams(query)}`);
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.problem);
  return told;
}

function exportedEpisode(run, id) {
  const found = exported.documents[`${run}/${id}`];
  if (!found) throw new Error("this episode is not in the exported file");
  return found;
}

const data = {
  runs: async () => (exported ? exported.runs : fetched("api/runs", {})),
  curves: async (run) => (exported ? (exported.curves[run] ?? {}) : fetched("api/curves", { run })),
  rows: async (run) => (exported ? (exported.rows[run] ?? []) : fetched("api/episodes", { run })),
  episode: async (run, id) => (exported ? exportedEpisode(run, id) : fetched("api/episode", { run, id })),
  screen: (run, name) =>
    exported ? (exported.screens[name] ?? "") : `screen?${new URLSearchParams({ run, name })}`,
  whatIf: async (run, id, step, candidate) => {
    const answer = await fetch("api/what-if", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Coach-Gym": "view" },
      body: JSON.stringify({ run, id, step, candidate }),
    });
    const told = await answer.json();
    if (!answer.ok) throw new Error(told.problem);
    return told;
  },
};

// Rows of all runs, fetched again only when a run has changed.
const kept = new Map();

async function rowsOf(runs) {
  const lists = await Promise.all(
    runs.filter((run) => run.episodes).map(async (run) => {
      if (kept.get(run.name)?.stamp !== run.stamp) {
        const rows = await data.rows(run.name);
        rows.forEach((row) => { row.run = run.name; row.words = `${row.goal} ${row.task} ${row.answer ?? ""} ${row.fault ?? ""}`.toLowerCase(); });
        kept.set(run.name, { stamp: run.stamp, rows });
      }
      return kept.get(run.name).rows;
    }),
  );
  return lists.flat().sort((a, b) => (b.started ?? 0) - (a.started ?? 0));
}
