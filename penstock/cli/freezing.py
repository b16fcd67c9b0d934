"""``penstock freeze``: a graph with its variables as constants."""

from __future__ import annotations

from penstock.cli.graph_files import GraphFile, read_graph_file
from penstock.cli.identify import CHECKPOINTS, Kind, single
from penstock.cli.loading import load, restore
from penstock.cli.output import Failure, Output, size
from penstock.cli.saved_models import meta_graph_of, variables_prefix
from penstock.foundation.formats import files
from penstock.storage.export.frozen import convert_variables_to_constants
from penstock.storage.export.graph_file import write_graph
from penstock.storage.export.sub_graph import remove_training_nodes


def freeze_graph(
    output: Output,
    source: str,
    dest: str,
    outputs: str,
    meta: str | None,
    tags: str,
    training_nodes: bool,
) -> None:
    """Writes a frozen graph.

    Args:
      output: where to say what was done.
      source: a checkpoint with a graph, or a SavedModel.
      dest: the file; text when it ends in ``.pbtxt``.
      outputs: names of nodes (or tensors) to keep, separated by commas.
      meta: the checkpoint's graph; None for the ``.meta`` file beside it.
      tags: of the SavedModel's graph, separated by commas.
      training_nodes: whether Identity and CheckNumerics nodes stay.

    Raises:
      Failure: the graph or a node is not there.
    """
    nodes = [name.strip().partition(":")[0] for name in outputs.split(",") if name.strip()]
    if not nodes:
        raise Failure("--outputs names no node", 2)
    found = single(source, (*CHECKPOINTS, Kind.SAVED_MODEL), "a checkpoint or a SavedModel")
    prefix: str | None = found.path
    if found.kind is Kind.SAVED_MODEL:
        graph = meta_graph_of(found.path, {tag.strip() for tag in tags.split(",") if tag.strip()})
        read, prefix = GraphFile(found.path, graph.graph_def, graph), variables_prefix(found.path)
    else:
        read = _graph_of(found.path, meta)
    have = {node.name for node in read.graph.node}
    missing = [name for name in nodes if name not in have]
    if missing:
        raise Failure(f"{read.path} has no node {', '.join(map(repr, missing))}")
    session, saver = load(read)
    with session:
        if prefix is not None:
            restore(session, saver, read, prefix, [session.graph.by_name[n] for n in nodes])
        frozen = convert_variables_to_constants(session, session.graph.as_graph_def(), nodes)
    if not training_nodes:
        frozen = remove_training_nodes(frozen, nodes)
    folder, _, name = dest.rpartition("/")
    write_graph(frozen, folder or ".", name, as_text=dest.endswith(".pbtxt"))
    output.line(f"{dest}: {len(frozen.node)} nodes, {size(files.stat(dest).length)}")


def _graph_of(prefix: str, meta: str | None) -> GraphFile:
    if meta is not None:
        return read_graph_file(meta)
    name = f"{prefix.removesuffix('.safetensors')}.meta"
    if not files.exists(name):
        raise Failure(f"{prefix}: no graph beside it ({name}); --meta FILE names one")
    return read_graph_file(name)
