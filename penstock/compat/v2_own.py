"""What the second API has another one of than the first: made when it is asked for."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import penstock


def public(name: str) -> Any:
    """The first API's object of a name with dots."""
    return functools.reduce(getattr, name.split("."), penstock)


def _variable() -> Any:
    every: Any = public("Variable")
    base: Any = public("contrib.eager.Variable")

    class OfAll(type(every)):  # type: ignore[misc]
        """Makes resource variables, and takes every variable for its instance."""

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            if cls is not Variable:
                return super().__call__(*args, **kwargs)
            given = inspect.signature(Variable.__init__).bind(None, *args, **kwargs).arguments
            del given["self"]
            return every(use_resource=True, **given.pop("kwargs", {}), **given)

        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, every) if cls is Variable else cls in type(instance).__mro__

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, every) if cls is Variable else cls in subclass.__mro__

    class Variable(base, metaclass=OfAll):  # type: ignore[misc]
        """A resource variable; its arguments have the order of the second API."""

        def __init__(
            self, initial_value: Any = None, trainable: Any = None, validate_shape: bool = True,
            caching_device: Any = None, name: Any = None, variable_def: Any = None,
            dtype: Any = None, import_scope: Any = None, constraint: Any = None, **kwargs: Any,
        ) -> None:  # fmt: skip
            super().__init__(
                initial_value=initial_value, trainable=trainable, validate_shape=validate_shape,
                caching_device=caching_device, name=name, variable_def=variable_def, dtype=dtype,
                import_scope=import_scope, constraint=constraint, **kwargs,
            )  # fmt: skip

    return Variable


def _initializer(name: str) -> Any:
    """An initializer whose dtype is said when it is called, not when it is made."""
    base: Any = public(name)

    class Initializer(base):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)

        def __call__(self, shape: Any, dtype: Any = penstock.float32) -> Any:
            return super().__call__(shape, dtype=dtype)

    Initializer.__name__ = Initializer.__qualname__ = base.__name__
    return Initializer


def _random_normal() -> Any:
    base: Any = _initializer("random_normal_initializer")

    class RandomNormal(base):  # type: ignore[misc]
        """Draws from a normal distribution, which is narrower than the first API's."""

        def __init__(self, mean: float = 0.0, stddev: float = 0.05, seed: Any = None) -> None:
            super().__init__(mean, stddev, seed)

    return RandomNormal


def _random_uniform() -> Any:
    base: Any = _initializer("random_uniform_initializer")

    class RandomUniform(base):  # type: ignore[misc]
        """Draws from an interval around 0, which is another than the first API's."""

        def __init__(self, minval: Any = -0.05, maxval: Any = 0.05, seed: Any = None) -> None:
            super().__init__(minval, maxval, seed)

    return RandomUniform


def _reduced_sparse(name: str) -> Callable[..., Any]:
    def reduce(
        sp_input: Any,
        axis: Any = None,
        keepdims: Any = None,
        output_is_sparse: bool = False,
        name: str | None = None,
    ) -> Any:
        function = public(f"{full}_sparse" if output_is_sparse else full)
        with public("name_scope")(name, f"Sparse_{short}"):
            return function(sp_input, axis=axis, keepdims=keepdims)

    full, short = f"sparse.{name}", name
    reduce.__name__ = reduce.__qualname__ = name
    return reduce


def _name_scope() -> Any:
    base: Any = public("name_scope")

    class name_scope(base):  # type: ignore[misc]
        """``tf.name_scope`` that always has a name."""

        def __init__(self, name: str) -> None:
            if not isinstance(name, str):
                raise ValueError("name for name_scope must be a string.")
            super().__init__(name)

    return name_scope


OWN: dict[str, Callable[[], Any]] = {
    "Variable": _variable,
    "constant_initializer": lambda: _initializer("constant_initializer"),
    "name_scope": _name_scope,
    "ones_initializer": lambda: _initializer("ones_initializer"),
    "random_normal_initializer": _random_normal,
    "random_uniform_initializer": _random_uniform,
    "saved_model.load": lambda: public("saved_model.load_v2"),
    "saved_model.save": lambda: public("saved_model.save"),
    "sparse.reduce_max": lambda: _reduced_sparse("reduce_max"),
    "sparse.reduce_sum": lambda: _reduced_sparse("reduce_sum"),
    "train.Checkpoint": lambda: public("train.Checkpoint"),
    "zeros_initializer": lambda: _initializer("zeros_initializer"),
    # Modules of the first API that the second has under other names.
    "compat": lambda: public("compat"),
    "initializers": lambda: public("keras.initializers"),
    "losses": lambda: public("keras.losses"),
    "metrics": lambda: public("keras.metrics"),
    "optimizers": lambda: public("keras.optimizers"),
}
