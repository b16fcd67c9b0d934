"""Which variables have values: tests and reports as a step runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.handles import is_reference_variable
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables.listing import global_variables, local_variables
from penstock.ops.array import constant, slicing


def is_variable_initialized(variable: Any) -> Tensor:
    """Whether ``variable`` has a value, as a bool tensor."""
    if isinstance(variable, Tensor):
        return make_tensor("IsVariableInitialized", variable)
    result: Tensor = variable.is_initialized()
    return result


def _listed_variables(var_list: Any) -> list[Any]:
    if var_list is not None:
        return list(var_list)
    found = global_variables() + local_variables()
    if found:
        return found
    graph = scopes.get_default_graph()
    return [op.outputs[0] for op in graph.get_operations() if is_reference_variable(op)]


def assert_variables_initialized(var_list: Any = None) -> Any:
    """An op that raises FailedPreconditionError when a variable has no value.

    Args:
      var_list: variables; default is the global and local ones.

    Returns:
      The op, or None when there are no variables.
    """
    variables = _listed_variables(var_list)
    if not variables:
        return None
    graph = scopes.get_default_graph()
    ranks = []
    for variable in variables:
        with graph.colocate_with(variable.op):
            # TF takes the rank, but a rank that is statically known is folded, which reads nothing.
            ranks.append(make("_RankOfValue", variable, name="Rank"))
    if len(ranks) == 1:
        return ranks[0]
    return make("Pack", ranks, axis=0, name="stack")


def report_uninitialized_variables(
    var_list: Any = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """Names of the variables that have no value, as a 1-D string tensor.

    Args:
      var_list: variables; default is the global and local ones.

    Returns:
      A string tensor; empty when all are initialized.
    """
    variables = _listed_variables(var_list)
    with scopes.name_scope(name):
        graph = scopes.get_default_graph()
        flags = [is_variable_initialized(v) for v in variables]
        with graph.device("/cpu:0"):
            if not variables:
                return constant.constant([], dtype=dtypes.string)
            stacked = make("LogicalNot", make("Pack", flags, axis=0, name="stack"))
            names = constant.constant(
                np.array([v.op.name.encode() for v in variables], dtype=object)
            )
            return slicing.boolean_mask(names, stacked)
