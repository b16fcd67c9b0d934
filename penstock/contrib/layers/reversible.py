"""Layers whose inner values are computed again for the gradient instead of being kept.

``recompute_grad`` calls any function twice; ``rev_block`` computes a reversible layer's inputs from
its outputs.  ``scale_gradient`` changes gradients alone.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.contrib.framework.argument_scopes import arg_scope, current_arg_scope
from penstock.foundation.graph.scopes import control_dependencies
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autodiff.custom import custom_gradient
from penstock.library.autodiff.gradients import gradients
from penstock.library.control_flow.defun import Defun
from penstock.library.layer_base.scoped import Layer
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.scoping import variable_scope
from penstock.library.variables.variable import Variable
from penstock.ops.array.reshape import reshape
from penstock.ops.array.slicing import slice_
from penstock.ops.control.control import identity, stop_gradient, tuple_
from penstock.ops.math.addn import add_n

_SMALLEST = float(np.finfo(np.float32).tiny)


@Defun(
    python_grad_func=lambda op, grad: (grad * op.inputs[1], None),
    shape_func=lambda op: [op.inputs[0].shape],
)
def scale_gradient(inputs: Any, gradient_multiplier: Any) -> Any:
    """``inputs``, whose gradient is multiplied.

    Args:
      inputs: tensor.
      gradient_multiplier: tensor that the gradient of ``inputs`` is multiplied with; gets none.
    """
    return inputs


# ---- functions that are called again -------------------------------------------------------------


def recompute_grad(
    fn: Callable[..., Any] | None = None, use_data_dep: Any = None, tupleize_grads: bool = False
) -> Callable[..., Any]:
    """``fn``, called again for the gradient: its inner values need not be kept until then.

    Args:
      fn: from tensors to a tensor or a tuple of them; it may use resource variables and no tensor
        but its arguments. Where it takes ``is_recomputing``, it is told which call it is. None
        gives a decorator.
      use_data_dep: whether the second call waits for gradients by what it is given, not by control
        edges.
      tupleize_grads: whether no gradient is used before all are there.

    Returns:
      A function with the values and gradients of ``fn``.

    Raises:
      ValueError: ``fn`` closes over a tensor or a variable.
      TypeError: when called: it uses reference variables.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     x = tf.constant(3.0)
      ...     y = tf.contrib.layers.recompute_grad(lambda x: x * tf.square(x))(x)
      ...     sess.run([y, tf.gradients(y, x)[0]])
      [np.float32(27.0), np.float32(27.0)]
    """
    if fn is None:
        return functools.partial(
            recompute_grad, use_data_dep=use_data_dep, tupleize_grads=tupleize_grads
        )
    _check_closure(fn)

    @functools.wraps(fn)
    def wrapped(*args: Any) -> Any:
        return _recomputed(fn, args, bool(use_data_dep), tupleize_grads)

    return wrapped


def _check_closure(fn: Callable[..., Any]) -> None:
    names = getattr(getattr(fn, "__code__", None), "co_freevars", ())
    for name, cell in zip(names, getattr(fn, "__closure__", None) or (), strict=True):
        held = cell.cell_contents
        if isinstance(held, Tensor | Variable):
            kind = "Tensor" if isinstance(held, Tensor) else "Variable"
            raise ValueError(
                f"fn decorated with @recompute_grad closes over {kind} {held.name} (local variable"
                f" name: {name}). The decorated fn must not close over Tensors or Variables because"
                " gradients will NOT be computed for them through fn. Make it an argument of fn."
            )


def _recomputed(fn: Callable[..., Any], args: Sequence[Any], by_data: bool, gated: bool) -> Any:
    scope, arguments = get_variable_scope(), current_arg_scope()
    told = "is_recomputing" in inspect.signature(fn).parameters

    def call(again: bool, *inputs: Any) -> Any:
        return fn(*inputs, is_recomputing=again) if told else fn(*inputs)

    @custom_gradient
    def computed(*inputs: Any) -> Any:
        def grad(*grads: Any, variables: Any = None) -> Any:
            given = [identity(x) for x in inputs]
            # Not before the gradients have come, or nothing would be saved.
            if by_data:
                given = _after_data(grads, given)
            with control_dependencies([g for g in grads if g is not None]):
                with arg_scope(arguments), variable_scope(scope, reuse=True):
                    results = call(True, *given)
            results = list(results) if isinstance(results, list | tuple) else [results]
            found = gradients(results, [*given, *(variables or ())], grad_ys=list(grads))
            if gated:
                found = _after_data(found, found) if by_data else tuple_(found)
            if variables is None:
                return found
            return found[: len(given)], found[len(given) :]

        return call(False, *inputs), grad

    return computed(*args)


def _after_data(first: Sequence[Any], then: Sequence[Any]) -> list[Any]:
    """``then``, plus next to nothing of all of ``first``, so that they are computed after them."""
    floats = [x for x in first if x is not None and x.dtype.is_floating]
    if not floats:
        return list(then)
    parts = [reshape(slice_(x, [0] * x.shape.ndims, [1] * x.shape.ndims), []) for x in floats]
    nothing = stop_gradient(_SMALLEST * add_n(parts))
    with control_dependencies(floats):
        waiting = [None if x is None else identity(x) for x in then]
    return [x + nothing if x is not None and x.dtype == nothing.dtype else x for x in waiting]


# ---- reversible layers ---------------------------------------------------------------------------


class RevBlock(Layer):
    """Reversible layers, one after another: ``y1 = x1 + f(x2); y2 = x2 + g(y1)``.

    A gradient computes the inputs from the outputs, so that no inner value is kept.

    Args:
      f, g: from a tensor to one of its shape, or lists with one for each layer; they may use
        variables and no tensors of their surroundings.
      num_layers: number of layers; each has variables of its own.
      f_side_input, g_side_input: lists of tensors that ``f`` and ``g`` are given, too, or None.
      use_efficient_backprop: whether gradients do so; else they are the usual ones.
      name: of the variable scope.
      **kwargs: those of ``tf.layers.Layer``.

    Raises:
      AssertionError: lists of another length.

    Source: Gomez et al., "The Reversible Residual Network: Backpropagation Without Storing
    Activations".
    """

    def __init__(
        self, f: Any, g: Any, num_layers: int = 1, f_side_input: Any = None,
        g_side_input: Any = None, use_efficient_backprop: bool = True, name: Any = "revblock",
        **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(name=name, **kwargs)
        functions = [f if isinstance(f, list) else [f] * num_layers]
        functions.append(g if isinstance(g, list) else [g] * num_layers)
        if any(len(each) != num_layers for each in functions):
            raise AssertionError(
                f"f and g must be lists of num_layers={num_layers} functions; found"
                f" {[len(each) for each in functions]}"
            )
        self.f, self.g = functions
        self.num_layers = num_layers
        self.f_side_input = list(f_side_input or [])
        self.g_side_input = list(g_side_input or [])
        self._use_efficient_backprop = use_efficient_backprop

    def build(self, _: Any) -> None:
        """Does nothing: the functions make the variables."""
        self.built = True

    def call(self, inputs: Any, forward: bool = True) -> Any:
        """Outputs of inputs, or with ``forward=False`` inputs of outputs."""
        one, two = inputs
        if not forward:
            return self._inverted(one, two)
        if not self._use_efficient_backprop:
            return self._values(one, two, self.f_side_input, self.g_side_input)
        return self._with_gradient(one, two)

    def forward(self, x1: Any, x2: Any) -> Any:
        """The outputs of inputs.

        Args:
          x1, x2: tensors of one shape.
        """
        return self.apply([x1, x2])

    def backward(self, y1: Any, y2: Any) -> Any:
        """The inputs of outputs.

        Args:
          y1, y2: tensors of one shape.
        """
        return self.apply([y1, y2], forward=False)

    def _applied(self, which: str, layer: int, x: Any, side: Sequence[Any]) -> Any:
        function = (self.f if which == "f" else self.g)[layer]
        with variable_scope(f"revlayer_{layer}", use_resource=True):
            with variable_scope(which, custom_getter=self._kept):
                return function(x, list(side)) if side else function(x)

    def _kept(self, getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        variable = getter(*args, **kwargs)
        known = [*self._trainable_weights, *self._non_trainable_weights]
        if not any(variable is other for other in known):
            trained = self._trainable_weights if variable.trainable else self._non_trainable_weights
            trained.append(variable)
        return variable

    def _values(self, x1: Any, x2: Any, f_side: Sequence[Any], g_side: Sequence[Any]) -> Any:
        for layer in range(self.num_layers):
            x1 = x1 + self._applied("f", layer, x2, f_side)
            x2 = x2 + self._applied("g", layer, x1, g_side)
            if self._use_efficient_backprop:
                x1, x2 = tuple_([x1, x2])
        return x1, x2

    def _inverted(self, y1: Any, y2: Any) -> Any:
        for layer in reversed(range(self.num_layers)):
            y2 = y2 - self._applied("g", layer, y1, self.g_side_input)
            y1 = y1 - self._applied("f", layer, y2, self.f_side_input)
        return y1, y2

    def _with_gradient(self, x1: Any, x2: Any) -> Any:
        count = len(self.f_side_input)
        scope = get_variable_scope()

        @custom_gradient
        def block(x1: Any, x2: Any, *side: Any) -> Any:
            f_side, g_side = side[:count], side[count:]
            outputs = self._values(x1, x2, f_side, g_side)

            def grad(*grads: Any, variables: Any = None) -> Any:
                with variable_scope(scope, reuse=True):
                    backward = _Backward(self._applied, variables or [], f_side, g_side)
                    return backward.through(self.num_layers, outputs, grads, variables is not None)

            return outputs, grad

        return block(x1, x2, *self.f_side_input, *self.g_side_input)


class _Backward:
    """Gradients of a block, layer by layer from the last; sums of those of what layers share."""

    def __init__(
        self, applied: Callable[..., Any], variables: Sequence[Any], f_side: Any, g_side: Any
    ) -> None:
        self._applied = applied
        self._variables = variables
        self._side = {"f": list(f_side), "g": list(g_side)}
        self._of_side: dict[str, list[Any]] = {w: [None] * len(s) for w, s in self._side.items()}
        self._of_variables: dict[int, Any] = {}

    def through(self, layers: int, outputs: Any, grads: Any, with_variables: bool) -> Any:
        (y1, y2), (grad_1, grad_2) = outputs, grads
        for layer in reversed(range(layers)):
            y1, y2, grad_1, grad_2 = self._layer(layer, y1, y2, grad_1, grad_2)
        found = [grad_1, grad_2, *self._of_side["f"], *self._of_side["g"]]
        if not with_variables:
            return found
        return found, [self._of_variables.get(i) for i in range(len(self._variables))]

    def _layer(self, layer: int, y1: Any, y2: Any, grad_1: Any, grad_2: Any) -> Any:
        y1_again = stop_gradient(y1)
        g_value = self._applied("g", layer, y1_again, self._side["g"])
        x2 = stop_gradient(y2 - g_value)
        f_value = self._applied("f", layer, x2, self._side["f"])
        x1 = y1 - f_value
        through_g = gradients(g_value, y1_again, grad_2)[0]
        grad_x1 = grad_1 + through_g
        grad_x2 = gradients(f_value, x2, grad_1)[0] + grad_2
        grad_x2 = grad_x2 + gradients(f_value, x2, through_g)[0]
        made = self._shared(layer, f_value, g_value, (grad_1, through_g), grad_2)
        values = tuple_([x1, x2, grad_x1, grad_x2, *(grad for _, _, grad in made)])
        for (kind, place, _), grad in zip(made, values[4:], strict=True):
            self._add(kind, place, grad)
        return values[:4]

    def _shared(
        self, layer: int, f_value: Any, g_value: Any, f_grads: Any, g_grad: Any
    ) -> list[tuple[str, int, Any]]:
        """Gradients of variables and side inputs, with where they belong."""
        made: list[tuple[str, int, Any]] = []
        for which, value, above in (("g", g_value, (g_grad,)), ("f", f_value, f_grads)):
            mine = f"/revlayer_{layer}/{which}/"
            places = [i for i, v in enumerate(self._variables) if mine in f"/{v.name}"]
            wanted = [*(self._variables[i] for i in places), *self._side[which]]
            if not wanted:
                continue
            parts = [gradients(value, wanted, grad) for grad in above]
            for number, each in enumerate(zip(*parts, strict=True)):
                flowing = [part for part in each if part is not None]
                total = add_n(flowing) if len(flowing) > 1 else next(iter(flowing), None)
                if number < len(places):
                    made.append(("variable", places[number], total))
                else:
                    made.append((which, number - len(places), total))
        return [one for one in made if one[2] is not None]

    def _add(self, kind: str, place: int, grad: Any) -> None:
        sums: Any = self._of_variables if kind == "variable" else self._of_side[kind]
        so_far = sums.get(place) if kind == "variable" else sums[place]
        sums[place] = grad if so_far is None else so_far + grad


def rev_block(
    x1: Any, x2: Any, f: Any, g: Any, num_layers: int = 1, f_side_input: Any = None,
    g_side_input: Any = None, is_training: bool = True,
) -> Any:  # fmt: skip
    """The layer ``RevBlock``, applied.

    Args:
      x1, x2: tensors of one shape.
      f .. g_side_input: those of ``RevBlock``.
      is_training: whether gradients compute the inner values again.

    Returns:
      Two tensors of that shape.
    """
    block = RevBlock(f, g, num_layers, f_side_input, g_side_input, is_training)
    return block.forward(x1, x2)
