"""The sources of web pages with picture buttons and picture switches. Their scripts run in any browser."""

from __future__ import annotations

import json
from collections.abc import Sequence

FILE_SIZE = 1 << 15  # bytes: all pages are as large, or their sizes would tell them apart
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ margin: 8px; font-family: sans-serif; text-align: center; }}
.picture {{ width: 96px; height: 96px; margin: 6px; padding: 0; border: none; }}
img {{ width: 100%; height: 100%; }}
</style>
</head>
<body>
{body}
<script>
{constants}
const part = id => document.getElementById(id);
function picture(parent, data, action) {{
  const button = parent.appendChild(document.createElement("button"));
  button.className = "picture";
  const image = button.appendChild(document.createElement("img"));
  image.alt = "";
  image.src = "data:image/jpeg;base64," + data;
  button.onclick = () => action(image);
}}
function finish(receipt) {{ document.body.innerHTML = "<h2>Receipt: " + receipt + "</h2>"; }}
{script}
</script>
</body>
</html>
"""
_BUTTONS = """<p>Press one of the buttons</p>
<div id="buttons"></div>"""
_BUTTONS_SCRIPT = """PICTURES.forEach((data, number) =>
  picture(part("buttons"), data, () => finish(RECEIPTS[number])));"""
_SWITCHES = """<p>Touch a switch to change it</p>
<div id="rows"></div>
<button id="save">Save</button>"""
_SWITCHES_SCRIPT = """let changed = 0;
SWITCHES.forEach(([name, first, second], number) => {
  const row = part("rows").appendChild(document.createElement("div"));
  row.textContent = name;
  picture(row, first, image => {
    changed ^= 1 << number;
    image.src = "data:image/jpeg;base64," + (changed >> number & 1 ? second : first);
  });
});
part("save").onclick = () => finish(RECEIPTS[changed]);"""


def buttons(pictures: Sequence[str], receipts: Sequence[str]) -> bytes:
    """Returns a page of buttons.

    Args:
        pictures: JPEG files in base 64, one a button.
        receipts: What the page shows once a button was pressed, one a button.
    """
    return _page("Buttons", _BUTTONS, _BUTTONS_SCRIPT, PICTURES=list(pictures), RECEIPTS=list(receipts))


def switches(rows: Sequence[Sequence[str]], receipts: Sequence[str]) -> bytes:
    """Returns a page of switches.

    Args:
        rows: Name, picture at first and picture once changed of each; JPEG files in base 64.
        receipts: What the page shows once saved, by the sum of 2 ** row over the changed rows.
    """
    return _page("Switches", _SWITCHES, _SWITCHES_SCRIPT, SWITCHES=list(map(list, rows)), RECEIPTS=list(receipts))


def _page(title: str, body: str, script: str, **constants: list) -> bytes:
    lines = "\n".join(f"const {name} = {json.dumps(value)};" for name, value in constants.items())
    return _PAGE.format(title=title, body=body, script=script, constants=lines).encode().ljust(FILE_SIZE)
