"""Selectors of the uiautomator2 client, made by the client's own class, on trees and screens."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from uiautomator2 import Selector

from coach_gym.envs.phone.patterns import TooSlow
from coach_gym.envs.phone.servers.uiautomator.selectors import find
from coach_gym.ui import Node


def leaf(text, cls="TextView", **more):
    return Node(cls=f"android.widget.{cls}", text=text, **more)


def row(*children, id=""):
    return Node(cls="android.widget.LinearLayout", children=list(children), id=id)


TREE = Node(
    cls="android.widget.FrameLayout",
    children=[
        row(leaf("Wi-Fi"), leaf("on", "Switch", checkable=True, checked=True, clickable=True), id="a:id/first"),
        row(leaf("Bluetooth"), leaf("off", "Switch", checkable=True, clickable=True), id="a:id/second"),
        Node(cls="android.widget.ListView", scrollable=True, children=[
            row(leaf("Ångström"), leaf("more", desc="Show More")), row(leaf("中文 😀"), leaf("more")), leaf("Wi-Fi"),
        ]),
    ],
)  # fmt: skip


def texts(selector):
    return [found.node.text or found.node.id or found.node.cls.rpartition(".")[2] for found in find(TREE, selector)]


@pytest.mark.parametrize(
    ("criteria", "expected"),
    [
        ({"text": "Wi-Fi"}, ["Wi-Fi", "Wi-Fi"]),
        ({"text": "wi-fi"}, []),
        ({"textContains": "wi-"}, ["Wi-Fi", "Wi-Fi"]),
        ({"textStartsWith": "BLUE"}, ["Bluetooth"]),
        ({"textMatches": "o(n|ff)"}, ["on", "off"]),
        ({"textMatches": "o"}, []),
        ({"text": "中文 😀"}, ["中文 😀"]),
        ({"description": "Show More"}, ["more"]),
        ({"descriptionContains": "show"}, ["more"]),
        ({"descriptionStartsWith": "show"}, ["more"]),
        ({"descriptionMatches": "Show.*"}, ["more"]),
        ({"className": "android.widget.Switch"}, ["on", "off"]),
        ({"classNameMatches": ".*Switch", "checked": False}, ["off"]),
        ({"resourceId": "a:id/second"}, ["a:id/second"]),
        ({"resourceIdMatches": "a:id/.*", "instance": 1}, ["a:id/second"]),
        ({"scrollable": True}, ["ListView"]),
        ({"clickable": True, "instance": 1}, ["off"]),
        ({"text": "more", "instance": 2}, []),
        ({"className": "android.widget.TextView", "index": 2}, ["Wi-Fi"]),
        ({"text": "Wi-Fi", "index": 0}, ["Wi-Fi"]),
    ],
)
def test_criteria_single_out_nodes(criteria, expected):
    assert texts(Selector(**criteria)) == expected


def test_an_empty_selector_means_every_node_from_the_root_on():
    assert len(texts(Selector())) == len(list(TREE.walk()))
    assert texts(Selector(instance=0)) == ["FrameLayout"]


def test_children_are_searched_at_any_depth_below():
    assert texts(Selector(scrollable=True).child(text="Wi-Fi")) == ["Wi-Fi"]
    assert texts(Selector(resourceId="a:id/second").child(className="android.widget.Switch")) == ["off"]
    assert texts(Selector(resourceId="a:id/second").child(text="on")) == []


def test_siblings_are_searched_below_the_parent():
    assert texts(Selector(text="Bluetooth").sibling(checkable=True)) == ["off"]
    assert texts(Selector(text="中文 😀").sibling(text="more")) == ["more"]


def test_steps_chain_and_the_instance_counts_at_its_step():
    rows = Selector(scrollable=True).child(className="android.widget.LinearLayout", instance=1)
    assert texts(rows.clone().child(className="android.widget.TextView")) == ["中文 😀", "more"]
    second = Selector(scrollable=True).child(className="android.widget.TextView", instance=2)
    assert texts(second) == ["中文 😀"]


def test_a_match_without_the_wanted_child_gives_way_to_the_next():
    assert texts(Selector(className="android.widget.LinearLayout").child(text="off")) == ["off"]


def test_a_node_reached_in_two_ways_counts_once():
    assert texts(Selector(className="android.widget.TextView").sibling(text="on")) == ["on"]


@pytest.mark.parametrize(
    "selector",
    [
        {"colour": "red"},
        {"text": 5},
        {"clickable": "true"},
        {"instance": True},
        {"textMatches": "("},
        {"textMatches": "a{99999999999}"},
        {"childOrSibling": ["child"], "childOrSiblingSelector": []},
        {"childOrSibling": ["uncle"], "childOrSiblingSelector": [{}]},
        {"childOrSibling": ["child"], "childOrSiblingSelector": ["x"]},
        {"childOrSibling": 3},
        {"childOrSibling": ["sibling"] * 100, "childOrSiblingSelector": [{}] * 100},
    ],
)
def test_what_is_no_selector_is_refused(selector):
    with pytest.raises(ValueError):
        list(find(TREE, selector))


def test_long_chains_of_siblings_end_soon():
    wide = Node(children=[row(*(leaf(str(i)) for i in range(20))) for _ in range(20)])
    chain = {"childOrSibling": ["sibling"] * 30, "childOrSiblingSelector": [{}] * 29 + [{"text": "none"}]}
    assert list(find(wide, chain)) == []


KEYS = st.sampled_from(["text", "textMatches", "instance", "childOrSibling", "childOrSiblingSelector", "mask"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["child", "sibling", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(KEYS, JSON, max_size=4))
def test_any_json_object_finds_nodes_or_is_refused(selector):
    try:
        assert all(found.node in list(TREE.walk()) for found in find(TREE, selector))
    except ValueError:
        pass


def test_a_search_ends_even_if_no_single_match_takes_too_long(monkeypatch):
    monkeypatch.setattr("coach_gym.envs.phone.servers.uiautomator.selectors.MOST_SECONDS", 0.3)
    many = Node(cls="android.widget.FrameLayout", children=[leaf("a" * 40) for _ in range(1000)])
    began = time.thread_time()
    with pytest.raises(TooSlow, match="search of the screen takes longer than 0.3 s"):
        list(find(many, {"textMatches": r"(?:(?:[\w.]|[a-zA-Z]){1,6}){1,8}[!?]|.*", "textContains": "b"}))
    assert time.thread_time() - began < 3
