"use strict";
// One episode: a film strip, and step by step what was seen, considered, done and judged.

let current = null; // the controls of the episode on the page, for the keys

async function episodePage(runs, query) {
  const episode = await data.episode(query.run, query.id);
  const inList = listed.some((row) => row.run === query.run && row.id === query.id);
  const neighbours = inList ? listed : await rowsOf(runs.filter((each) => each.name === query.run));
  return (main) => {
    listed = neighbours;
    return drawEpisode(main, episode, query);
  };
}

function drawEpisode(main, episode, query) {
  const { run, id } = query;
  const most = Math.max(0, ...episode.steps.flatMap((step) => step.candidates.map((c) => Math.abs(c.advantage ?? 0))));
  const state = { step: 0, candidate: 0, tab: "prompt" };
  const strip = h("div", { class: "strip", role: "tablist", "aria-label": "Steps" });
  const body = h("div");

  const go = (step, candidate = null) => {
    if (!episode.steps.length) return;
    state.step = Math.min(Math.max(step, 0), episode.steps.length - 1);
    const candidates = episode.steps[state.step].candidates;
    const executed = candidates.findIndex((each) => each.executed);
    state.candidate = candidate === null ? executed : (candidate + candidates.length) % candidates.length;
    rename("episode", { run, id, step: state.step + 1, candidate: state.candidate === executed ? "" : state.candidate + 1 });
    [...strip.children].forEach((each, at) => each.toggleAttribute("aria-current", at === state.step));
    requestAnimationFrame(() => strip.children[state.step].scrollIntoView({ block: "nearest", inline: "center" }));
    body.replaceChildren(stepView(episode, run, state, most, go));
  };
  strip.append(...episode.steps.map((step, at) => h("button", { onclick: () => go(at), title: described(step.candidates.find((c) => c.executed)) },
    h("img", { src: data.screen(run, step.screen), alt: `Screen ${at + 1}`, loading: "lazy" }),
    h("span", { class: `dot ${verdictKind(step)}` }), String(at + 1))));
  const ending = episode.steps.at(-1)?.next;
  if (ending) strip.append(h("button", { disabled: true, title: "The last screen" }, h("img", { src: data.screen(run, ending), alt: "Last screen", loading: "lazy" }), "end"));
  main.replaceChildren(headOf(episode, run), strip, body);
  if (!episode.steps.length) body.append(h("p", { class: "empty" }, "This episode ended before its first step."));
  go((Number(query.step) || 1) - 1, Number(query.candidate) ? Number(query.candidate) - 1 : null);
  return {
    step: (by) => go(state.step + by),
    first: () => go(0),
    last: () => go(episode.steps.length - 1),
    candidate: (by) => go(state.step, state.candidate + by),
    pick: (at) => at < episode.steps[state.step]?.candidates.length && go(state.step, at),
    tab: (name) => body.querySelector(`[data-tab="${name}"]`)?.click(),
    play: () => body.querySelector(".candidate.chosen .play")?.click(),
    episode: (by) => neighbour(run, id, by),
  };
}

function neighbour(run, id, by) {
  const row = listed[listed.findIndex((each) => each.run === run && each.id === id) + by];
  if (row) location.hash = linkTo("episode", { run: row.run, id: row.id });
}

const verdictKind = (step) => (step.verdict === null ? "" : step.verdict >= 0.5 ? "good" : "bad");

function headOf(episode, run) {
  const pill = (text) => (text ? h("span", { class: "pill" }, text) : null);
  return h("div", { class: "head" },
    h("h1", null, episode.goal),
    h("div", { class: "pills" }, outcomePill(episode), pill(episode.task), pill(episode.phase),
      pill(episode.timesteps === null ? "" : `at ${episode.timesteps.toLocaleString("en")} steps`),
      pill(words(episode.steps.length, "step")), pill(episode.seed === null ? "" : `seed ${episode.seed}`), pill(episode.agent),
      episode.answer ? h("span", { class: "pill accent" }, `answered: ${episode.answer}`) : null,
      episode.fault ? h("span", { class: "pill warn" }, episode.fault) : null,
      h("a", { class: "pill accent", href: linkTo("episodes", { run }) }, run)));
}

