"""The accessibility forest of a screen."""

from hypothesis import given
from hypothesis import strategies as st

from coach_gym.envs.phone.servers.accessibility import forest
from coach_gym.envs.profiles import world_phone
from coach_gym.ui import Node
from tests.envs.hands import Hands

APPLICATION, INPUT_METHOD, SYSTEM = 1, 2, 3
CONTACTS = "com.google.android.contacts"


def nodes_of(window):
    return list(window.tree.nodes)


def texts(forest):
    """What android_world calls UI elements: leaves, and what has a description or scrolls."""
    nodes = [node for window in forest.windows for node in window.tree.nodes]
    shown = [node for node in nodes if not node.child_ids or node.content_description or node.is_scrollable]
    return [node.text or node.content_description for node in shown]


def test_a_screen_is_an_application_between_two_bars():
    windows = forest(world_phone(270, 600).ui()).windows
    assert [window.window_type for window in windows] == [APPLICATION, SYSTEM, SYSTEM]
    assert [window.layer for window in windows] == [0, 1, 2]
    app, status, navigation = windows
    assert (app.is_active, status.is_active) == (True, False)
    assert (app.bounds_in_screen.right, app.bounds_in_screen.bottom) == (270, 600)
    assert status.bounds_in_screen.bottom < 60 < 500 < navigation.bounds_in_screen.top


def test_the_keyboard_is_an_input_method_window():
    hands = Hands(CONTACTS)
    hands.tap("Create contact", "First name")
    windows = forest(hands.phone.ui()).windows
    assert [window.window_type for window in windows] == [APPLICATION, SYSTEM, INPUT_METHOD, SYSTEM]
    assert "q" in [node.text for node in nodes_of(windows[2])]


def test_the_shade_takes_the_place_of_the_app():
    phone = world_phone(270, 600)
    phone.shade = 1
    phone.changed()
    shown = forest(phone.ui())
    assert [node.text for node in nodes_of(shown.windows[0])] == [""]
    assert "Bluetooth" in texts(shown) and "Contacts" not in texts(shown)


def test_nodes_are_numbered_layer_by_layer_and_name_their_children():
    hands = Hands(CONTACTS)
    for window in forest(hands.phone.ui()).windows:
        nodes = nodes_of(window)
        assert [node.unique_id for node in nodes] == list(range(len(nodes)))
        assert [node.depth for node in nodes] == sorted(node.depth for node in nodes)
        children = [child for node in nodes for child in node.child_ids]
        assert sorted(children) == list(range(1, len(nodes)))
        assert all(nodes[child].depth == node.depth + 1 for node in nodes for child in node.child_ids)


def test_every_node_of_the_tree_is_in_the_forest_with_its_flags():
    hands = Hands("com.android.settings")
    root = hands.phone.ui()
    reported = sorted(
        (n.class_name, n.text, n.is_clickable, n.is_checkable, n.is_checked, n.is_scrollable, n.is_enabled)
        for window in forest(root).windows for n in nodes_of(window)[1:]
    )  # fmt: skip
    present = sorted(
        (n.cls, n.text or (n.hint if n.cls.endswith("EditText") else ""), n.clickable, n.checkable, n.checked,
         n.scrollable, n.enabled)
        for n in root.walk() if n is not root
    )  # fmt: skip
    assert reported == present


def test_an_empty_field_shows_its_hint_and_a_filled_one_its_text():
    hands = Hands(CONTACTS)
    hands.tap("Create contact", "First name")
    field = next(n for w in forest(hands.phone.ui()).windows for n in nodes_of(w) if n.hint_text == "First name")
    assert (field.text, field.is_editable, field.is_focused) == ("First name", True, True)
    hands.type("Ada")
    field = next(n for w in forest(hands.phone.ui()).windows for n in nodes_of(w) if n.hint_text == "First name")
    assert (field.text, field.text_selection_end) == ("Ada", 3)


def test_a_password_is_dots():
    secret = Node(cls="android.widget.EditText", text="hunter2", password=True)
    assert "hunter2" not in str(forest(Node(children=[secret])))


@given(st.text(alphabet=st.characters()), st.text(alphabet=st.characters(categories=["Cs", "Cc", "So"])))
def test_any_text_can_be_sent(text, desc):
    shown = forest(Node(children=[Node(text=text, desc=desc)]))
    sent = type(shown).FromString(shown.SerializeToString()).windows[0].tree.nodes[1]
    assert sent.text == "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    assert len(sent.content_description) == len(desc)
