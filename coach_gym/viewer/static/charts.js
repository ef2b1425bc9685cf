"use strict";
// Small line charts: one for each tag, with a line for each run.

const COLOURS = ["#3f6fe0", "#e07b39", "#2a9d74", "#b6579e", "#8a7a1f", "#27a3bd", "#c24b4b", "#7a68d6"];
const EDGE = { left: 40, right: 8, top: 8, bottom: 18 };

// lines: [{ name, colour, points: [[x, y], ...] }]
function chart(tag, lines) {
  const value = h("span", { class: "number" });
  const picture = svg("svg", { role: "img", "aria-label": tag });
  const card = h("section", { class: "card chart" }, h("h2", null, h("span", null, tag), value), picture);
  const show = (x) => value.replaceChildren(...readings(lines, x));
  const draw = () => drawLines(picture, lines, show);
  new ResizeObserver(draw).observe(picture);
  show(null);
  return card;
}

// The latest value of every line, or the one at the pointer, beside its line's colour.
function readings(lines, x) {
  const values = lines.filter(({ points }) => points.length).map(({ name, colour, points }) => {
    const [, y] = x === null ? points.at(-1) : nearest(points, x);
    return h("span", { title: name }, h("span", { class: "swatch", style: { background: colour } }), tick(y));
  });
  return x === null ? values : [...values, ` at ${Math.round(x).toLocaleString("en")}`];
}

const nearest = (points, x) =>
  points.reduce((best, each) => (Math.abs(each[0] - x) < Math.abs(best[0] - x) ? each : best), points[0]);

const tick = (value) =>
  (Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)))).replace("-", "−");

function drawLines(picture, lines, show) {
  const width = picture.clientWidth || 300;
  const height = picture.clientHeight || 150;
  const all = lines.flatMap((line) => line.points);
  if (!all.length) return;
  const [x0, x1] = range(all.map((point) => point[0]));
  const heights = levels(...range(all.map((point) => point[1])));
  const [y0, y1] = [heights[0], heights.at(-1)];
  const right = (x) => EDGE.left + ((x - x0) / (x1 - x0)) * (width - EDGE.left - EDGE.right);
  const down = (y) => height - EDGE.bottom - ((y - y0) / (y1 - y0)) * (height - EDGE.top - EDGE.bottom);
  const parts = heights.flatMap((y) => [
    svg("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: down(y), y2: down(y) }),
    svg("text", { x: EDGE.left - 5, y: down(y) + 3, "text-anchor": "end" }, tick(y)),
  ]);
  const below = (x, place, text) => svg("text", { x, y: height - 4, "text-anchor": place }, text);
  if (all.every(([x]) => x === all[0][0])) parts.push(below(right(all[0][0]), "middle", `${tick(all[0][0])} steps`));
  else parts.push(below(EDGE.left, "start", tick(x0)), below(width - EDGE.right, "end", `${tick(x1)} steps`));
  const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${right(x).toFixed(1)} ${down(y).toFixed(1)}`).join("");
  for (const { colour, points } of lines) {
    const rough = points.length > 20;
    if (rough) parts.push(svg("path", { class: "line raw", stroke: colour, d: path(points) }));
    if (points.length === 1) parts.push(svg("circle", { r: 3, cx: right(points[0][0]), cy: down(points[0][1]), fill: colour }));
    parts.push(svg("path", { class: "line", stroke: colour, d: path(rough ? smooth(points) : points) }));
  }
  const cursor = svg("line", { class: "cursor", y1: EDGE.top, y2: height - EDGE.bottom, visibility: "hidden" });
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.replaceChildren(...parts, cursor);
  picture.onpointermove = (event) => {
    const at = event.clientX - picture.getBoundingClientRect().left;
    const x = nearest(all, x0 + ((at - EDGE.left) / (width - EDGE.left - EDGE.right)) * (x1 - x0))[0];
    cursor.setAttribute("x1", right(x));
    cursor.setAttribute("x2", right(x));
    cursor.setAttribute("visibility", "visible");
    show(x);
  };
  picture.onpointerleave = () => { cursor.setAttribute("visibility", "hidden"); show(null); };
}

function range(values) {
  const low = values.reduce((a, b) => Math.min(a, b)), high = values.reduce((a, b) => Math.max(a, b));
  if (low !== high) return [low, high];
  return low === 0 ? [0, 1] : [low - Math.abs(low) * 0.1, high + Math.abs(high) * 0.1];
}

// At most five round numbers, from the lowest value or below it to the highest or above.
function levels(low, high) {
  const power = 10 ** Math.floor(Math.log10((high - low) / 2));
  const step = power * [1, 2, 2.5, 5, 10].find((each) => Math.ceil(high / power / each) - Math.floor(low / power / each) <= 4);
  const first = Math.floor(low / step), last = Math.ceil(high / step);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

function smooth(points, keep = 0.8) {
  let mean = points[0][1];
  return points.map(([x, y]) => [x, (mean = keep * mean + (1 - keep) * y)]);
}
