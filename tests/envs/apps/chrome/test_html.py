"""What is read of HTML files and of the scripts in them."""

import pytest

from coach_gym.envs.apps.chrome.html import Document
from coach_gym.envs.apps.chrome.script import SeededRandom, constant, number

PAGE = b"""<!DOCTYPE html><html><head><title> Two
 words </title><meta name="viewport" content="width=device-width, initial-scale=1"><style>p {color: red}</style>
<script>let a = "<p>no text</p>";</script></head><body>Loose <b>words</b><h2>A &lt;b&gt;</h2><p>one<br>two</p>
<ul><li>first<li>second</ul><button>Go</button><input placeholder="Name"><script>b</script></body></html>"""


def test_a_document_is_its_blocks_of_text():
    assert Document(PAGE).blocks == [
        ("body", "Loose words"), ("h2", "A <b>"), ("p", "one"), ("br", "two"), ("li", "first"), ("li", "second"),
        ("button", "Go"),
    ]  # fmt: skip


def test_a_document_knows_its_head_and_its_scripts():
    document = Document(PAGE)
    assert (document.title, document.mobile, document.hint) == ("Two words", True, "Name")
    assert document.script == 'let a = "<p>no text</p>";b' and document.style == "p {color: red}"
    assert document.labels("li") == ["first", "second"] and document.labels("h1") == []


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"<", b"</p></div>", b"<title>", b"<!--", b"<p " + b"a" * 9999])
def test_anything_is_a_document(data):
    document = Document(data)
    assert not document.mobile and document.script == "" == document.style


@pytest.mark.parametrize("script, value", [
    ("const A = [1, 2];", [1, 2]), ('const A = ["x"];\nconst B = [3];', ["x"]), ("let A = [1];", None), ("", None),
    ("const AB = [1];", None),
])  # fmt: skip
def test_constants_are_read_off_a_script(script, value):
    assert constant(script, "A") == value


def test_a_constant_that_is_no_json_is_refused():
    with pytest.raises(ValueError):
        constant("const A = [one];", "A")


def test_numbers_are_read_off_a_source():
    assert number("width: 48px", r"width: (\d+)px") == 48 and number("width: auto", r"width: (\d+)px") is None


GENERATOR = "const a = 1664525; const c = 1013904223; const m = 2 ** 32; rng = new SeededRNG(0)"


def test_the_generator_is_that_of_numerical_recipes():
    """From seed 0: 3C6EF35F, 47502932, D1CCF6E9, AAF95334, 6252E503, as printed there."""
    rng = SeededRandom(GENERATOR)
    assert [rng.below(2**32) for _ in range(5)] == [0x3C6EF35F, 0x47502932, 0xD1CCF6E9, 0xAAF95334, 0x6252E503]


def test_shuffling_keeps_all_items():
    rng, items = SeededRandom(GENERATOR), list(range(9))
    rng.shuffle(items)
    assert sorted(items) == list(range(9)) != items


@pytest.mark.parametrize("part", ["const a = 1664525;", "const c = 1013904223;", "2 ** 32", "SeededRNG(0)"])
def test_half_a_generator_is_refused(part):
    with pytest.raises(ValueError, match="no seeded generator"):
        SeededRandom(GENERATOR.replace(part, ""))
