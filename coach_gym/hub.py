"""Whether there is a model, before anything is loaded that takes seconds to import."""

import re
from pathlib import Path

SHIPPED = ("pocket", "pocket-sight")
"""The models that come with this package."""
PATIENCE = 5.0  # seconds for the hub's first answer


def require_model(name: str) -> None:
    """Checks that there is a model: a shipped one, a directory, or a hub id that was downloaded or that the hub knows.

    The hub is asked once; transformers would ask for half a minute.

    Raises:
        ValueError: There is none.
    """
    if not name.strip():  # as a path, it would be this folder
        raise ValueError("an empty name names no model; pass 'pocket', a directory or a hub id")
    if name in SHIPPED or Path(name).exists():
        return
    problem = _missing(name) if re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", name) else "a hub id has the form owner/name"
    if problem:
        raise ValueError(
            f"the model {name} cannot be loaded: there is no such directory, and {problem}; pass 'pocket', a "
            f"directory, or the id of a model that is on the hub"
        )


def _missing(hub_id: str) -> str:
    """Returns what keeps a model from being read, or nothing."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.constants import CONFIG_NAME

    try:
        if not isinstance(try_to_load_from_cache(hub_id, CONFIG_NAME), str):
            get_hf_file_metadata(hf_hub_url(hub_id, CONFIG_NAME), timeout=PATIENCE)
    except Exception as error:  # of whatever library the hub's client speaks HTTP with
        return f"the hub's model cannot be read ({' '.join(str(error).split())[:200]})"
    return ""