function stepView(episode, run, state, most, go) {
  const step = episode.steps[state.step];
  const choose = (index) => go(state.step, index);
  const under = h("div", { class: "under" }, step.error ? `The last action was not carried out: ${step.error}` : "");
  const side = sideOf(episode, state);
  return h("div", { class: "step" },
    h("div", null, stageOf(run, step, state, most, choose, under, side), under),
    h("div", { class: "card" },
      h("header", null, h("h2", null, `Step ${state.step + 1} of ${episode.steps.length}`),
        h("span", { class: "muted" }, words(step.candidates.length, "candidate")),
        h("span", { class: "pill" }, `after ${words(step.version, "update")}`), step.return !== null ? h("span", { class: "pill number" }, `return ${number(step.return)}`) : null),
      step.candidates.map((each, index) => candidateView(episode, run, state, each, index, most, choose)),
      h("div", { class: "result" }), verdictView(step)),
    side);
}

function stageOf(run, step, state, most, choose, under, side) {
  const overlay = svg("svg", { "aria-label": "Candidates" });
  const picture = h("img", { class: "phone", src: data.screen(run, step.screen), alt: `Screen of step ${state.step + 1}` });
  const draw = () => {
    const [width, height] = [picture.naturalWidth, picture.naturalHeight];
    overlay.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const hit = svg("rect", { class: "hit", visibility: "hidden", rx: width * 0.01 });
    overlay.replaceChildren(hit, ...marksOf(step.candidates, width, height, most, state.candidate, choose));
    overlay.onpointermove = (event) => {
      const box = overlay.getBoundingClientRect();
      const [x, y] = [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height];
      show(elementAt(step.elements, x, y));
    };
    overlay.onpointerleave = () => show(-1);
    side.addEventListener("over-element", (event) => show(event.detail));
    const show = (index) => highlight(step.elements, index, hit, under, side);
  };
  if (picture.complete && picture.naturalWidth) draw();
  else picture.addEventListener("load", draw);
  const elsewhere = step.candidates.map((each, index) => (each.action?.start ? null : h("button", {
    class: `${each.executed ? "executed" : ""}${index === state.candidate ? " chosen" : ""}`, "data-candidate": index,
    style: { "border-color": colourOf(each, most) }, onclick: () => choose(index),
  }, `${index + 1}  ${described(each)}`)));
  return h("div", null, h("div", { class: "stage" }, picture, overlay), h("div", { class: "offscreen" }, elsewhere));
}

// The smallest element under a point.
function elementAt(elements, x, y) {
  const size = ({ bounds: [left, top, right, bottom] }) => (right - left) * (bottom - top);
  let best = -1;
  elements.forEach((each, index) => {
    const [left, top, right, bottom] = each.bounds;
    if (left <= x && x < right && top <= y && y < bottom && (best < 0 || size(each) <= size(elements[best]))) best = index;
  });
  return best;
}

function highlight(elements, index, hit, under, side) {
  const element = elements[index];
  hit.setAttribute("visibility", element ? "visible" : "hidden");
  side.querySelectorAll(".under-pointer").forEach((each) => each.classList.remove("under-pointer"));
  if (!element) return;
  const [left, top, right, bottom] = element.bounds;
  for (const [name, value] of Object.entries({ x: left, y: top, width: right - left, height: bottom - top })) hit.setAttribute(name, value);
  under.textContent = `${element.cls}  ${element.label || element.id}`;
  const line = side.querySelector(`[data-element="${index}"]`);
  line?.classList.add("under-pointer");
  line?.scrollIntoView({ block: "nearest" });
}

function candidateView(episode, run, state, candidate, index, most, choose) {
  const figure = (name, value, kind = "") => (value === "–" ? null : h("span", { class: kind, "data-figure": name }, `${name} `, h("b", null, value)));
  const card = h("div", { class: `candidate${index === state.candidate ? " chosen" : ""}`, "data-candidate": index, onclick: () => choose(index) },
    badge(candidate, index, most),
    h("div", null, h("div", { class: "what" }, described(candidate)), candidate.thought ? h("div", { class: "thought" }, candidate.thought) : null),
    h("div", { class: "figures" },
      figure("Q", number(candidate.q)),
      figure("advantage", candidate.advantage === null ? "–" : signed(candidate.advantage), Math.abs(candidate.advantage) < 5e-4 ? "" : candidate.advantage > 0 ? "up" : "down"),
      figure("log-probability", number(candidate.logprob, 2)),
      figure("measured return", number(candidate.return)),
      candidate.tokens ? figure("tokens", String(candidate.tokens)) : null),
    h("div", { class: "act" },
      candidate.executed ? h("span", { class: "pill accent" }, "executed") : null,
      exported || !episode.environment || sameAction(candidate, episode.steps[state.step]) ? null
        : h("button", { class: "play", title: "Plays it on a new phone, from this very state", onclick: (event) => { event.stopPropagation(); playInstead(event.target, run, episode, state.step, index); } }, "What if?")));
  return card;
}

