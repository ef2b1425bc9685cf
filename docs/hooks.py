"""Pages of the site that are made of files outside of docs/: the front page, the changelog, the examples."""

import ast
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
LINK = re.compile(r"\]\(([^)#:]+)((?:#[^)]*)?)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages."""
    for source, page in PAGES.items():
        text = LINK.sub(_moved, (ROOT / source).read_text("utf-8"))
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "examples.md", content=_examples()))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Points links to the table of the examples at their page."""
    return markdown.replace("](../examples/README.md)", "](examples.md)")


def _moved(link: re.Match[str]) -> str:
    """Points a link of a file at the root to where its target is in the site."""
    target = link[1].removeprefix("docs/")
    target = "examples.md" if target == "examples/README.md" else PAGES.get(target, target)
    return f"]({target}{link[2]})"


def _examples() -> str:
    """The table of examples/README.md, and below it every program."""
    text = (ROOT / "examples/README.md").read_text("utf-8").replace("](../docs/", "](")
    text = re.sub(r"^\| `(\w+)\.py`", r"| [`\1.py`](#\1py)", text, flags=re.MULTILINE)
    for path in sorted((ROOT / "examples").glob("*.py")):
        source = path.read_text("utf-8")
        first = (ast.get_docstring(ast.parse(source)) or "").splitlines()[0]
        text += f"\n## {path.name}\n\n{first}\n\n```python\n{source}```\n"
    return text
