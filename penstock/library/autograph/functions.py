"""A function from its converted definition: with the globals, closure and defaults of the old one.

The definition is compiled under the name of the user's file, and its nodes keep their places: so a
traceback, a debugger and the messages about nodes show the lines that the user has written.

State: the code of the functions that were converted; the operators, once they are loaded.
"""

from __future__ import annotations

import ast
import copy
import inspect
import weakref
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from penstock.library.autograph.rewriting import rewritten
from penstock.library.autograph.sources import SourceError, source_of
from penstock.library.autograph.trees import statements

_LEFT = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_OPERATORS = "ag__"
_operators: list[ModuleType] = []
_codes: weakref.WeakKeyDictionary[CodeType, CodeType] = weakref.WeakKeyDictionary()


def use_operators(module: ModuleType) -> None:
    """Says what ``ag__`` is; the module itself does, since its operators convert functions."""
    _operators[:] = [module]


def is_converted(function: FunctionType) -> bool:
    """Whether a function is a converted one, or inside of one."""
    return _OPERATORS in function.__code__.co_freevars


def definition(function: FunctionType) -> ast.FunctionDef:
    """The converted definition of a function.

    Raises:
      SourceError: it has no source, or is a generator or coroutine.
    """
    if function.__code__.co_flags & _LEFT:
        raise SourceError(f"{function.__qualname__!r} is a generator or coroutine")
    node = copy.deepcopy(source_of(function))
    node.decorator_list, node.returns = [], None
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    nothing = ast.copy_location(ast.Constant(None), node)
    node.args.defaults = [nothing for _ in node.args.defaults]
    node.args.kw_defaults = [d and nothing for d in node.args.kw_defaults]
    return rewritten(node)


def convert(function: FunctionType) -> FunctionType:
    """The converted function.

    Raises:
      SourceError: it has no source, or is a generator or coroutine.
    """
    code = _codes.get(function.__code__)
    if code is None:
        code = _codes[function.__code__] = _compiled(function)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(_cell(name, cells) for name in code.co_freevars)
    made = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__doc__ = function.__qualname__, function.__doc__
    made.__module__, made.__dict__ = function.__module__, dict(function.__dict__)
    return made


def _cell(name: str, cells: dict[str, CellType]) -> CellType:
    return cells[name] if name != _OPERATORS else CellType(_operators[0])


def _compiled(function: FunctionType) -> CodeType:
    node = definition(function)
    # Under its own name a function that calls itself would take that for a name of `outer`.
    name, node.name = node.name, f"{node.name}__{_OPERATORS}"
    outer_names = ", ".join([*function.__code__.co_freevars, _OPERATORS])
    (outer,) = statements(f"def outer({outer_names}):\n    pass", node)
    outer.body = [node]
    module = ast.Module([outer], [])
    ast.fix_missing_locations(module)
    whole = compile(module, function.__code__.co_filename, "exec")
    code = _inner(_inner(whole, "outer"), node.name)
    return code.replace(co_name=name, co_qualname=function.__code__.co_qualname)


def _inner(code: CodeType, name: str) -> CodeType:
    found: Any = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
    return found  # type: ignore[no-any-return]
