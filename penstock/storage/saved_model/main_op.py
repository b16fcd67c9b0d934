"""``tf.saved_model.main_op``: what a loaded graph runs first."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.operation import Operation
from penstock.library.variables import listing
from penstock.ops.control import control


def main_op() -> Operation:
    """An op that initializes global variables, local variables and tables."""
    start = listing.global_variables_initializer()
    local = listing.local_variables_initializer()
    return control.group(start, local, _tables_initializer())


def _tables_initializer() -> Operation:
    initializers = scopes.get_default_graph().get_collection(GraphKeys.TABLE_INITIALIZERS)
    return control.group(*initializers, name="init_all_tables")


def main_op_with_restore(restore_op_name: Any) -> Operation:
    """``main_op``, and after it the op that restores variables.

    Args:
      restore_op_name: that op.
    """
    with scopes.get_default_graph().control_dependencies([main_op()]):
        return control.group(restore_op_name)
