"""The first API's functions with the arguments of the second, as the rows of ``v2_rows`` say."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from penstock.compat.v2_own import public
from penstock.compat.v2_rows import ADAPTED, FIXED
from penstock.foundation.base.decorators import TFDecorator, mark

_BETWEEN = re.compile(r", (?=[a-z_]\w*(?:[:=,]|$))")


def _default(text: str) -> Any:
    if text.startswith("tf."):
        return public(text.removeprefix("tf."))
    return ast.literal_eval(text)


def _parameters(text: str) -> tuple[list[inspect.Parameter], dict[str, str]]:
    """The parameters of a row, and what each is called in the first API; ``''`` if nothing."""
    parameters, older = [], {}
    for each in _BETWEEN.split(text):
        names, _, default = each.partition("=")
        name, renamed, old = names.partition(":")
        older[name] = old if renamed else name
        value = _default(default) if default else inspect.Parameter.empty
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value)
        )
    return parameters, older


def adapted(name: str) -> Callable[..., Any]:
    """The function of the second API's name.

    Args:
      name: a name with dots, of ``ADAPTED``.
    """
    source, _, rest = ADAPTED[name].partition("(")
    function, fixed = public(source or name), FIXED.get(name, {})
    parameters, older = _parameters(rest.removesuffix(")"))
    order = list(older)
    required = [p.name for p in parameters if p.default is p.empty]
    defaults = {
        p.name: p.default for p in parameters if p.default is not p.empty and p.default is not None
    }

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        given = dict(zip(order, args))
        wrong = [each for each in kwargs if each not in older or each in given]
        given |= kwargs
        if len(args) > len(order) or wrong or any(each not in given for each in required):
            text = f"{name}() of tf.compat.v2 takes {', '.join(order)}, each once"
            raise TypeError(f"{text}; found {len(args)} by place and {', '.join(kwargs) or 'none'}")
        given = defaults | given
        return function(
            **{older[new]: value for new, value in given.items() if older[new]}, **fixed
        )

    vars(called)["__signature__"] = inspect.Signature(parameters)
    mark(called, TFDecorator("compat.v2", function, decorator_argspec=_argspec(parameters)))
    called.__name__ = called.__qualname__ = name.rpartition(".")[2]
    return called


def _argspec(parameters: list[inspect.Parameter]) -> inspect.FullArgSpec:
    defaults = tuple(p.default for p in parameters if p.default is not p.empty)
    return inspect.FullArgSpec(
        [p.name for p in parameters], None, None, defaults or None, [], None, {}
    )
