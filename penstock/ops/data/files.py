"""Whole files as strings, and the names of files: ReadFile, WriteFile, MatchingFiles.

Paths are local or ``scheme://`` ones; ``formats.files`` is the seam to file systems.  TensorFlow
does not call reading stateful; here it is, since what a file holds may change between steps.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from penstock.foundation.formats import files
from penstock.foundation.graph.build import make
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.strings.string_elements import boxed

_FILES = "files are not functions of tensors"


def _path(name: Any) -> str:
    return os.fsdecode(name.item() if isinstance(name, np.ndarray) else name)


def _read_file(filename: Any) -> np.ndarray:
    return boxed(files.read(_path(filename)))


def _write_file(filename: Any, contents: Any) -> None:
    path = _path(filename)
    directory = path.rpartition("/")[0]
    if directory:
        files.makedirs(directory)
    data = contents.item() if isinstance(contents, np.ndarray) else contents
    with files.open_file(path, "wb") as file:
        file.write(data)


def _matching_files(pattern: Any) -> np.ndarray:
    patterns = np.asarray(pattern, dtype=object).ravel()
    found = sorted(os.fsencode(name) for p in patterns for name in files.glob(_path(p)))
    result = np.empty(len(found), dtype=object)
    result[:] = found
    return result


def _scalar_input(name: str) -> Any:
    def rule(ctx: ShapeContext) -> Dims:
        ctx.rank(name, 0)
        return ()

    return rule


def _write_shape(ctx: ShapeContext) -> list[Dims]:
    ctx.rank("filename", 0)
    ctx.rank("contents", 0)
    return []


def _matching_shape(ctx: ShapeContext) -> Dims:
    dims = ctx["pattern"]
    if dims is not None and len(dims) > 1:
        raise ValueError(f"pattern must be a scalar or a vector; its shape is {list(dims)}")
    return (None,)


define_op(
    "ReadFile",
    "filename: string -> contents: string",
    shape=_scalar_input("filename"),
    kernel=_read_file,
    stateful=True,
    no_gradient=_FILES,
)
define_op(
    "WriteFile",
    "filename: string, contents: string ->",
    shape=_write_shape,
    kernel=_write_file,
    stateful=True,
    effect=True,
    no_gradient=_FILES,
)
define_op(
    "MatchingFiles",
    "pattern: string -> filenames: string",
    shape=_matching_shape,
    kernel=_matching_files,
    stateful=True,
    no_gradient=_FILES,
)


def read_file(filename: Any, name: str | None = None) -> Tensor:
    """The contents of a file.

    Args:
      filename: string scalar.

    Returns:
      A string scalar: the bytes as they are.

    Example:
      >>> import penstock as tf
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "note.txt")
      >>> with open(path, "w") as file:
      ...     _ = file.write("content")
      >>> with tf.Session() as session:
      ...     session.run(tf.read_file(path))
      b'content'
    """
    return make("ReadFile", filename, name=name)


def write_file(filename: Any, contents: Any, name: str | None = None) -> Operation:
    """An op that writes a file, making the directories above it.

    Args:
      filename: string scalar.
      contents: string scalar: the bytes to write.

    Returns:
      The op.
    """
    return make("WriteFile", filename, contents, name=name)


def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """The names of the files that match, in order.

    Args:
      pattern: string scalar or vector of shell patterns; only their last parts may have wildcards.

    Returns:
      A string vector, sorted.
    """
    return make("MatchingFiles", pattern, name=name)
