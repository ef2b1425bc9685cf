"use strict";
// The screen, drawn as frames arrive, and what a person does to it. `h` and `svg` (dom.js) set text as text only.

const HOLD = 500; // milliseconds after which a touch is a long press
const SLIP = 0.02; // share of the width that a finger may move in a touch
const SILENT = "Nothing answers: coach-gym phone was stopped.";
const at = (id) => document.getElementById(id);
const canvas = at("screen");
let state = null;
let elements = [];
let frames = [];

let asked = Promise.resolve();
let waiting = 0;

// One command after the other: a device may take seconds, and what was typed first must arrive first.
function ask(command, body = {}) {
  flush();
  document.body.classList.toggle("working", ++waiting > 0);
  asked = asked.then(() => send(command, body)).finally(() => document.body.classList.toggle("working", --waiting > 0));
}

async function send(command, body) {
  try {
    const answer = await fetch(`api/${command}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Coach-Gym": "1" },
      body: JSON.stringify(body),
    });
    if (answer.ok) show(await answer.json());
    at("problem").textContent = answer.ok ? state.error : await problemOf(answer);
  } catch {
    at("problem").textContent = SILENT;
  }
}

async function problemOf(answer) {
  const { problem } = await answer.json().catch(() => ({}));
  return problem ?? `The server answers ${answer.status}.`;
}

const act = (kind, more = {}) => ask("act", { kind, ...more });

// ---- frames ----

async function watch() {
  let mark = "";
  let coming = null;
  for (;;) {
    try {
      const answer = await (coming ?? fetch(next(mark)));
      coming = null;
      if (!answer.ok) throw new Error(await problemOf(answer));
      found();
      if (answer.status === 204) continue;
      mark = answer.headers.get("X-Screen");
      if (answer.headers.get("X-Turn") !== String(state.turn)) show(await told("state")); // asked on another page
      const png = await answer.blob();
      coming = fetch(next(mark)); // the server draws the next frame while this one is shown
      coming.catch(() => {}); // told when it is awaited
      const picture = await createImageBitmap(png);
      canvas.width = picture.width;
      canvas.height = picture.height;
      canvas.getContext("2d").drawImage(picture, 0, 0);
      canvas.dataset.mark = mark;
      frames.push(performance.now());
      if (at("tree").checked) look();
    } catch (problem) {
      coming = null;
      lose(problem instanceof TypeError ? SILENT : problem.message); // fetch fails with a TypeError
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
}

const next = (mark) => `screen?after=${mark}&turn=${state.turn}`;
let lost = false;

function lose(why) {
  lost = true;
  canvas.classList.add("lost");
  at("problem").textContent = `${why} Trying again …`;
}

function found() {
  if (!lost) return;
  lost = false;
  canvas.classList.remove("lost");
  at("problem").textContent = "";
}

setInterval(() => {
  frames = frames.filter((each) => each > performance.now() - 1000);
  at("rate").className = `pill number${lost ? " warn" : ""}`;
  at("rate").textContent = lost ? "not reachable" : frames.length ? words(frames.length, "frame") + "/s" : "still";
}, 250);

// ---- touch ----

let finger = null;

function point(event) {
  const box = canvas.getBoundingClientRect();
  const inside = (share, size) => Math.max(0, Math.min(size - 1, Math.floor(share * size)));
  return [
    inside((event.clientX - box.left) / box.width, canvas.width),
    inside((event.clientY - box.top) / box.height, canvas.height),
  ];
}

canvas.addEventListener("pointerdown", (event) => {
  canvas.focus();
  canvas.setPointerCapture(event.pointerId);
  finger = { start: point(event), since: event.timeStamp };
  event.preventDefault();
});
canvas.addEventListener("pointerup", (event) => {
  if (!finger) return;
  const { start, since } = finger;
  const end = point(event);
  finger = null;
  if (Math.hypot(end[0] - start[0], end[1] - start[1]) > SLIP * canvas.width) act("drag", { start, end });
  else act(event.timeStamp - since > HOLD ? "long_press" : "click", { start });
});
canvas.addEventListener("pointercancel", () => (finger = null));

let wheeling = 0;
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  if (event.timeStamp - wheeling < 300) return; // one gesture of the wheel is one swipe
  wheeling = event.timeStamp;
  act("scroll", { start: point(event), direction: event.deltaY > 0 ? "down" : "up" });
}, { passive: false });

// ---- keys ----

let typed = "";
let pause = 0;

function flush() {
  clearTimeout(pause);
  const content = typed;
  typed = "";
  if (content) act("type", { content });
}

canvas.addEventListener("paste", (event) => {
  const content = event.clipboardData.getData("text/plain"); // of a picture or a file, nothing
  if (content) act("type", { content });
  else at("problem").textContent = "Only text can be pasted.";
});
canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const named = { Escape: () => act("press_back"), Enter: () => act("press_enter"), Backspace: () => ask("press", { key: "delete" }) };
  if (event.key in named) {
    event.preventDefault();
    named[event.key]();
  } else if ([...event.key].length === 1) {
    event.preventDefault();
    typed += event.key;
    clearTimeout(pause);
    pause = setTimeout(flush, 250); // a word is one action, not one for every letter
  }
});

for (const button of document.querySelectorAll("[data-act]")) button.onclick = () => act(button.dataset.act);
for (const button of document.querySelectorAll("[data-key]")) button.onclick = () => ask("press", { key: button.dataset.key });
at("reset").onclick = () => ask("reset");
at("leave").onclick = () => ask("leave");
at("typing").onsubmit = (event) => {
  event.preventDefault();
  if (at("text").value) act("type", { content: at("text").value });
  at("text").value = "";
};
at("choosing").onsubmit = (event) => {
  event.preventDefault();
  ask("task", { id: at("task").value, seed: Number(at("seed").value) });
};
at("finishing").onsubmit = (event) => {
  event.preventDefault();
  act("finished", { content: at("answer").value });
  at("answer").value = "";
};

// ---- tree ----

let looking = false;
let again = false;

// One look at a time; frames that come meanwhile ask for one more.
async function look() {
  again = true;
  if (looking) return;
  looking = true;
  while (again && at("tree").checked) {
    again = false;
    try {
      draw(await told("elements"));
    } catch { /* the device is gone, which the screen says; its next frame looks again */ }
  }
  looking = false;
  if (!at("tree").checked) unlook();
}

function draw(found) {
  elements = found;
  const overlay = at("overlay");
  overlay.setAttribute("viewBox", `0 0 ${canvas.width} ${canvas.height}`);
  overlay.setAttribute("preserveAspectRatio", "none");
  overlay.replaceChildren(...elements.map(({ bounds: [x, y, right, bottom] }) => svg("rect", { x, y, width: right - x, height: bottom - y })));
}

function unlook() {
  elements = [];
  at("overlay").replaceChildren();
  at("element-card").hidden = true;
}

at("tree").onchange = () => (at("tree").checked ? look() : unlook());
canvas.addEventListener("pointermove", (event) => {
  if (!elements.length) return;
  const [x, y] = point(event);
  const area = ([left, top, right, bottom]) => (right - left) * (bottom - top);
  const under = elements
    .map((element, index) => ({ ...element, index }))
    .filter(({ bounds: [left, top, right, bottom] }) => left <= x && x < right && top <= y && y < bottom)
    .sort((one, other) => area(one.bounds) - area(other.bounds))[0];
  [...at("overlay").children].forEach((rect, index) => rect.classList.toggle("pointed", index === under?.index));
  at("element-card").hidden = !under;
  if (!under) return;
  const facts = { class: under.cls, text: under.label, value: under.value, id: under.id, is: under.flags.join(", "), at: under.bounds.join(", ") };
  at("element").replaceChildren(
    ...Object.entries(facts).filter(([, value]) => value).map(([name, value]) =>
      h("div", { class: "fact" }, h("span", { class: "muted" }, name), h("span", { class: "mono" }, String(value)))),
  );
});

// ---- state ----

function show(told) {
  state = told;
  at("device").textContent = `${told.device}, ${told.size[0]} × ${told.size[1]}`;
  const { task } = told;
  at("chosen").hidden = !task;
  at("verdict").hidden = !task?.over;
  for (const button of document.querySelectorAll(".free")) button.disabled = Boolean(task);
  at("finishing").hidden = !task || task.over;
  if (!task) return;
  at("goal").textContent = task.goal;
  at("progress").textContent = `${task.id}, seed ${task.seed}: step ${task.steps} of ${task.budget}`;
  const outcome = task.success === null ? null : Number(task.success);
  const [kind, label] = OUTCOMES[outcomeOf({ fault: task.fault, outcome })];
  at("verdict").className = `pill ${kind}`;
  at("verdict").textContent = label;
}

async function told(what) {
  const answer = await fetch(`api/${what}`);
  if (!answer.ok) throw new Error(await problemOf(answer));
  return answer.json();
}

async function begin() {
  show(await told("state"));
  watch();
  at("tasks").append(...(await told("tasks")).map((id) => h("option", { value: id })));
}

begin();
