"""Methods that objects had: NumPy's arrays are a type of C, which takes no new ones.

``np.array(x, copy=False)``, which now means "fail if it must be copied", is put back as well.

So the calls are rewritten and not the type: ``a.tostring()`` of a program's own files becomes a
call of ``called``, which is ``a.tostring`` where the object has that, and what stands in the table
where it has not. Lines and columns stay, so tracebacks show the program as it is.

What is rewritten are the program and the modules beside it. What is installed is somebody else's,
and the bytecode that Python keeps of a module is never of a rewritten one.
"""

from __future__ import annotations

import ast
import builtins
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from penstock.tf1 import restoring

_CALLED, _ARRAY = "__penstock_method__", "__penstock_array__"
_COPY = re.compile(rb"copy\s*=\s*False")
_PACKAGE = Path(__file__).resolve().parents[1]
# Folders of what is installed, wherever they are: a user's own, those that a .pth file names.
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]")


def _newbyteorder(array: Any, order: str = "S") -> Any:
    return array.view(array.dtype.newbyteorder(order))


def _ptp(array: Any, *args: Any, **kwargs: Any) -> Any:
    return sys.modules["numpy"].ptp(array, *args, **kwargs)


def _itemset(array: Any, *args: Any) -> None:
    *index, value = args
    array[_place(array, index)] = value


def _place(array: Any, index: Sequence[Any]) -> Any:
    """The place that arguments of ``itemset`` name: none, one in the flat array, or one a dim."""
    if len(index) != 1 or array.ndim == 1:
        return tuple(index)
    given = index[0]
    if isinstance(given, tuple):
        return given
    return sys.modules["numpy"].unravel_index(range(array.size)[given], array.shape)


# Method to what it was: the name that the method has now, of arrays, `array.array` and Pillow's
# images alike, or a function of NumPy's array.
METHODS: dict[str, str | Callable[..., Any]] = {
    "tostring": "tobytes",
    "fromstring": "frombytes",
    "itemset": _itemset,
    "newbyteorder": _newbyteorder,
    "ptp": _ptp,
}


def called(owner: Any, name: str) -> Any:
    """The method of an object, as it is or as it was."""
    if hasattr(owner, name):
        return getattr(owner, name)
    was = METHODS[name]
    numpy = sys.modules.get("numpy")
    if isinstance(was, str) and not isinstance(owner, ModuleType) and hasattr(owner, was):
        found = getattr(owner, was)
    elif callable(was) and numpy is not None and isinstance(owner, numpy.ndarray | numpy.generic):
        found = partial(was, owner)
    else:
        return getattr(owner, name)
    restoring.note(f"{type(owner).__name__}.{name}")
    return found


def _array_without_copy(*args: Any, **kwargs: Any) -> Any:
    restoring.note("numpy.array(copy=False)")
    return sys.modules["numpy"].array(*args, **kwargs | {"copy": None})


def array_of(owner: Any) -> Any:
    """``owner.array`` of a call with ``copy=False``, which said until NumPy 2: where it can be."""
    return _array_without_copy if owner is sys.modules.get("numpy") else owner.array


class _Calls(ast.NodeTransformer):
    """Has ``x.tostring`` be ``called(x, 'tostring')`` where it is read."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "array" and _no_copy(node):
            asked = ast.Call(ast.Name(_ARRAY, ast.Load()), [function.value], [])
            node.func = ast.fix_missing_locations(ast.copy_location(asked, function))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr not in METHODS or not isinstance(node.ctx, ast.Load):
            return node
        asked = ast.Call(ast.Name(_CALLED, ast.Load()), [node.value, ast.Constant(node.attr)], [])
        return ast.fix_missing_locations(ast.copy_location(asked, node))


def _no_copy(call: ast.Call) -> bool:
    return any(
        each.arg == "copy" and isinstance(each.value, ast.Constant) and each.value.value is False
        for each in call.keywords
    )


def _has_any(source: bytes) -> bool:
    """Whether a text may hold a call that is rewritten."""
    return _COPY.search(source) is not None or any(
        f".{name}".encode() in source for name in METHODS
    )


def compiled(source: bytes, path: str) -> CodeType:
    """The code of a program whose calls of old methods are rewritten.

    Raises:
      SyntaxError: of the program.
    """
    if not _has_any(source):
        return compile(source, path, "exec", dont_inherit=True)
    setattr(builtins, _CALLED, called)
    setattr(builtins, _ARRAY, array_of)
    tree = compile(source, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    return compile(_Calls().visit(tree), path, "exec", dont_inherit=True)


class _Loader(SourceFileLoader):
    """Loads a file with its calls rewritten, from its text, if it has any."""

    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        source = self.get_data(path)
        if not _has_any(source):
            return super().get_code(fullname)
        return compiled(source, path)


class Beside(PathFinder):
    """Finds modules as Python does, and rewrites those of the program's own folders."""

    @classmethod
    def find_spec(
        cls,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader and _is_own(spec.origin):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def _is_own(origin: str | None) -> bool:
    """Whether a file is of the program, and of no library."""
    if origin is None or origin.startswith(_libraries()) or _INSTALLED.search(origin):
        return False
    return not str(Path(origin).resolve()).startswith(_libraries())


@cache
def _libraries() -> tuple[str, ...]:
    """The folders of libraries, as they are named and as they are: thousands of files ask."""
    kinds = ("stdlib", "platstdlib", "purelib", "platlib")
    named = [Path(sysconfig.get_path(kind)) for kind in kinds] + [_PACKAGE]
    return tuple({f"{each}{os.sep}" for path in named for each in (path, path.resolve())})


def restore() -> None:
    """Has modules that are imported from now on be rewritten, where they are the program's."""
    if Beside not in sys.meta_path:
        _libraries()  # now: Python 3.13's sysconfig imports a module itself, which would ask for it
        at = sys.meta_path.index(PathFinder) if PathFinder in sys.meta_path else 0
        sys.meta_path.insert(at, Beside)
