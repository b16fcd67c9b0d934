"""``tf_export`` and kin: decorators that note under which public names a symbol is exported.

The names are attributes of the symbol: ``_tf_api_names``, ``_tf_api_names_v1``, and for estimators
``_estimator_api_names`` and ``_estimator_api_names_v1``, as documentation tools read them.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from typing import Any

from penstock.tools.platform.decorators import unwrap

TENSORFLOW, ESTIMATOR, KERAS = "tensorflow", "estimator", "keras"
# The attributes' prefix of each kind, and the package that its names are in.
_PREFIXES = {TENSORFLOW: "_tf_api", ESTIMATOR: "_estimator_api", KERAS: "_keras_api"}
_PACKAGES = {ESTIMATOR: "estimator.", KERAS: "keras."}


class InvalidSymbolNameError(Exception):
    """A name that this decorator may not export."""


class api_export:
    """Notes the names of what it decorates.

    Args:
      *args: names with dots, without ``tf.``.
      **kwargs: ``v1``, the names in ``tf.compat.v1`` where they are others; ``api_name``, whose
        names they are; ``overrides`` and ``allow_multiple_exports``, accepted for compatibility.

    Raises:
      InvalidSymbolNameError: a name of another package.

    >>> @estimator_export("estimator.Mine", v1=["estimator.Mine", "estimator.Old"])
    ... class Mine:
    ...     pass
    >>> get_v1_names(Mine)
    ['estimator.Mine', 'estimator.Old']
    """

    def __init__(self, *args: str, **kwargs: Any) -> None:
        self._names = args
        self._names_v1 = kwargs.get("v1", args)
        self._kind = kwargs.get("api_name", TENSORFLOW)
        self._check([*self._names, *self._names_v1])

    def _check(self, names: Sequence[str]) -> None:
        package = _PACKAGES.get(self._kind)
        if package is not None and not all(name.startswith(package) for name in names):
            raise InvalidSymbolNameError(
                "Can only export symbols under package name of component. e.g."
                f" tensorflow_estimator must export all symbols under tf.estimator; found {names}"
            )
        for other in _PACKAGES.values() if package is None else ():
            if any(name.startswith(other) for name in names):
                raise InvalidSymbolNameError(
                    f"@tf_export is not allowed to export symbols under {other}*; found {names}"
                )

    def __call__(self, func: Any) -> Any:
        """Notes the names; the symbol is returned as it is."""
        _, bare = unwrap(func)
        prefix = _PREFIXES[self._kind]
        setattr(bare, f"{prefix}_names", self._names)
        setattr(bare, f"{prefix}_names_v1", self._names_v1)
        return func

    def export_constant(self, module_name: str, name: str) -> None:
        """Notes the names of a constant of a module.

        Args:
          module_name: the module's full name.
          name: the constant's.
        """
        module = sys.modules[module_name]
        prefix = _PREFIXES[self._kind]
        for suffix, names in (("constants", self._names), ("constants_v1", self._names_v1)):
            noted = vars(module).setdefault(f"{prefix}_{suffix}", [])
            noted.append((names, name))


tf_export = functools.partial(api_export, api_name=TENSORFLOW)
estimator_export = functools.partial(api_export, api_name=ESTIMATOR)
keras_export = functools.partial(api_export, api_name=KERAS)


def _noted(symbol: Any, suffix: str) -> list[str]:
    own = vars(symbol) if hasattr(symbol, "__dict__") else {}
    return [name for prefix in _PREFIXES.values() for name in own.get(f"{prefix}_{suffix}", ())]


def get_v1_names(symbol: Any) -> list[str]:
    """The names under which a symbol is exported in version 1."""
    return _noted(symbol, "names_v1")


def get_v2_names(symbol: Any) -> list[str]:
    """The names under which a symbol is exported in version 2."""
    return _noted(symbol, "names")
