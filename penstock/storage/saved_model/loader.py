"""``tf.saved_model.loader``: SavedModels read into a session."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from penstock.foundation.base import errors
from penstock.foundation.formats import files
from penstock.foundation.formats.schema import SavedModel
from penstock.foundation.graph import scopes
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation
from penstock.storage.checkpoint.saveable import all_saveable_objects
from penstock.storage.checkpoint.saver import Saver, import_meta_graph
from penstock.storage.export import large_graph, message_files
from penstock.storage.saved_model import assets, constants, folders, tensor_info


def maybe_saved_model_directory(export_dir: Any) -> bool:
    """Whether a folder has the file of a SavedModel, binary or text."""
    return any(files.exists(path) for path in _paths(os.fsdecode(export_dir)))


def contains_saved_model(export_dir: Any) -> bool:
    """Whether a folder has the file of a SavedModel, binary or text."""
    return maybe_saved_model_directory(export_dir)


def _paths(export_dir: str) -> list[str]:
    names = (constants.SAVED_MODEL_FILENAME_PB, constants.SAVED_MODEL_FILENAME_PBTXT)
    return [os.path.join(export_dir, name) for name in names]


def parse_saved_model(export_dir: Any) -> Any:
    """Reads the ``SavedModel`` message in a folder.

    Raises:
      OSError: there is none, or it cannot be parsed.
    """
    folder = os.fsdecode(export_dir)
    for path in _paths(folder):
        if files.exists(path):
            message = message_files.read_message(path, SavedModel)
            for meta_graph in message.meta_graphs:
                large_graph.locate(meta_graph.graph_def, folder)
            return message
    raise OSError(f"SavedModel file does not exist at: {' or '.join(_paths(folder))}")


def load(
    sess: Any, tags: Iterable[str], export_dir: Any, import_scope: str | None = None,
    **saver_kwargs: Any,
) -> Any:  # fmt: skip
    """Loads a MetaGraph of a SavedModel: its nodes, the values of its variables, its main op run.

    Args:
      sess: the session; nodes go into its graph.
      tags: the tags of the MetaGraph, exactly.
      export_dir: the SavedModel's folder.
      import_scope: name scope for the nodes.
      **saver_kwargs: further arguments of ``import_meta_graph``.

    Returns:
      The ``MetaGraphDef``, with its signatures.

    Raises:
      OSError: there is no SavedModel.
      RuntimeError: it has no MetaGraph of these tags.
    """
    loader = SavedModelLoader(export_dir)
    return loader.load(sess, tags, import_scope, **saver_kwargs)


class SavedModelLoader:
    """A SavedModel that has been read, to be loaded as a whole or step by step.

    Args:
      export_dir: the folder.
    """

    def __init__(self, export_dir: Any) -> None:
        self._export_dir = os.fsdecode(export_dir)
        self._variables_path = folders.get_variables_path(self._export_dir)
        self._saved_model = parse_saved_model(export_dir)

    @property
    def export_dir(self) -> str:
        """The folder."""
        return str(self._export_dir)

    @property
    def variables_path(self) -> str:
        """Prefix of the checkpoint with the variables."""
        return self._variables_path

    @property
    def saved_model(self) -> Any:
        """The ``SavedModel`` message."""
        return self._saved_model

    def get_meta_graph_def_from_tags(self, tags: Iterable[str]) -> Any:
        """The MetaGraph that has these tags and no others.

        Raises:
          RuntimeError: there is none.
        """
        wanted = {tags} if isinstance(tags, str) else set(tags)
        for meta_graph in self._saved_model.meta_graphs:
            if set(meta_graph.meta_info_def.tags) == wanted:
                return meta_graph
        found = [sorted(m.meta_info_def.tags) for m in self._saved_model.meta_graphs]
        raise RuntimeError(
            f"MetaGraphDef associated with tags {sorted(wanted)} could not be found in SavedModel"
            f" {self._export_dir}; it has {found}"
        )

    def load_graph(
        self, graph: Graph, tags: Iterable[str], import_scope: str | None = None, **kwargs: Any
    ) -> Saver | None:
        """Adds the nodes of a MetaGraph to a graph; returns the Saver that it describes."""
        with graph.as_default():
            return import_meta_graph(
                self.get_meta_graph_def_from_tags(tags), import_scope=import_scope, **kwargs
            )

    def restore_variables(
        self, sess: Any, saver: Saver | None, import_scope: str | None = None
    ) -> None:
        """Gives the variables their values.

        Raises:
          ValueError: there are variables and no saver.
        """
        with sess.graph.as_default():
            if saver is not None:
                # A model without variables may have a saver all the same, and no checkpoint.
                if files.glob(f"{self._variables_path}.*") or all_saveable_objects():
                    saver.restore(sess, self._variables_path)
            elif all_saveable_objects(scope=import_scope):
                raise ValueError("the graph has variables, so a Saver is needed to restore them")

    def run_init_ops(self, sess: Any, tags: Iterable[str], import_scope: str | None = None) -> None:
        """Runs the main op of a MetaGraph, with the assets' new paths fed."""
        meta_graph = self.get_meta_graph_def_from_tags(tags)
        op = _init_op(meta_graph, sess.graph, import_scope)
        if op is not None:
            feeds = assets.paths_by_tensor(self._export_dir, meta_graph, import_scope)
            sess.run(op, feeds)

    def load(
        self, sess: Any, tags: Iterable[str], import_scope: str | None = None, **kwargs: Any
    ) -> Any:
        """``tf.saved_model.load``."""
        tags = [tags] if isinstance(tags, str) else list(tags)
        saver = self.load_graph(sess.graph, tags, import_scope, **kwargs)
        self.restore_variables(sess, saver, import_scope)
        self.run_init_ops(sess, tags, import_scope)
        return self.get_meta_graph_def_from_tags(tags)


def _init_op(meta_graph: Any, graph: Graph, import_scope: str | None) -> Operation | None:
    """The op to run after loading: from the signature that newer writers use, or a collection."""
    key = constants.INIT_OP_SIGNATURE_KEY
    if key in meta_graph.signature_def:
        info = meta_graph.signature_def[key].outputs[key]
        try:
            return tensor_info.element_of(info, graph, import_scope)  # type: ignore[no-any-return]
        except KeyError:
            raise errors.NotFoundError(
                None, None, f"the graph has no init op {info.name!r}, which signature {key!r} names"
            ) from None
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        found = main_op_of(meta_graph, key, graph)
        if found is not None:
            return found
    return None


def main_op_of(
    meta_graph_def_to_load: Any, init_op_key: str = constants.MAIN_OP_KEY,
    graph: Graph | None = None,
) -> Operation | None:  # fmt: skip
    """The op that a collection of a MetaGraph names, in a graph that was made of it.

    Args:
      meta_graph_def_to_load: the message.
      init_op_key: the collection.
      graph: default is the default graph.

    Returns:
      The op, or None where the message has no such collection.

    Raises:
      RuntimeError: it names several.
    """
    if init_op_key not in meta_graph_def_to_load.collection_def:
        return None
    listed = meta_graph_def_to_load.collection_def[init_op_key].node_list.value
    if len(listed) != 1:
        raise RuntimeError(f"expected one init op in collection {init_op_key!r}; found {listed}")
    graph = graph or scopes.get_default_graph()
    return graph.get_collection(init_op_key)[-1]  # type: ignore[no-any-return]
