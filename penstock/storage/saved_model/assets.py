"""Files that a graph names by constants and that travel with a SavedModel.

The graph's collection ``saved_model_assets`` has an ``AssetFileDef`` for each, inside an ``Any``
whose type is called as TensorFlow calls it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from google.protobuf.any_pb2 import Any as AnyMessage
from tensorboard.compat.proto import meta_graph_pb2

from penstock.foundation.base import dtypes
from penstock.foundation.formats import files
from penstock.foundation.formats.inside import path_inside
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.tensor import Tensor
from penstock.storage.export import names
from penstock.storage.saved_model import constants

_TYPE_URL = "type.googleapis.com/tensorflow.AssetFileDef"
_CHUNK = 1 << 20


def add_to_collection(graph: Graph, tensors: Iterable[Any] | None) -> dict[str, str]:
    """Files the assets in the graph's collection.

    Args:
      graph: the graph.
      tensors: scalar string constants, each a path.

    Returns:
      From the names that the files get to their paths; files of one name but other content get
      names of their own.

    Raises:
      TypeError: something else than a scalar string constant.
      ValueError: an empty path.
    """
    sources: dict[str, str] = {}
    for tensor in tensors or ():
        path = _path_of(tensor)
        name = _unused_name(path, sources)
        definition = meta_graph_pb2.AssetFileDef(filename=name)
        definition.tensor_info.name = tensor.name
        item = AnyMessage(type_url=_TYPE_URL, value=definition.SerializeToString())
        graph.add_to_collection(constants.ASSETS_KEY, item)
        sources[name] = path
    return sources


def _path_of(tensor: Any) -> str:
    if not isinstance(tensor, Tensor) or tensor.op.op_def.role != "constant":
        raise TypeError(f"an asset must be a constant tensor with a path; found {tensor!r}")
    value = tensor.op.attrs["value"]
    if tensor.dtype is not dtypes.string or value.size != 1:
        raise TypeError(
            f"asset {tensor.name!r} must be a scalar string; it is {tensor.dtype.name} of shape"
            f" {list(value.shape)}"
        )
    path = os.fsdecode(value.reshape(-1)[0])
    if not path:
        raise ValueError(f"asset {tensor.name!r} is an empty path")
    return path


def _unused_name(path: str, sources: dict[str, str]) -> str:
    name = base = os.path.basename(path)
    if base not in sources or sources[base] == path or _same_content(path, sources[base]):
        return base
    number = 1
    while name in sources:
        name = f"{base}_{number}"
        number += 1
    return name


def _same_content(first: str, second: str) -> bool:
    if files.stat(first).length != files.stat(second).length:
        return False
    with files.open_file(first, "rb") as one, files.open_file(second, "rb") as other:
        while chunk := one.read(_CHUNK):
            if chunk != other.read(_CHUNK):
                return False
    return True


def copy_files(sources: dict[str, str], folder: str) -> None:
    """Copies assets into the folder; a name that is there already stays as it is."""
    if sources:
        files.makedirs(folder)
    for name, path in sources.items():
        target = os.path.join(folder, name)
        if files.exists(target):
            continue
        with files.open_file(path, "rb") as source, files.open_file(target, "wb") as sink:
            while chunk := source.read(_CHUNK):
                sink.write(chunk)


def paths_by_tensor(export_dir: str, meta_graph: Any, import_scope: str | None) -> dict[str, str]:
    """Where the assets of a loaded MetaGraph are, by the names of the tensors that say so.

    Raises:
      tf.errors.PermissionDeniedError: one is not in the folder of assets.
    """
    definitions = list(meta_graph.asset_file_def)
    if not definitions and constants.ASSETS_KEY in meta_graph.collection_def:
        for item in meta_graph.collection_def[constants.ASSETS_KEY].any_list.value:
            definition = meta_graph_pb2.AssetFileDef()
            definition.ParseFromString(item.value)
            definitions.append(definition)
    folder = os.path.join(export_dir, constants.ASSETS_DIRECTORY)
    return {
        names.with_scope(d.tensor_info.name, import_scope): path_inside(
            folder, d.filename, f"the asset of {d.tensor_info.name!r}"
        )
        for d in definitions
    }