// Whether a candidate does what was done, so that nothing else would have happened.
function sameAction(candidate, step) {
  const done = step.candidates.find((each) => each.executed);
  return JSON.stringify(candidate.action ?? candidate.text) === JSON.stringify(done.action ?? done.text);
}

async function playInstead(button, run, episode, step, index) {
  const place = button.closest(".card").querySelector(".result");
  button.disabled = true;
  place.replaceChildren(h("p", { class: "reason muted" }, "Playing up to here on a new phone …"));
  try {
    const told = await data.whatIf(run, episode.id, step, index);
    const happened = episode.steps[step].next;
    const ended = told.over ? `The episode ends: ${told.success === null ? "no verdict" : told.success ? "solved" : "not solved"}` : "";
    place.replaceChildren(h("div", { class: "whatif" },
      h("figure", null, h("figcaption", null, "What happened"), happened ? h("img", { class: "phone", src: data.screen(run, happened), alt: "What happened" }) : h("p", { class: "muted" }, "The episode ended.")),
      h("figure", null, h("figcaption", null, [`With candidate ${index + 1}`, ended, told.error].filter(Boolean).join(". ")), h("img", { class: "phone", src: told.screen, alt: "What would have happened" }))));
    await Promise.all([...place.querySelectorAll("img")].map((image) => image.decode().catch(() => null)));
    place.scrollIntoView({ block: "nearest" });
  } catch (problem) {
    place.replaceChildren(h("p", { class: "reason" }, `This cannot be played: ${problem.message}.`));
  }
  button.disabled = false;
}

function verdictView(step) {
  if (!step.judged) return null;
  const [kind, label] = step.verdict === null ? ["", "the judge gave no verdict"] : step.verdict >= 0.5 ? ["good", "✓ good step"] : ["bad", "✕ bad step"];
  return h("div", { class: "reason" }, h("span", { class: `pill ${kind}` }, label), step.reasoning ? `\n${step.reasoning}` : "");
}

// ---- prompt, tree and task ----

function sideOf(episode, state) {
  const panes = { prompt: promptPane, tree: treePane, task: taskPane };
  const side = h("div", { class: "card" });
  const pane = h("div", { class: "pane" });
  const tabs = Object.keys(panes).map((name) => h("button", { role: "tab", "data-tab": name, onclick: () => choose(name) }, name[0].toUpperCase() + name.slice(1)));
  const choose = (name) => {
    state.tab = name;
    tabs.forEach((each) => each.setAttribute("aria-selected", String(each.dataset.tab === name)));
    pane.replaceChildren(...[panes[name](episode, state, side)].flat(2).filter(Boolean));
    pane.scrollTop = 0;
  };
  choose(state.tab);
  side.append(h("div", { class: "tabs", role: "tablist" }, tabs), pane);
  return side;
}

function promptPane(episode, state) {
  const turn = (role, text) => [h("div", { class: "role" }, role), h("pre", null, text)];
  const steps = episode.steps.slice(0, state.step + 1);
  if (!steps.at(-1).prompt) return h("p", { class: "muted" }, "The prompt is not known: this player has none, or it was not kept.");
  const earlier = steps.slice(0, -1).flatMap((step) => [...turn("user", step.prompt), ...turn("assistant", step.candidates.find((c) => c.executed).text)]);
  return [
    ...(episode.prompt ?? []).flatMap(({ role, content }) => turn(role, content)),
    earlier.length ? h("details", null, h("summary", { class: "muted" }, `${words(state.step, "earlier step")}; if the prompt is too long, the oldest are left out`), earlier) : null,
    ...turn("user", steps.at(-1).prompt),
  ];
}

function treePane(episode, state, side) {
  const elements = episode.steps[state.step].elements;
  if (!elements.length) return h("p", { class: "muted" }, "There is no text of this screen.");
  return elements.map((each, index) => h("div", {
    class: "element", "data-element": index, onpointerenter: () => side.dispatchEvent(new CustomEvent("over-element", { detail: index })),
  }, h("span", { class: "cls" }, each.cls), ` ${each.label || each.id}${each.value ? ` = ${each.value}` : ""} `, h("span", { class: "flags" }, each.flags.join(" "))));
}

function taskPane(episode, state) {
  const facts = { goal: episode.goal, ...episode.params, outcome: episode.outcome, environment: episode.environment?.id, "time of the step": clock(episode.steps[state.step].time) };
  return h("dl", null, Object.entries(facts).map(([name, value]) => [h("dt", null, name), h("dd", null, typeof value === "string" ? value : JSON.stringify(value ?? null))]));
}
