"""Pages of the site that are made of files outside of docs/: the front page, the changelog, the examples, the notebook.

Pictures that GitHub shows in light or dark become two of which the theme shows one.
"""

import ast
import json
import re
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
ALT = "An episode: its screens with thought and action"
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
NOTEBOOK = "examples/first_hour.ipynb"
MOVED = {**PAGES, "examples/README.md": "examples.md", NOTEBOOK: "notebook.md"}
LINK = re.compile(r"\]\(([^)#:]+)((?:#[^)]*)?)\)")
PICTURE = re.compile(r'<picture>\s*<source [^>]*srcset="([^"]+)">\s*<img alt="([^"]*)" src="([^"]+)">\s*</picture>')


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages."""
    for source, page in PAGES.items():
        text = LINK.sub(_moved, PICTURE.sub(_pair, (ROOT / source).read_text("utf-8")))
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "examples.md", content=_examples()))
    files.append(File.generated(config, "notebook.md", content=_notebook()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Points links to the examples at their pages, and makes two of each picture that is light and dark."""
    up = "../" * page.file.src_uri.count("/")  # to docs/, beside which the examples are
    for source in ("examples/README.md", NOTEBOOK):
        markdown = markdown.replace(f"]({up}../{source})", f"]({up}{MOVED[source]})")
    return PICTURE.sub(_pair, markdown)


def _pair(picture: re.Match[str]) -> str:
    dark, alt, light = picture.groups()
    return f"![{alt}]({light}#only-light)\n![{alt}]({dark}#only-dark)"


def _moved(link: re.Match[str]) -> str:
    """Points a link of a file at the root to where its target is in the site."""
    return f"]({MOVED.get(link[1], link[1].removeprefix('docs/'))}{link[2]})"


def _examples() -> str:
    """The table of examples/README.md, and below it every program."""
    text = (ROOT / "examples/README.md").read_text("utf-8").replace("](../docs/", "](")
    text = text.replace("](first_hour.ipynb)", "](notebook.md)")
    text = re.sub(r"^\| `(\w+)\.py`", r"| [`\1.py`](#\1py)", text, flags=re.MULTILINE)
    for path in sorted((ROOT / "examples").glob("*.py")):
        source = path.read_text("utf-8")
        first = (ast.get_docstring(ast.parse(source)) or "").splitlines()[0]
        text += f"\n## {path.name}\n\n{first}\n\n```python\n{source}```\n"
    return text


def _notebook() -> str:
    """The notebook with what its cells show."""
    cells = json.loads((ROOT / NOTEBOOK).read_text("utf-8"))["cells"]
    return "\n\n".join(part for cell in cells for part in _parts(cell))


def _parts(cell: dict[str, Any]) -> list[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source.replace("](../docs/", "](")]
    return [f"```python\n{source}\n```", *(_output(output["data"]) for output in cell["outputs"])]


def _output(forms: dict[str, Any]) -> str:
    ((form, data),) = forms.items()
    content = "".join(data)
    if form == "image/png":
        return f'<img alt="{ALT}" src="data:image/png;base64,{"".join(content.split())}">'
    return content if form == "text/html" else f"<pre><code>{escape(content)}</code></pre>"
