"use strict";
// One card for every device. A device between two episodes keeps its last screen, dimmed. `h` (dom.js) sets text as text only.

const at = (id) => document.getElementById(id);
const cards = new Map();

function cardOf(place) {
  if (!cards.has(place)) {
    const parts = {
      steps: h("span", { class: "muted number" }), screen: h("img", { class: "phone", alt: `Screen of device ${place}` }),
      goal: h("p", { class: "goal" }), action: h("p", { class: "action mono muted" }),
    };
    const card = h("article", { class: "card" },
      h("header", {}, h("h2", {}, `Device ${place}`), h("span", { class: "space" }), parts.steps),
      h("div", { class: "body" }, parts.screen, parts.goal, parts.action));
    cards.set(place, { card, ...parts });
    at("wall").replaceChildren(...[...cards].sort(([one], [other]) => one - other).map(([, each]) => each.card));
  }
  return cards.get(place);
}

function show(devices) {
  const playing = new Set(devices.map(({ place }) => place));
  for (const [place, { card }] of cards) card.classList.toggle("idle", !playing.has(place));
  for (const { place, goal, task, steps, action, screen } of devices) {
    const parts = cardOf(place);
    parts.goal.textContent = goal;
    parts.goal.title = task;
    parts.steps.textContent = words(steps, "step");
    parts.action.textContent = action;
    const address = `screen/${place}?mark=${screen}`;
    if (parts.screen.getAttribute("src") !== address) parts.screen.src = address;
  }
  at("devices").textContent = words(cards.size, "device");
}

function say(kind, text) {
  at("link").className = `pill ${kind}`;
  at("link").textContent = text;
}

async function watch() {
  let mark = "";
  for (;;) {
    try {
      const answer = await fetch(`api/devices?after=${mark}`);
      say("good", "live");
      if (answer.status !== 200) continue;
      const told = await answer.json();
      mark = told.mark;
      show(told.devices);
    } catch {
      say("warn", "not running");
      await new Promise((done) => setTimeout(done, 1000)); // the training is over, or not there yet
    }
  }
}

watch();
