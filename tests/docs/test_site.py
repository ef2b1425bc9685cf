"""The documentation site builds without a warning, and its links lead somewhere."""

import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("mkdocs", reason="needs the extra `docs`")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Links(HTMLParser):
    """What a page refers to, and the places in it that others can refer to."""

    def __init__(self, page):
        super().__init__()
        self.targets, self.ids = [], {""}
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.targets += [named[key] for key in ("href", "src") if named.get(key)]
        self.ids |= {named[key] for key in ("id", "name") if named.get(key)}


def test_every_link_leads_somewhere(site):
    pages = {page.resolve(): Links(page) for page in site.rglob("*.html") if page.name != "404.html"}
    assert len(pages) >= 40
    broken = []
    for page, links in pages.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if path.is_dir():
                path /= "index.html"
            if not path.exists():
                broken.append((page.name, target))
            elif parts.fragment not in ("__skip", "only-light", "only-dark") and path in pages:
                if unquote(parts.fragment) not in pages[path].ids:
                    broken.append((page.name, target))
    assert not broken


def test_nothing_is_loaded_from_elsewhere(site):
    page = (site / "index.html").read_text("utf-8")
    assert "fonts.g" not in page and '<script src="http' not in page


def test_the_reference_has_the_doors_members(site):
    page = (site / "reference" / "agents.html").read_text("utf-8")
    import coach_gym.agents

    models = {name for name in coach_gym.agents.__all__ if name.endswith("Agent")}
    assert all(f'id="coach_gym.agents.{name}"' in page for name in models)
    assert "learning_rate" in page and "leave-one-out" in page
