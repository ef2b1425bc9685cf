"""The web pages of the browser families. Their scripts run in any browser; nothing is loaded from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Sequence

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 8px; font-family: sans-serif; text-align: center; }}
button {{ font-size: 18px; padding: 8px 12px; margin: 3px; }}
table {{ margin: 0 auto; border-collapse: collapse; }}
td {{ width: 48px; height: 48px; border: 1px solid black; font-size: 24px; }}
.swatch {{ display: inline-block; width: 50px; height: 50px; margin: 5px; }}
.ink {{ width: 30px; height: 30px; padding: 0; border: none; }}
#inks {{ max-width: 290px; margin: 0 auto; }}
canvas {{ border: 1px solid black; touch-action: none; }}
</style>
</head>
<body>
{body}
<script>
{constants}
{script}
</script>
</body>
</html>
"""

_MAZE = """<table id="board"></table>
<button onclick="go(-1, 0)">Up</button><button onclick="go(1, 0)">Down</button>
<button onclick="go(0, -1)">Left</button><button onclick="go(0, 1)">Right</button>"""
_MAZE_SCRIPT = """let place = [0, 0];
const colors = {"#": "black", ".": "white", "G": "green"};
function draw() {
  const board = document.getElementById("board");
  board.replaceChildren();
  GRID.forEach((line, y) => {
    const row = board.insertRow();
    [...line].forEach((kind, x) => {
      const cell = row.insertCell();
      cell.style.background = colors[kind];
      if (y === place[0] && x === place[1]) cell.textContent = "X";
    });
  });
}
function go(down, right) {
  const kind = (GRID[place[0] + down] || "")[place[1] + right];
  if (kind === undefined || kind === "#") return;
  place = [place[0] + down, place[1] + right];
  if (kind === "G") document.body.innerHTML = "<h1>Success!</h1>";
  else draw();
}
draw();"""

_PRODUCT = """<h1 id="shown"></h1>
<button id="next" onclick="next()">Next number</button>
<div id="question" hidden><input id="answer" type="number" placeholder="Product of all numbers">
<button onclick="check()">Check</button></div>
<h2 id="verdict"></h2>"""
_PRODUCT_SCRIPT = """let seen = 0;
const part = id => document.getElementById(id);
function show() { part("shown").textContent = NUMBERS[seen]; }
function next() {
  seen += 1;
  if (seen < NUMBERS.length) return show();
  part("shown").hidden = part("next").hidden = true;
  part("question").hidden = false;
}
function check() {
  const right = NUMBERS.reduce((a, b) => a * b) === parseInt(part("answer").value);
  part("verdict").textContent = right ? "Success!" : "";
}
show();"""

_DRAWING = """<div id="wanted"></div>
<canvas id="canvas" width="300" height="300"></canvas>
<p>Colors to draw with</p>
<div id="inks"></div>
<button id="wipe">Wipe</button><button id="hand-in">Hand in</button>
<div id="verdict"></div>"""
_DRAWING_SCRIPT = """const part = id => document.getElementById(id);
const sheet = part("canvas"), pen = sheet.getContext("2d");
pen.lineWidth = 4;  // the middle of such a line has its pure colour, whatever its edges are smoothed to
for (const color of WANTED) {
  const tile = part("wanted").appendChild(document.createElement("span"));
  tile.className = "swatch";
  tile.style.background = color;
}
for (const color of PALETTE) {
  const ink = part("inks").appendChild(document.createElement("button"));
  ink.className = "ink";
  ink.style.background = color;
  ink.onclick = () => { pen.strokeStyle = color; };
}
let last = null;
const at = e => { const box = sheet.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };
sheet.onpointerdown = e => { last = at(e); };
sheet.onpointerup = sheet.onpointerleave = () => { last = null; };
sheet.onpointermove = e => {
  if (!last) return;
  pen.beginPath();
  pen.moveTo(...last);
  pen.lineTo(...(last = at(e)));
  pen.stroke();
};
part("wipe").onclick = () => pen.clearRect(0, 0, sheet.width, sheet.height);
part("hand-in").onclick = () => {
  const dots = pen.getImageData(0, 0, sheet.width, sheet.height).data, used = new Set();
  for (let i = 0; i < dots.length; i += 4)
    used.add("#" + [...dots.slice(i, i + 3)].map(v => v.toString(16).padStart(2, "0")).join(""));
  part("verdict").textContent = WANTED.every(color => used.has(color)) ? "Success!" : "";
};"""


def maze(grid: Sequence[str]) -> bytes:
    """Returns a page with a maze, given rows of `#` (wall), `.` (way) and `G` (goal)."""
    return _page("A maze", _MAZE, _MAZE_SCRIPT, GRID=list(grid))


def product(numbers: Sequence[int]) -> bytes:
    """Returns a page that shows numbers one after the other and asks for their product."""
    return _page("Numbers", _PRODUCT, _PRODUCT_SCRIPT, NUMBERS=list(numbers))


def drawing(wanted: Sequence[str], palette: Sequence[str]) -> bytes:
    """Returns a page with a canvas on which lines in the wanted colours (`#rrggbb`) must be drawn."""
    return _page("A drawing", _DRAWING, _DRAWING_SCRIPT, WANTED=list(wanted), PALETTE=list(palette))


def _page(title: str, body: str, script: str, **constants: list) -> bytes:
    lines = "\n".join(f"const {name} = {json.dumps(value)};" for name, value in constants.items())
    return _PAGE.format(title=title, body=body, script=script, constants=lines).encode()
