"""``tfe.defun``: a Python function that is traced into a graph, which the session's compiler runs.

One graph for each combination of the arguments' dtypes and shapes (and of Python values): see
``trace``.  ``get_concrete_function`` gives the one of a combination as a function of its own
(``concrete``).

State: of a function, its traces and its concrete functions.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import origin
from penstock.foundation.graph import nest
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import get_default_graph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import TensorSpec
from penstock.library.autograph.operators import requested
from penstock.library.eager.concrete import ConcreteFunction, concrete
from penstock.library.eager.context import EagerContext
from penstock.library.eager.signature import Signature
from penstock.library.eager.tensor import EagerTensor
from penstock.library.eager.trace import Trace


def defun(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
) -> Any:
    """Makes a Python function of tensors run as one compiled step.

    Args:
      func: the function; without it, ``defun`` gives a decorator.
      input_signature: a sequence of ``TensorSpec``: what it takes; it is traced once for them.
        Without it, it is traced for each combination of dtypes, shapes and Python values.
      autograph: whether Python's control flow over tensors is converted; see ``tf.autograph``.
      experimental_autograph_options, experimental_relax_shapes: accepted for compatibility.

    Returns:
      A function of the same arguments.

    Raises:
      TypeError, ValueError: when called, arguments that the signature does not allow.

    Example:
      >>> from penstock.contrib import eager as tfe
      >>> @tfe.defun
      ... def double(x):
      ...     return x * 2
    """
    if func is None:
        return functools.partial(defun, input_signature=input_signature, autograph=autograph)
    return _wrapped(Function(func, input_signature, autograph), func)


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
    experimental_compile: bool | None = None,
) -> Any:
    """Makes a Python function of tensors run as one compiled step; it makes variables only once.

    Args:
      func: the function; without it, ``function`` gives a decorator.
      input_signature: a sequence of ``TensorSpec``: what it takes; it is traced once for them.
      autograph: whether Python's control flow over tensors is converted; see ``tf.autograph``.
      experimental_autograph_options, experimental_relax_shapes, experimental_compile: accepted
        for compatibility.

    Returns:
      A function of the same arguments.

    Raises:
      ValueError: when called, variables are made by another call than the first.

    Example:
      >>> import penstock as tf
      >>> @tf.function
      ... def size(x):
      ...     if x < 0.0:
      ...         x = -x
      ...     return x
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     float(sess.run(size(tf.constant(-2.0))))
      2.0
    """
    if func is None:
        return functools.partial(function, input_signature=input_signature, autograph=autograph)
    made = Function(func, input_signature, autograph)
    made.variables_once = True
    return _wrapped(made, func)


def _wrapped(made: Function, func: Callable[..., Any]) -> Function:
    for name in ("__name__", "__doc__", "__module__", "__qualname__"):
        if hasattr(func, name):
            setattr(made, name, getattr(func, name))
    made.__wrapped__ = func  # type: ignore[attr-defined]
    return made


class _Running:
    """Whether functions are called as they are; of the process."""

    eagerly = False


_running = _Running()
# Traces of one function from which on its caller is told why there are so many.
_MANY_TRACES = 8


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Has calls of functions run their Python, line by line, as one does who looks for an error.

    Args:
      run_eagerly: whether they do, from now on.
    """
    _running.eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Whether calls of functions run their Python."""
    return _running.eagerly


class Function:
    """What ``defun`` and ``function`` make.

    Args:
      function: the Python function.
      input_signature: what it takes, or None.
      autograph: whether its control flow is converted.
    """

    # Whether only the first trace may make variables.
    variables_once = False
    ag__left = True

    def __init__(
        self, function: Callable[..., Any], input_signature: Any = None, autograph: bool = True
    ) -> None:
        self.python_function = function
        self.input_signature = input_signature
        self._autograph = autograph
        self._signature = None if input_signature is None else Signature(input_signature, function)
        self._traces: dict[Any, Trace] = {}
        self._concrete: dict[Any, ConcreteFunction] = {}
        # The combinations of arguments it was called with, each with specs for tensors.
        self._seen: dict[Any, Any] = {}
        self._bound: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        try:
            found = self._bound.get(instance)
        except TypeError:  # what has no hash or weak references is bound anew
            return self._bind(instance)
        if found is None:
            found = self._bound[instance] = self._bind(instance)
        return found

    def _bind(self, instance: Any) -> Function:
        """The function of one object, with traces of its own."""
        reference = weakref.ref(instance)
        python = self.python_function

        @functools.wraps(python)
        def method(*args: Any, **kwargs: Any) -> Any:
            return self._convert(python)(reference(), *args, **kwargs)

        # What the signature speaks of are the arguments without the object.
        method.__signature__ = _without_first(python)  # type: ignore[attr-defined]
        made = type(self)(method, self.input_signature, autograph=False)
        made.variables_once = self.variables_once
        return _wrapped(made, method)

    def _convert(self, function: Callable[..., Any]) -> Callable[..., Any]:
        made: Callable[..., Any] = requested(function) if self._autograph else function
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the function's graph; where nodes are being built, builds its nodes."""
        if _running.eagerly:
            return self.python_function(*args, **kwargs)
        context = get_default_graph()
        if self._signature is not None:
            args, kwargs = self._signature.arguments(args, kwargs), {}
        if not isinstance(context, EagerContext):
            self._note(args, kwargs)
            return self._convert(self.python_function)(*args, **kwargs)
        flat = nest.flatten((args, kwargs))
        given = [convert_to_tensor(a) if isinstance(a, np.ndarray) else a for a in flat]
        trace = self._trace(context, args, kwargs, given)
        return trace([a for a in given if isinstance(a, EagerTensor)])

    def _trace(self, context: EagerContext, args: Any, kwargs: Any, given: Sequence[Any]) -> Trace:
        form: Any = None
        key: Any = None
        if self._signature is None:
            key = tuple([_key_of(a) for a in given])
            form = (len(args), tuple(sorted(kwargs)), repr(nest.map_structure(lambda _: 0, args)))
        trace = self._traces.get((form, key))
        if trace is None:
            self._note(args, kwargs)
            context.begin()
            name = getattr(self.python_function, "__name__", "function").strip("<>")
            context.log(f"__inference_{name}")
            trace = self._traced(context, nest.pack_sequence_as((args, kwargs), given), given)
            self._traces[form, key] = trace
            if len(self._traces) == _MANY_TRACES:
                origin.warn(_retraced(name, [key for other, key in self._traces if other == form]))
        return trace

    def _traced(self, context: EagerContext, nested: Any, given: Sequence[Any]) -> Trace:
        sizes = None if self._signature is None else [_sizes(s) for s in self._signature.specs]
        function = self._convert(self.python_function)
        first = not self._traces and not self._concrete
        trace = Trace(context, function, nested, given, sizes)
        if not self.variables_once or not trace.made_variables:
            return trace
        if first:  # the second of the two is the one that is kept, and makes none
            trace = Trace(context, function, nested, given, sizes)
        if trace.made_variables:
            raise ValueError(
                "tf.function-decorated function tried to create variables on non-first call."
            )
        return trace

    # ---- concrete functions ----------------------------------------------------------------------

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The graph for one combination of arguments, as a function of its own.

        Args:
          *args, **kwargs: arguments, or a ``TensorSpec`` in the place of a tensor; none where the
            function has an input signature.

        Raises:
          TypeError: the function does not take these.
        """
        given = self._canonical(args, kwargs)
        key = _combination(given)
        found = self._concrete.get(key)
        if found is None:
            found = self._concrete[key] = self._made_concrete(given)
        return found

    def concrete_functions(self) -> list[ConcreteFunction]:
        """A concrete function for each combination that it was called or asked with."""
        if self._signature is not None:
            return [self.get_concrete_function()]
        for args, kwargs in list(self._seen.values()):
            self.get_concrete_function(*args, **kwargs)
        return list(self._concrete.values())

    def python_signature(self) -> inspect.Signature:
        """What the Python function takes."""
        return inspect.signature(self.python_function)

    def _note(self, args: Any, kwargs: Any) -> None:
        if self._signature is None:
            given = nest.map_structure(_spec_or_value, (tuple(args), dict(kwargs)))
            self._seen.setdefault(_combination(given), given)

    def _canonical(self, args: Any, kwargs: Any) -> Any:
        """``(args, kwargs)``, all that can be by place, with named specs in place of tensors."""
        if self._signature is not None:
            args, kwargs = self._signature.specified(args, kwargs), {}
        bound = self.python_signature().bind(*args, **kwargs)
        bound.apply_defaults()
        placed: list[Any] = []
        named: dict[str, Any] = {}
        for name, parameter in bound.signature.parameters.items():
            value = bound.arguments[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                placed += [_named_specs(v, f"{name}_{i}") for i, v in enumerate(value)]
            elif parameter.kind is parameter.VAR_KEYWORD:
                named |= {key: _named_specs(value[key], key) for key in sorted(value)}
            elif parameter.kind is parameter.KEYWORD_ONLY:
                named[name] = _named_specs(value, name)
            else:
                placed.append(_named_specs(value, name))
        return tuple(placed), named

    def _made_concrete(self, given: Any) -> ConcreteFunction:
        args, _ = given
        flat = [s for s in nest.flatten(given) if isinstance(s, TensorSpec)]
        names = _distinct([str(s.name) for s in flat])
        places = [isinstance(a, TensorSpec) for a in args]
        # Values between the tensors are left out of a call by place.
        positional = sum(places) if all(p or not _has_specs(a) for p, a in zip(places, args)) else 0
        function = self._convert(self.python_function)
        name = getattr(self, "__name__", "function").strip("<>")
        first = not self._traces and not self._concrete
        found = concrete(name, function, given, names, positional)
        if not self.variables_once or not found.made_variables:
            return found
        if first:  # the second of the two is the one that is kept, and makes none
            found = concrete(name, function, given, names, positional)
        if found.made_variables:
            raise ValueError(
                "tf.function-decorated function tried to create variables on non-first call."
            )
        return found


def _combination(given: Any) -> Any:
    args, kwargs = given
    form = (len(args), tuple(sorted(kwargs)), repr(nest.map_structure(lambda _: 0, given)))
    return form, tuple([_key_of(a) for a in nest.flatten(given)])


def _spec_or_value(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = convert_to_tensor(value)
    return TensorSpec(value.shape, value.dtype) if isinstance(value, Tensor) else value


def _named_specs(value: Any, name: str) -> Any:
    """An argument with a spec for each tensor, by its own name or the argument's."""

    def named(part: Any) -> Any:
        part = _spec_or_value(part)
        if not isinstance(part, TensorSpec):
            return part
        return TensorSpec(part.shape, part.dtype, part.name or name)

    return nest.map_structure(named, value)


