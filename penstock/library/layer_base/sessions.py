"""The session in which layers' weights have their values, as Keras finds one.

State: one session of the process, for programs that open none; of a graph, the variables of its
layers and which of them are known to have a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakSet

import numpy as np

from penstock.engine.session.session import Session
from penstock.foundation.graph import defaults, scopes
from penstock.library.layer_base import settings
from penstock.library.variables import initialized, listing
from penstock.ops.array.constant import placeholder

_TRACKED = "layer_base.tracked_variables"
_READY = "layer_base.ready_variables"
_ASSIGNS = "layer_base.assigns"
_session: Any = None


def track_variable(variable: Any) -> None:
    """Notes a variable of a layer, which ``get_session`` will initialize."""
    if variable.graph.executes:
        return  # it has its value
    attached = variable.graph.attached
    attached.setdefault(_TRACKED, []).append(variable)


def get_session(op_input_list: Sequence[Any] = ()) -> Any:
    """The default session, or one of Keras's own; the variables of layers are initialized in it.

    Args:
      op_input_list: tensors; Keras's own session is of the graph of the first, else of the default.
    """
    global _session
    of_inputs = (one.graph for one in op_input_list if hasattr(one, "graph"))
    graph = next(of_inputs, scopes.get_default_graph())
    found = defaults.get_default_session()
    if found is None:
        if _session is None or _session.graph is not graph:
            _session = Session(graph=graph)
        found = _session
    if not settings.initializes_manually():
        initialize_tracked(found)
    return found


def set_session(session: Any) -> None:
    """Makes ``session`` Keras's own."""
    global _session
    _session = session


def clear_session() -> None:
    """Begins a new default graph, and forgets Keras's session."""
    global _session
    graph = scopes.get_default_graph()
    if graph.executes:  # names are counted anew, and models are of a new graph
        for key in [key for key in graph.attached if key.startswith("layer_base.")]:
            del graph.attached[key]
        return
    scopes.reset_default_graph()
    _session = None


def initialize_tracked(session: Any) -> None:
    """Initializes, in a session, the variables of layers that have no values yet."""
    attached = session.graph.attached
    ready: WeakSet[Any] = attached.setdefault(_READY, WeakSet())
    waiting = [v for v in attached.get(_TRACKED, ()) if v not in ready]
    if not waiting:
        return
    with session.graph.as_default():
        known = session.run([initialized.is_variable_initialized(v) for v in waiting])
        lacking = [v for v, has in zip(waiting, known, strict=True) if not has]
        session.run(listing.variables_initializer(lacking))
    ready.update(waiting)


def values_of(variables: Sequence[Any]) -> list[Any]:
    """The values of variables, as arrays."""
    if variables and variables[0].graph.executes:
        with variables[0].graph.as_default():
            return [variable.numpy() for variable in variables]
    return list(get_session().run(list(variables))) if variables else []


def set_values(pairs: Sequence[tuple[Any, Any]]) -> None:
    """Gives variables the values beside them; each variable gets one placeholder and one assign."""
    if not pairs:
        return
    if pairs[0][0].graph.executes:
        for variable, value in pairs:
            with variable.graph.as_default():
                variable.assign(np.asarray(value, variable.dtype.as_numpy_dtype))
        return
    session = get_session()
    known: dict[int, Any] = session.graph.attached.setdefault(_ASSIGNS, {})
    assigns, feed = [], {}
    with session.graph.as_default():
        for variable, value in pairs:
            if id(variable) not in known:
                fed = placeholder(variable.dtype.base_dtype, variable.shape)
                known[id(variable)] = fed, variable.assign(fed), variable
            fed, assign, _ = known[id(variable)]
            assigns.append(assign)
            feed[fed] = value
    session.run(assigns, feed)
