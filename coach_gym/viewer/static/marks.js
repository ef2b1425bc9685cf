"use strict";
// All k candidates on the screen, coloured by their advantage.

// Blue is better than the others, orange is worse, grey is neither; `most` is the largest advantage of the episode.
function colourOf(candidate, most) {
  if (candidate.advantage === null || Math.abs(candidate.advantage) < 5e-4) return "var(--even)";
  const share = 0.3 + 0.7 * Math.sqrt(Math.abs(candidate.advantage) / most);
  return `color-mix(in oklab, var(${candidate.advantage > 0 ? "--better" : "--worse"}) ${Math.round(100 * share)}%, var(--even))`;
}

function badge(candidate, index, most) {
  const colour = colourOf(candidate, most);
  return h("span", { class: `badge${candidate.executed ? " executed" : ""}`, style: { "--it": colour, color: colour, background: colour } },
    h("span", { class: "digit" }, String(index + 1)));
}

// Marks of the candidates that touch the screen, in pixels of the screenshot.
function marksOf(candidates, width, height, most, chosen, choose) {
  const radius = width * 0.05;
  const taken = [];
  const marks = candidates.map((candidate, index) => {
    const start = candidate.action?.start;
    if (!start) return null;
    const before = taken.filter((other) => Math.hypot(other[0] - start[0], other[1] - start[1]) < radius * 1.6).length;
    taken.push(start);
    return markOf(candidate, index, start, before, { width, height, radius, most, chosen, choose });
  });
  // The executed one last, so that nothing covers it.
  return marks.filter(Boolean).sort((a, b) => a.dataset.executed - b.dataset.executed);
}

function markOf(candidate, index, [x, y], before, { width, height, radius, most, chosen, choose }) {
  const kept = (value, limit) => Math.min(Math.max(value, radius * 0.8), limit - radius * 0.8);
  const angle = -Math.PI / 4 + (before * Math.PI) / 3.5;
  const [bx, by] = [kept(x + 1.45 * radius * Math.cos(angle), width), kept(y + 1.45 * radius * Math.sin(angle), height)];
  const thick = candidate.executed ? 0.3 : 0.17;
  const ring = (name, r, stroke) => svg("circle", { class: name, cx: x, cy: y, r, "stroke-width": stroke * radius });
  const finger = fingerEnd(candidate.action, height);
  const parts = finger
    ? arrow([x, y], finger, radius, thick)
    : [ring("halo", radius, thick + 0.16), ring("ring", radius, thick)];
  if (candidate.action.kind === "long_press") parts.push(ring("ring", radius * 1.45, thick));
  if (candidate.executed && !finger) parts.push(svg("circle", { class: "dot", cx: x, cy: y, r: radius * 0.28 }));
  const mark = svg("g", {
    class: `mark${candidate.executed ? " executed" : ""}${chosen === index ? " chosen" : ""}`,
    "data-candidate": index, "data-executed": Number(candidate.executed), style: { color: colourOf(candidate, most) },
    onclick: () => choose(index), role: "button", "aria-label": `Candidate ${index + 1}`,
  }, ...parts,
    svg("circle", { class: "tag", cx: bx, cy: by, r: radius * 0.62, "stroke-width": radius * 0.12 }),
    svg("text", { x: bx, y: by, "font-size": radius * 0.85 }, String(index + 1)));
  return mark;
}

function fingerEnd(action, height) {
  if (action.end) return action.end;
  const towards = { up: [0, 1], down: [0, -1], left: [1, 0], right: [-1, 0] }[action.direction];
  return towards ? [action.start[0] + towards[0] * height * 0.18, action.start[1] + towards[1] * height * 0.18] : null;
}

function arrow([x1, y1], [x2, y2], radius, thick) {
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const barb = (turn) => `${x2 - radius * Math.cos(angle + turn)},${y2 - radius * Math.sin(angle + turn)}`;
  const line = (name, width) => svg("line", { class: name, x1, y1, x2, y2, "stroke-width": width * radius });
  return [line("halo", thick + 0.2), line("ring", thick + 0.05), svg("polygon", { class: "dot", points: `${x2},${y2} ${barb(0.5)} ${barb(-0.5)}` })];
}

// ---- words for actions ----

function described(candidate) {
  const action = candidate.action;
  if (!action) return `no action: ${candidate.text.trim() || "(empty)"}`;
  const at = (point) => `(${point[0]}, ${point[1]})`;
  switch (action.kind) {
    case "click": return `click ${at(action.start)}`;
    case "long_press": return `long press ${at(action.start)}`;
    case "scroll": return `scroll ${action.direction ?? `to ${at(action.end)}`} from ${at(action.start)}`;
    case "drag": return `drag ${at(action.start)} → ${at(action.end)}`;
    case "type": return `type “${action.content ?? ""}”`;
    case "open_app": return `open ${action.content}`;
    case "finished": return action.content ? `finished: “${action.content}”` : "finished";
    default: return action.kind.replace("_", " ");
  }
}
