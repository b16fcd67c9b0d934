"""Pickles of plain values and arrays: what data sets of the time of Python 2 are kept in.

A pickle may name any function of Python and have it called.  Read here is one that names nothing
but what NumPy writes an array of numbers with; lists, dicts, strings and numbers name nothing.
"""

from __future__ import annotations

import codecs
import pickle
import zipfile
from collections.abc import Callable
from typing import IO, Any

import numpy as np

from penstock.foundation.base import errors

_RECONSTRUCT = np.zeros(0).__reduce__()[0]
_SCALAR = np.float32(0).__reduce__()[0]
_FROM_BUFFER = np.zeros(1).__reduce_ex__(5)[0]
# What NumPy 1 and 2 call the package of the functions that make an array and a number.
_PACKAGES = ("numpy.core", "numpy._core")
_KNOWN: dict[tuple[str, str], Any] = {
    ("numpy", "dtype"): np.dtype,
    ("numpy", "ndarray"): np.ndarray,
    ("_codecs", "encode"): codecs.encode,  # bytes, as older protocols write them
    **{(f"{package}.multiarray", "_reconstruct"): _RECONSTRUCT for package in _PACKAGES},
    **{(f"{package}.multiarray", "scalar"): _SCALAR for package in _PACKAGES},
    **{(f"{package}.numeric", "_frombuffer"): _FROM_BUFFER for package in _PACKAGES},
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """What a name of the file stands for."""
        if (module, name) not in _KNOWN:
            raise pickle.UnpicklingError(f"it names {module}.{name}; only arrays may be named")
        return _KNOWN[module, name]


def read(file: IO[bytes], path: str, encoding: str = "ASCII") -> Any:
    """The value that a pickle holds.

    Args:
      file: at the pickle's first byte.
      path: of the file, for errors.
      encoding: of the strings of Python 2; "bytes" leaves them bytes.

    Raises:
      tf.errors.DataLossError: it is no pickle, or names more than plain values and arrays.
    """
    try:
        return _Reader(file, encoding=encoding).load()
    except (pickle.UnpicklingError, EOFError, *_BROKEN) as error:
        raise errors.DataLossError(
            None, None, f"{path} is no pickle of plain values and arrays: {error}"
        ) from None


_BROKEN = (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError, MemoryError)
_HEADERS: dict[tuple[int, int], Callable[[Any], Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_arrays(path: str) -> dict[str, np.ndarray]:
    """The arrays of an ``.npz`` file, those of objects included, by their names.

    Raises:
      tf.errors.DataLossError: it is no such file, or its objects are more than plain values.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return {
                name.removesuffix(".npy"): _array(archive, name, path)
                for name in archive.namelist()
            }
    except (zipfile.BadZipFile, EOFError, *_BROKEN) as error:
        raise errors.DataLossError(
            None, None, f"{path} is no file of NumPy's arrays: {error}"
        ) from None


def _array(archive: zipfile.ZipFile, name: str, path: str) -> np.ndarray:
    with archive.open(name) as file:
        version = np.lib.format.read_magic(file)
        if version not in _HEADERS:
            raise ValueError(f"its format is {version}; known are {', '.join(map(str, _HEADERS))}")
        shape, _, dtype = _HEADERS[version](file)
        if dtype.hasobject:
            found = np.empty(shape, object)
            found[...] = read(file, path)
            return found
    with archive.open(name) as file:
        plain: np.ndarray = np.lib.format.read_array(file, allow_pickle=False)
        return plain