def _has_specs(value: Any) -> bool:
    return any(isinstance(part, TensorSpec) for part in nest.flatten(value))


def _distinct(names: list[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        made, number = name, 0
        while made in found:
            number += 1
            made = f"{name}_{number}"
        found.append(made)
    return found


def _without_first(function: Callable[..., Any]) -> inspect.Signature:
    found = inspect.signature(function)
    return found.replace(parameters=list(found.parameters.values())[1:])


def _sizes(spec: Any) -> Any:
    return None if spec.shape.dims is None else tuple(spec.shape.as_list())


def _retraced(name: str, keys: Sequence[Any]) -> str:
    """What is said of a function that is traced again and again, by the keys of its traces."""
    kinds = [set(column) for column in zip(*keys)]
    values = [i for i, some in enumerate(kinds) if len(some) > 1 and _are_values(some)]
    shapes = [i for i, some in enumerate(kinds) if len(some) > 1 and i not in values]
    why = []
    if values:
        why.append(
            f"argument {_counted(values)} was another Python value each time: give tensors, so that"
            " one trace serves all"
        )
    if shapes:
        why.append(
            f"argument {_counted(shapes)} was a tensor of another shape or type: an input_signature"
            " with None for the sizes that vary makes one trace of them"
        )
    return f"function {name!r} has been traced {_MANY_TRACES} times; {'; '.join(why)}"


def _are_values(keys: set[Any]) -> bool:
    return any(not isinstance(key, tuple) or isinstance(key[0], type) for key in keys)


def _counted(positions: Sequence[int]) -> str:
    return ", ".join(str(position + 1) for position in positions)


def _key_of(value: Any) -> Any:
    if isinstance(value, EagerTensor):
        return value.dtype, value.value.shape
    if isinstance(value, TensorSpec):
        return value.dtype, repr(value.shape), value.name
    if isinstance(value, Tensor):
        raise TypeError(f"{value!r} is of a graph; a function that is run takes values")
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value
