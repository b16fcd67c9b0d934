"""``tf.wrap_function``: a function of the first API's style as one graph, to be cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.foundation.graph import nest
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.defaults import default_graph_scope
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.graphdef import import_graph_def
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import TensorSpec
from penstock.library.eager.concrete import ConcreteFunction, concrete


class UnliftableError(Exception):
    """A part of a graph that needs what it is not given."""


class WrappedFunction(ConcreteFunction):
    """A concrete function whose graph can be cut anew; its variables live as long as it does."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function with tensors, or what becomes tensors, by place.

        Raises:
          NotImplementedError: there are keyword arguments.
        """
        if kwargs:
            raise NotImplementedError(
                "Keyword arguments not supported when calling a wrap_function-decorated function."
            )
        given = [
            convert_to_tensor(each, argument.dtype)
            if isinstance(each, int | float | list | np.generic | np.ndarray) else each
            for each, argument in zip(args, self.graph.inputs, strict=False)
        ]  # fmt: skip
        return super().__call__(*given, *args[len(given) :])

    def prune(
        self, feeds: Any, fetches: Any, name: str | None = None, input_signature: Any = None
    ) -> WrappedFunction:
        """The part of the graph from some of its tensors to others, as a function.

        Args:
          feeds: tensors of ``graph``, a nesting: the arguments.
          fetches: tensors and operations of ``graph``, a nesting; operations give None.
          name: of the function.
          input_signature: ``(args, kwargs)`` in whose form the arguments are given; default by
            place, in the order of ``feeds``.

        Raises:
          UnliftableError: a fetch needs an argument that is not fed.
          ValueError: a feed is no tensor of the graph.
        """
        flat = [self._of_graph(each) for each in nest.flatten(feeds)]
        wrong = [each for each in flat if not isinstance(each, Tensor)]
        if wrong:
            raise ValueError(f"Feeds must be tensors, got {wrong}.")
        made = FunctionGraph(name or "pruned", outer=self.graph.outer, pass_handles=True)
        given = {t: made.add_input(t.dtype, t.sizes, t.op.name.rpartition("/")[2]) for t in flat}
        wanted = [None if f is None else self._of_graph(f) for f in nest.flatten(fetches)]
        captured = self._copy_needed(made, wanted, given)
        outputs = [
            None if one is None or isinstance(one, Operation) else _copied(made, one, given)
            for one in wanted
        ]
        made.finish([t for t in outputs if t is not None])
        left = iter(made.outputs)
        structured = [None if t is None else next(left) for t in outputs]
        specs = tuple(TensorSpec(t.shape, t.dtype, t.op.name) for t in flat)
        cut = WrappedFunction(
            made, captured, input_signature or (specs, {}),
            nest.pack_sequence_as(fetches, structured),
            [t.op.name for t in made.inputs[: len(flat)]], len(flat),
        )  # fmt: skip
        cut.made_variables = self.made_variables
        return cut

    def _of_graph(self, item: Any) -> Any:
        return self.graph.as_graph_element(item)

    def _copy_needed(
        self, made: FunctionGraph, wanted: Sequence[Any], given: dict[Tensor, Tensor]
    ) -> list[Any]:
        """Copies the nodes that are needed; what they captured."""
        needed = _needed([each for each in wanted if each is not None], given)
        count = len(self.graph.inputs) - len(self.captured_inputs)
        captured = []
        for inner, outer in zip(self.graph.inputs[count:], self.captured_inputs, strict=True):
            if inner.op in needed and inner not in given:
                sizes = inner.sizes
                given[inner] = made.add_input(inner.dtype, sizes, inner.op.name)
                captured.append(outer)
        for argument in self.graph.inputs[:count]:
            if argument.op in needed and argument not in given:
                raise UnliftableError(
                    f"Unable to lift tensor {wanted} because it depends transitively on placeholder"
                    f" {argument.op.name!r}, which is not among the feeds"
                )
        message = self.graph.as_graph_def()
        fed = {t.op for t in given}
        names = {op.name for op in needed if op not in fed}
        kept = [node for node in message.node if node.name in names]
        del message.node[:]
        message.node.extend(kept)
        replaced = {t.name: stand_in for t, stand_in in given.items() if _is_used(t, needed)}
        with default_graph_scope(made):
            import_graph_def(message, input_map=replaced, name="")
        return captured


def _needed(wanted: Sequence[Any], given: dict[Tensor, Tensor]) -> set[Operation]:
    found: set[Operation] = set()
    queue = [w if isinstance(w, Operation) else w.op for w in wanted if w not in given]
    while queue:
        op = queue.pop()
        if op in found:
            continue
        found.add(op)
        queue += [t.op for t in op.inputs if t not in given]
        queue += list(op.control_inputs)
    return found


def _is_used(tensor: Tensor, needed: set[Operation]) -> bool:
    return any(user in needed for user in tensor.uses)


def _copied(made: FunctionGraph, tensor: Tensor, given: dict[Tensor, Tensor]) -> Tensor:
    found = given.get(tensor)
    if found is not None:
        return found
    op: Any = made.get_operation_by_name(tensor.op.name)
    return op.outputs[tensor.value_index]  # type: ignore[no-any-return]


def wrap_function(fn: Callable[..., Any], signature: Any, name: str | None = None) -> Any:
    """Traces a function of the first API's style once, with the variables that it makes.

    Args:
      fn: a function of tensors, which may make variables.
      signature: a sequence with a ``TensorSpec`` for each argument that is a tensor, and the values
        of others.
      name: of the function in errors.

    Returns:
      A function of the same arguments, with ``graph``, ``inputs``, ``outputs``, ``variables`` and
      ``prune``.

    Example:
      >>> import penstock as tf
      >>> def f(x, do_add):
      ...     v = tf.Variable(5.0, use_resource=True)
      ...     return x + v if do_add else x - v
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     wrapped = tf.wrap_function(f, [tf.TensorSpec([], tf.float32), True])
      ...     _ = sess.run([v.initializer for v in wrapped.graph.variables])
      ...     float(sess.run(wrapped(1.0)))
      6.0
    """
    specs = nest.map_structure(lambda part: part, tuple(signature))
    flat = [part for part in nest.flatten(specs) if isinstance(part, TensorSpec)]
    names = [str(spec.name or "placeholder") for spec in flat]
    made = concrete(_NAME, fn, (specs, {}), names, len(names))
    wrapped = WrappedFunction(
        made.graph, made.captured_inputs, made.structured_input_signature, made.structured_outputs,
        names, len(names),
    )  # fmt: skip
    wrapped.label, wrapped.made_variables = name or _NAME, made.made_variables
    return wrapped


_NAME = "wrapped_function"
