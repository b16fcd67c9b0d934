"""Variables as messages, as MetaGraphs hold them, for packages that register a collection."""

from __future__ import annotations

from typing import Any

from penstock.library.variables.variable import Variable


def variable_to_proto(variable: Any, export_scope: str | None = None) -> Any:
    """The message of a variable.

    Args:
      variable: the variable.
      export_scope: a scope that is taken off its names.
    """
    return variable.to_proto(export_scope)


def variable_from_proto(variable_def: Any, import_scope: str | None = None) -> Any:
    """The variable of a message.

    Args:
      variable_def: the message.
      import_scope: a scope that is put before its names.
    """
    return Variable.from_proto(variable_def, import_scope)
