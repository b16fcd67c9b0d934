"""Positions of iterators as bytes, for checkpoints.

A position is nested lists and dicts of numbers, strings, None, tensors, string arrays and windows
(datasets of elements that are in memory).  It is written as JSON, the tensors beside it in NumPy's
format, together in one zip; reading it runs nothing (no pickles).
"""

from __future__ import annotations

import base64
import io
import json
import zipfile
from typing import Any

import numpy as np
import torch

from penstock.engine.resources.dataset.sources import Elements
from penstock.foundation.base import errors

_TREE = "position.json"


def encode(state: Any) -> bytes:
    """The bytes of a position.

    Raises:
      tf.errors.UnimplementedError: something in it has no such form.
    """
    arrays: list[np.ndarray] = []
    tree = json.dumps(_plain(state, arrays))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(_TREE, tree)
        for index, array in enumerate(arrays):
            with archive.open(f"{index}.npy", "w") as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
    return buffer.getvalue()


def decode(data: bytes) -> Any:
    """The position of its bytes.

    Raises:
      tf.errors.DataLossError: they are no position.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            tree = json.loads(archive.read(_TREE))
            arrays = []
            for index in range(len(archive.namelist()) - 1):
                with archive.open(f"{index}.npy") as file:
                    arrays.append(np.lib.format.read_array(file, allow_pickle=False))
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        message = f"no saved position of an iterator: {error}"
        raise errors.DataLossError(None, None, message) from None
    return _built(tree, arrays)


def _plain(value: Any, arrays: list[np.ndarray]) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, list | tuple):
        return [_plain(v, arrays) for v in value]
    if isinstance(value, dict):
        return {"dict": [[k, _plain(v, arrays)] for k, v in value.items()]}
    if isinstance(value, torch.Tensor):
        bits = value.dtype is torch.bfloat16
        arrays.append((value.view(torch.int16) if bits else value).contiguous().numpy())
        return {"bfloat16" if bits else "tensor": len(arrays) - 1}
    if isinstance(value, np.ndarray):
        items = [_plain(v, arrays) for v in value.ravel().tolist()]
        return {"array": [list(value.shape), items]}
    if isinstance(value, Elements):
        return {"elements": [_plain(e, arrays) for e in value.elements]}
    raise errors.UnimplementedError(
        None, None, f"an element of type {type(value).__name__} cannot be saved"
    )


def _built(tree: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(tree, list):
        return [_built(v, arrays) for v in tree]
    if not isinstance(tree, dict):
        return tree
    ((kind, value),) = tree.items()
    if kind == "dict":
        return {k: _built(v, arrays) for k, v in value}
    if kind == "bytes":
        return base64.b64decode(value)
    if kind == "tensor":
        return torch.from_numpy(arrays[value])
    if kind == "bfloat16":
        return torch.from_numpy(arrays[value]).view(torch.bfloat16)
    if kind == "elements":
        return Elements([tuple(_built(e, arrays)) for e in value])
    dims, items = value
    made = np.empty(len(items), object)
    for index, item in enumerate(items):
        made[index] = _built(item, arrays)
    return made.reshape(dims)
