"""The session of a shell: it is the default one from the start."""

from __future__ import annotations

import threading
import warnings
from typing import Any

from penstock.engine.session.session import BaseSession
from penstock.foundation.graph import scopes
from penstock.foundation.graph.graph import Graph


class InteractiveSession(BaseSession):
    """A session that is the default from its making until ``close``, for shells and notebooks.

    Warns where another one is open: each holds what its steps made.

    Args:
      target: as of ``tf.Session``.
      graph: the graph that it runs; the default one without.
      config: a ``tf.ConfigProto``.

    Example:
      >>> import penstock as tf
      >>> session = tf.InteractiveSession()
      >>> x = tf.constant([1.0, 2.0])
      >>> (x * 2).eval().tolist()  # no session has to be named
      [2.0, 4.0]
      >>> session.close()
    """

    _open = 0
    _open_lock = threading.Lock()

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        with self._open_lock:
            if InteractiveSession._open:
                warnings.warn(
                    "An interactive session is already active. This can cause out-of-memory errors"
                    " in some cases: call its close() to release what it holds",
                    stacklevel=2,
                )
            InteractiveSession._open += 1
        # Interactive sessions may be closed in any order.
        self._session_scope = scopes.default_session_scope(self, ordered=False)
        self._session_scope.__enter__()
        self._graph_scope: Any = None
        if graph is not None:
            self._graph_scope = scopes.default_graph_scope(graph, ordered=False)
            self._graph_scope.__enter__()

    def close(self) -> None:
        """Ends the session; it is no longer the default."""
        if self._closed:
            return
        super().close()
        with self._open_lock:
            InteractiveSession._open -= 1
        if self._graph_scope is not None:
            self._graph_scope.__exit__(None, None, None)
        self._session_scope.__exit__(None, None, None)
