"""``tf.contrib.compiler.jit``: marks of the nodes that XLA would compile.

They are attrs of nodes, also in graphs that go to TensorFlow. Here what is marked gets a native
form (docs/native.md). The marks of a node's gradient follow from its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from penstock.foundation.graph.behavior import executing_eagerly
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import get_default_graph
from penstock.library.autodiff.register import AROUND

_KEY = ("__xla_scope",)


class _Scopes:
    """How many outermost scopes a graph has had, and how deep it is in one."""

    def __init__(self) -> None:
        self.count, self.depth = 0, 0


@contextmanager
def experimental_jit_scope(
    compile_ops: bool | Callable[[Any], bool] = True, separate_compiled_gradients: bool = False
) -> Iterator[None]:
    """Marks the nodes made inside for compilation together; scopes inside share the outer's name.

    Args:
      compile_ops: whether, or a function from a node's NodeDef that says whether.
      separate_compiled_gradients: whether gradients of these nodes get a scope of their own.

    Raises:
      RuntimeError: in eager execution.

    >>> with tf.Graph().as_default(), tf.contrib.compiler.jit.experimental_jit_scope():
    ...     marked = tf.square(2.0)
    >>> marked.op.get_attr("_XlaScope")
    b'jit_scope_0'
    """
    if executing_eagerly():
        raise RuntimeError(
            "xla.experimental.jit_scope is not supported when eager execution is enabled: write it"
            " around the making of a graph"
        )
    graph = get_default_graph()
    kept = graph.get_collection_ref(_KEY)
    if not kept:
        kept.append(_Scopes())
    scopes = kept[0]
    scopes.count += scopes.depth == 0
    scopes.depth += 1
    name = f"jit_scope_{scopes.count - 1}".encode()
    try:
        with graph._attr_scope(_marks(compile_ops, name, separate_compiled_gradients)):
            yield
    finally:
        scopes.depth -= 1


def _marks(compile_ops: Any, name: bytes, separate: bool) -> dict[str, Any]:
    def of_node(node_def: Any) -> bool:
        return bool(compile_ops(node_def))

    return {
        "_XlaCompile": of_node if callable(compile_ops) else bool(compile_ops),
        "_XlaScope": name,
        "_XlaSeparateCompiledGradients": bool(separate),
    }


def _marking(function: Callable[..., Any], op: Operation, scope: str) -> Callable[..., Any]:
    """A gradient function whose nodes are marked as ``op`` is; ``scope`` is that of all of them."""
    if not op.attrs.get("_XlaCompile"):
        return function
    name = op.attrs["_XlaScope"]
    if op.attrs.get("_XlaSeparateCompiledGradients"):
        name += f"_grad_{scope}".encode()

    def marked(op: Operation, *grads: Any) -> Any:
        with op.graph._attr_scope({"_XlaCompile": True, "_XlaScope": name}):
            return function(op, *grads)

    return marked


AROUND.append(_marking)
