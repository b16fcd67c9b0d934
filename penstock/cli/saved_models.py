"""SavedModels as ``inspect`` shows them: graphs with their tags, signatures, assets, variables."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.meta_graph_pb2 import AssetFileDef

from penstock.cli.graph_files import parse_message
from penstock.cli.identify import SAVED_MODEL_FILES
from penstock.cli.output import Failure, Output, shape_text
from penstock.foundation.base import dtypes
from penstock.foundation.formats import files
from penstock.foundation.formats.schema import SavedModel

_ASSETS = "saved_model_assets"


def read_saved_model(path: str) -> Any:
    """The ``SavedModel`` message of a directory, or of the file in it.

    Raises:
      Failure: there is none, or it holds no graph.
    """
    names = [f"{path}/{name}" for name in SAVED_MODEL_FILES]
    if path.endswith(SAVED_MODEL_FILES):
        names = [path]
    for name in names:
        if files.exists(name):
            message = parse_message(name, SavedModel)
            if not message.meta_graphs:
                raise Failure(f"{name}: a SavedModel without a graph")
            return message
    raise Failure(f"{path}: no {' or '.join(SAVED_MODEL_FILES)}")


def variables_prefix(path: str) -> str | None:
    """The checkpoint of a SavedModel's variables, where it has one."""
    directory = path.rpartition("/")[0] if path.endswith(SAVED_MODEL_FILES) else path
    prefix = f"{directory}/variables/variables"
    return prefix if files.exists(f"{prefix}.index") else None


def meta_graph_of(path: str, tags: set[str]) -> Any:
    """The MetaGraphDef of a SavedModel that has exactly these tags.

    Raises:
      Failure: there is none.
    """
    graphs = read_saved_model(path).meta_graphs
    for meta in graphs:
        if set(meta.meta_info_def.tags) == tags:
            return meta
    have = "; ".join(",".join(meta.meta_info_def.tags) or "(none)" for meta in graphs)
    raise Failure(f"{path}: no graph with the tags {','.join(sorted(tags))}; there are: {have}")


def describe(path: str) -> dict[str, Any]:
    """What a SavedModel holds, as JSON has it."""
    message = read_saved_model(path)
    return {
        "kind": "savedmodel",
        "path": path,
        "schema_version": message.saved_model_schema_version,
        "variables": variables_prefix(path),
        "graphs": [_graph(meta) for meta in message.meta_graphs],
    }


def _graph(meta: Any) -> dict[str, Any]:
    return {
        "tags": list(meta.meta_info_def.tags),
        "tensorflow_version": meta.meta_info_def.tensorflow_version,
        "nodes": len(meta.graph_def.node),
        "signatures": {
            key: {
                "method": signature.method_name,
                "inputs": {n: _tensor(i) for n, i in sorted(signature.inputs.items())},
                "outputs": {n: _tensor(i) for n, i in sorted(signature.outputs.items())},
            }
            for key, signature in sorted(meta.signature_def.items())
        },
        "assets": _assets(meta),
        "collections": sorted(meta.collection_def),
    }


def _tensor(info: Any) -> dict[str, Any]:
    shape = info.tensor_shape
    return {
        # A sparse tensor has three names; that of its values stands for it.
        "tensor": info.name or info.coo_sparse.values_tensor_name,
        "dtype": dtypes.as_dtype(info.dtype).name if info.dtype else "",
        "shape": None if shape.unknown_rank else [d.size for d in shape.dim],
    }


def _assets(meta: Any) -> list[str]:
    found = [asset.filename for asset in meta.asset_file_def]
    if _ASSETS in meta.collection_def:
        for item in meta.collection_def[_ASSETS].any_list.value:
            found.append(AssetFileDef.FromString(item.value).filename)
    return sorted(set(found))


def show(output: Output, facts: dict[str, Any]) -> None:
    """Prints what ``describe`` found."""
    output.title(f"{facts['path']}: SavedModel, schema version {facts['schema_version']}")
    for graph in facts["graphs"]:
        output.line()
        tags = ", ".join(graph["tags"]) or "(none)"
        made = f", made by TensorFlow {v}" if (v := graph["tensorflow_version"]) else ""
        output.title(f"graph with tags {tags}: {graph['nodes']} nodes{made}")
        rows = [
            (key, side[:-1], name, info["tensor"], info["dtype"], shape_text(info["shape"]))
            for key, signature in graph["signatures"].items()
            for side in ("inputs", "outputs")
            for name, info in signature[side].items()
        ]
        if rows:
            output.table(("signature", "side", "name", "tensor", "dtype", "shape"), rows)
        else:
            output.line("no signatures")
        methods = {key: s["method"] for key, s in graph["signatures"].items() if s["method"]}
        for key, method in methods.items():
            output.line(f"{key}: method {method}")
        if graph["assets"]:
            output.line(f"assets: {', '.join(graph['assets'])}")
