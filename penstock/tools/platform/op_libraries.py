"""``tf.load_op_library`` and kin: op types and file systems that come with a program.

TensorFlow loads C++ that was compiled for its runtime. Ops are written in Python here, so a library
is a Python file that defines them, as docs/writing-an-op.md shows, and their functions.

State: the libraries that were loaded, since an op type can be defined once.
"""

from __future__ import annotations

import errno
import importlib.util
import os
from pathlib import Path
from types import ModuleType

from penstock.foundation.base import errors

_loaded: dict[Path, ModuleType] = {}


def load_op_library(library_filename: str) -> ModuleType:
    """Loads a Python file that defines op types.

    Args:
      library_filename: the file; its name ends in ``.py``.

    Returns:
      the file's module, with the functions that make nodes of its ops. A file is loaded once.

    Raises:
      tf.errors.NotFoundError: if there is no such file.
      tf.errors.UnimplementedError: if it is a library of C++, which Penstock cannot run; says
        whether a Python file stands in its place.

    Example:
      >>> import pathlib
      >>> import penstock as tf
      >>> path = pathlib.Path(tf.test.get_temp_dir(), "twice.py")
      >>> _ = path.write_text("import penstock as tf\\ndef twice(x): return tf.multiply(x, 2)")
      >>> with tf.Session() as session:
      ...     print(session.run(tf.load_op_library(str(path)).twice([1, 2])))
      [2 4]
    """
    path = Path(os.fsdecode(library_filename)).resolve()
    if path not in _loaded:
        if not path.is_file():
            raise errors.NotFoundError(
                None, None, f"{library_filename}: cannot open shared object file: No such file"
                f" or directory{_instead(path)}",
            )  # fmt: skip
        if path.suffix != ".py":
            raise errors.UnimplementedError(
                None, None, f"{library_filename} is not loaded: it is compiled for TensorFlow's"
                f" runtime, and ops of Penstock are written in Python{_instead(path)}",
            )  # fmt: skip
        _loaded[path] = _module(path)
    return _loaded[path]


def load_library(library_location: str) -> None:
    """Loads op types, kernels and whatever else Python files register.

    Args:
      library_location: a file, or a folder, of which all files are loaded that end in ``.py``.

    Raises:
      OSError: there is no such file or folder.
      tf.errors.UnimplementedError: it is a library of C++; see ``tf.load_op_library``.
    """
    path = Path(os.fsdecode(library_location))
    if not path.exists():
        raise FileNotFoundError(
            errno.ENOENT, "The file or folder to load kernel libraries from does not exist.",
            str(library_location),
        )  # fmt: skip
    for each in sorted(path.glob("*.py")) if path.is_dir() else [path]:
        load_op_library(str(each))


def load_file_system_library(library_filename: str) -> None:
    """Loads a Python file that makes file systems known, by ``fsspec.register_implementation``.

    Args:
      library_filename: the file.

    Raises:
      tf.errors.NotFoundError: there is no such file.
      tf.errors.UnimplementedError: it is a library of C++, which Penstock cannot run.
    """
    load_op_library(library_filename)


def _instead(path: Path) -> str:
    """What can be done without the library."""
    if path.suffix == ".py":
        return ""
    written = path.with_suffix(".py")
    if written.is_file():
        return f"; tf.load_op_library takes {written.name} beside it"
    return "; docs/writing-an-op.md says how an op is written, and tf.load_op_library takes its .py"


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
