"""Whether the attrs of a ``NodeDef`` fit its op type.

An attr that the op type does not have is an error, with three exceptions: those that start with
``_``, which are remarks; those that a later TensorFlow added, where they leave the meaning as it
was; and those that the graph's own op list describes, where they have its default.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.foundation.graph import node_message
from penstock.foundation.graph.external import ATTR as _EXTERNAL
from penstock.foundation.opdef.opdef import REQUIRED, OpDef

# A remark on nodes: their float32 outputs may travel between tasks as 16 bits.
COMPRESS = "_compress"
# A remark on constants of a step: the memory that they are in.
MEMORY = "_memory"
_FIELDS = {"string": "s", "int": "i", "float": "f", "bool": "b"}


def check(node: Any, definition: OpDef, op_list: Any = None) -> set[str]:
    """Checks the attrs of a node against its op type.

    Args:
      node: the ``NodeDef``.
      definition: its op type.
      op_list: the ``OpList`` of the program that made the graph, or None.

    Returns:
      The names of the attrs to leave out: a later TensorFlow's, of no effect here.

    Raises:
      ValueError: an attr that the op type does not have, of another kind, or missing.
    """
    known = definition.attrs
    ignored = set()
    for key, value in node.attr.items():
        if key in known:
            _check_kind(node, key, known[key].kind, value)
        elif not key.startswith("_"):
            _check_unknown(node, key, value, definition, op_list)
            ignored.add(key)
    for key, attr in known.items():
        if attr.default is REQUIRED and key not in node.attr and not _is_outside(node, key):
            raise ValueError(f"node {node.name!r} ({node.op}) lacks attr {key!r} ({attr.kind})")
    return ignored


def _is_outside(node: Any, key: str) -> bool:
    """Whether the attr is the value of a large constant, which lies in a file of its own."""
    return key == "value" and _EXTERNAL in node.attr


def _check_kind(node: Any, key: str, kind: str, value: Any) -> None:
    field = value.WhichOneof("value")
    wanted = "list" if kind.startswith("list(") else _FIELDS.get(kind, kind)
    if field not in (None, wanted, "placeholder"):
        raise ValueError(
            f"node {node.name!r} ({node.op}): attr {key!r} must be a {kind}; found {value}".strip()
        )


def _check_unknown(node: Any, key: str, value: Any, definition: OpDef, op_list: Any) -> None:
    known, later = sorted(definition.attrs), definition.later.get(key)
    if later is not None and later.default is REQUIRED:
        return
    if key == "metadata" and node.op.endswith(("Dataset", "DatasetV2")):
        return
    if later is not None:
        default = node_message.attr_value(later.default, later)
    else:
        default = _default_in(op_list, node.op, key)
    if default is None:
        raise ValueError(
            f"node {node.name!r} ({node.op}): no attr of {node.op} is called {key!r}; it has"
            f" {known}"
        )
    same = value.SerializeToString() in (b"", default.SerializeToString())
    if not same and not _has_no_effect(node, key):
        found, usual = (str(v).strip() or "nothing" for v in (value, default))
        raise ValueError(
            f"node {node.name!r} ({node.op}): attr {key!r} of a later version has {found}; only"
            f" its default, {usual}, means what {node.op} with {known} does"
        )


def _has_no_effect(node: Any, key: str) -> bool:
    """The factor of a batch normalization's averages counts in training alone."""
    training = node.attr["is_training"].b if "is_training" in node.attr else True
    return key == "exponential_avg_factor" and not training


def _default_in(op_list: Any, op_type: str, key: str) -> Any:
    rows: Iterable[Any] = op_list.op if op_list is not None else ()
    for row in rows:
        if row.name == op_type:
            for attr in row.attr:
                if attr.name == key and attr.HasField("default_value"):
                    return attr.default_value
    return None
