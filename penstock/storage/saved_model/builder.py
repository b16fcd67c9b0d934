"""``tf.saved_model.builder``: writing SavedModels.

State of a builder: the message so far, and the folder where variables and assets are gathered.
That is a temporary one beside the export folder, renamed by the first ``save``: whoever finds the
export folder finds a whole SavedModel.  On remote file systems, which have no such rename, files
are written in place, the message last.
"""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Iterable, Mapping
from typing import Any

from penstock.foundation.formats import files
from penstock.foundation.formats.schema import SavedModel
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.storage.checkpoint.saveable import all_saveable_objects
from penstock.storage.checkpoint.saver import Saver
from penstock.storage.export import large_graph
from penstock.storage.saved_model import assets, constants, folders


class SavedModelBuilder:
    """Gathers MetaGraphs, the variables and assets that they share, and writes a SavedModel.

    Args:
      export_dir: the folder to make; must be absent or empty.

    Raises:
      AssertionError: the folder has something in it (the class is TF's).

    Example:
      >>> import penstock as tf, tempfile
      >>> folder = tempfile.mkdtemp() + "/model"
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     w = tf.Variable(2.0, name="w")
      ...     sess.run(w.initializer)
      ...     builder = tf.saved_model.Builder(folder)
      ...     builder.add_meta_graph_and_variables(sess, [tf.saved_model.SERVING])
      ...     path = builder.save()
      >>> with tf.Session(graph=tf.Graph()) as sess:
      ...     meta = tf.saved_model.load(sess, [tf.saved_model.SERVING], folder)
      ...     float(sess.run("w:0"))
      2.0
    """

    def __init__(self, export_dir: Any) -> None:
        self._export_dir = os.fsdecode(export_dir).rstrip("/") or "/"
        if files.exists(self._export_dir) and files.listdir(self._export_dir):
            raise AssertionError(
                f"Export directory already exists, and isn't empty: {self._export_dir}. Choose"
                " another one, or delete what is in it"
            )
        self._message = SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
        self._has_variables = False
        remote = files.is_remote(self._export_dir)
        self._folder = self._export_dir if remote else files.temporary(self._export_dir)
        files.makedirs(self._folder)
        if not remote:
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def add_meta_graph_and_variables(
        self,
        sess: Any,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Iterable[Any] | None = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Adds the default graph and the values of its variables; the first thing to add.

        Args:
          sess: the session that has the variables.
          tags: what the MetaGraph is found by.
          signature_def_map: ``SignatureDef`` messages by key.
          assets_collection: constants with the paths of files to copy; when the model is loaded
            and runs ``main_op``, they are fed the paths of the copies.
          legacy_init_op: older name of ``main_op``.
          clear_devices: whether nodes lose their devices.
          main_op: operation to run when the model is loaded.
          strip_default_attrs: whether attrs with default values are left out.
          saver: a Saver for the variables; default one for all of them.

        Raises:
          AssertionError: variables were added before, or a ``TensorInfo`` is incomplete.
          KeyError: a reserved key of a signature.
          TypeError: ``main_op`` is no Operation.
          ValueError: the graph has a main op already.
        """
        if self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke"
                " `add_meta_graph()` instead."
            )
        prepared = self._prepare(
            signature_def_map, assets_collection, main_op, legacy_init_op, saver
        )
        folders.get_or_create_variables_dir(self._folder)
        prefix = folders.get_variables_path(self._folder)
        prepared.save(sess, prefix, write_meta_graph=False, write_state=False)
        self._add(prepared, tags, signature_def_map, clear_devices, strip_default_attrs)
        self._has_variables = True

    def add_meta_graph(
        self,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Iterable[Any] | None = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Adds the default graph, which shares the variables that were added first.

        The arguments and errors are those of ``add_meta_graph_and_variables``, which must have been
        called.
        """
        if not self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke"
                " `add_meta_graph_and_variables()` first."
            )
        prepared = self._prepare(
            signature_def_map, assets_collection, main_op, legacy_init_op, saver
        )
        self._add(prepared, tags, signature_def_map, clear_devices, strip_default_attrs)

    def _prepare(
        self, signatures: Any, asset_tensors: Any, main_op: Any, older: Any, saver: Any
    ) -> Saver:
        """Checks the arguments, files assets and main op in the graph, and finds the saver."""
        _check_signatures(signatures or {})
        graph = scopes.get_default_graph()
        sources = assets.add_to_collection(graph, asset_tensors)
        assets.copy_files(sources, folders.get_assets_dir(self._folder))
        main_op = older if main_op is None else main_op
        if main_op is not None:
            if not isinstance(main_op, Operation):
                raise TypeError(f"main_op needs to be an Operation: {main_op!r}")
            for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
                if graph.get_collection(key):
                    raise ValueError(f"the graph has a main op already, in collection {key!r}")
            graph.add_to_collection(constants.MAIN_OP_KEY, main_op)
        return saver or Saver(all_saveable_objects(), sharded=True, allow_empty=True)

    def _add(
        self, saver: Saver, tags: Iterable[str], signatures: Any, clear_devices: bool, strip: bool
    ) -> None:
        meta_graph = self._message.meta_graphs.add()
        meta_graph.CopyFrom(
            saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip)
        )
        meta_graph.meta_info_def.tags.extend(tags)
        for key, signature in (signatures or {}).items():
            meta_graph.signature_def[key].CopyFrom(signature)

    def _add_train_op(self, train_op: Any) -> None:
        """Files the op that trains in the graph; estimators call this."""
        if train_op is None:
            return
        if not isinstance(train_op, Tensor | Operation):
            raise TypeError(f"train_op needs to be a Tensor or Op: {train_op!r}")
        collecting.add_to_collection(constants.TRAIN_OP_KEY, train_op)

    def save(self, as_text: bool = False) -> bytes:
        """Writes the SavedModel.

        Args:
          as_text: whether ``saved_model.pbtxt`` is written in place of ``saved_model.pb``.

        Returns:
          The path of that file, as bytes as in TF.
        """
        name = (
            constants.SAVED_MODEL_FILENAME_PBTXT if as_text else (constants.SAVED_MODEL_FILENAME_PB)
        )
        files.makedirs(self._folder)
        large_graph.write(os.path.join(self._folder, name), self._message, as_text)
        if self._folder != self._export_dir:
            # An empty folder of that name may be there: renaming replaces it.
            files.replace(self._folder, self._export_dir)
            self._folder = self._export_dir
        return os.fsencode(os.path.join(self._export_dir, name))


def _check_signatures(signatures: Mapping[str, Any]) -> None:
    for key in (constants.INIT_OP_SIGNATURE_KEY, constants.TRAIN_OP_SIGNATURE_KEY):
        if key in signatures:
            raise KeyError(f"the signature key {key!r} is reserved; use another")
    for key, signature in signatures.items():
        for infos in (signature.inputs, signature.outputs):
            for name, info in infos.items():
                encoding = info.WhichOneof("encoding")
                if encoding is None:
                    raise AssertionError(
                        f"signature {key!r}: the TensorInfo {name!r} names no tensor"
                    )
                if encoding != "composite_tensor" and info.dtype == _NO_TYPE:
                    raise AssertionError(f"signature {key!r}: the TensorInfo {name!r} has no dtype")


_NO_TYPE = 0  # DT_INVALID
