"""Names of layers: a class's in snake case, made unique in the graph.

State of a graph: how many objects of each name it has.  Layers of ``tf.layers`` count from 1
(``dense_1`` is the first), those of Keras begin without a number.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Any

from penstock.foundation.graph import scopes

_COUNTS = "layer_base.names"


def snake_case(name: str) -> str:
    """``BasicLSTMCell`` as ``basic_lstm_cell``; a private name gets the prefix ``private``."""
    separated = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    text = re.sub(r"([a-z])([A-Z])", r"\1_\2", separated).lower()
    return f"private{text}" if text.startswith("_") else text


def unique_name(
    base: str, zero_based: bool, namespace: str = "", avoided: Container[str] = ()
) -> str:
    """``base`` with the number that follows in the default graph.

    Args:
      base: the name to number.
      zero_based: whether the first has no number.
      namespace: names of different namespaces are counted apart.
      avoided: names that are passed over.
    """
    counts: dict[Any, int] = scopes.get_default_graph().attached.setdefault(_COUNTS, {})
    key = (namespace, base)
    while True:
        count = counts.get(key, 0)
        counts[key] = count + 1
        number = count if zero_based else count + 1
        name = f"{base}_{number}" if number else base
        if name not in avoided:
            return name


def get_uid(prefix: str = "") -> int:
    """How often this was asked for in the default graph, for a prefix: 1 at first."""
    counts: dict[Any, int] = scopes.get_default_graph().attached.setdefault(_COUNTS, {})
    counts[prefix] = counts.get(prefix, 0) + 1
    return counts[prefix]


def reset_uids() -> None:
    """Begins all numbers of the default graph anew, those of layers' names too."""
    scopes.get_default_graph().attached.pop(_COUNTS, None)
