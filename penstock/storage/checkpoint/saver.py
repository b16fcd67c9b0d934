"""``tf.train.Saver``: saving and restoring the variables of a graph by name.

State of a saver: the ``SaverDef`` that names its nodes; the checkpoints it wrote and still keeps,
oldest first, with their times; those it is to delete; until when old ones go; the background save
in flight, if there is one.  A saver made from a ``SaverDef`` alone finds all it needs in the graph.
"""

from __future__ import annotations

import glob
import logging
import operator
import os
from collections.abc import Sequence
from typing import Any

from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef
from tensorboard.compat.proto.saver_pb2 import SaverDef

from penstock.foundation.base import errors
from penstock.foundation.formats import files, written
from penstock.foundation.formats.checkpoint_reader import open_checkpoint
from penstock.foundation.graph import scopes
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.proto_functions import register_proto_function
from penstock.storage.checkpoint import clock, eagerly, management, object_graph, snapshot
from penstock.storage.checkpoint.builder import BulkSaverBuilder
from penstock.storage.checkpoint.saveable import all_saveable_objects
from penstock.storage.export import collection_def, large_graph, meta_graph

_LOG = logging.getLogger("penstock")
_FORMATS = ("bundle", "safetensors")


class Saver:
    """Saves and restores variables.

    Args:
      var_list: the variables: a list, or a dict from names in the checkpoint to variables; default
        all global variables and saveable objects.
      reshape: whether a checkpoint's tensor may have another shape than its variable, of as many
        elements.
      sharded: whether each device writes a file of its own.
      max_to_keep: how many checkpoints are kept; None or 0 keeps all.
      keep_checkpoint_every_n_hours: one checkpoint in so many hours is kept for good.
      name: name of the scope of the nodes; default ``save``.
      restore_sequentially: accepted for compatibility; tensors are read one after the other.
      saver_def: a ``SaverDef`` whose nodes the graph has already.
      builder: what adds the nodes; default a ``BulkSaverBuilder``.
      defer_build: whether to add the nodes only when ``build`` is called.
      allow_empty: whether there may be nothing to save.
      write_version: ``SaverDef.V2`` (default) or ``SaverDef.V1``, the older format.
      pad_step_number: whether step numbers have eight digits at least.
      save_relative_paths: whether the state file holds paths relative to itself.
      filename: the prefix that the nodes use when none is fed.
      format: ``"bundle"``, TensorFlow's own, or ``"safetensors"``.
      durable: whether a save returns only when all of it is on the disk (fsync), so that a loss of
        power leaves a complete checkpoint, too; slower by what the disk needs.

    Raises:
      TypeError: ``var_list`` holds something else than variables.
      ValueError: there is nothing to save, two variables have one name, or options do not fit.

    Example:
      >>> import penstock as tf, tempfile
      >>> prefix = tempfile.mkdtemp() + "/model"
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     v = tf.Variable(1.0, name="v")
      ...     sess.run(v.initializer)
      ...     saver = tf.train.Saver()
      ...     path = saver.save(sess, prefix, global_step=3)
      ...     sess.run(v.assign_add(1.0))
      ...     saver.restore(sess, path)
      ...     path.endswith("model-3"), sess.run(v)
      np.float32(2.0)
      (True, np.float32(1.0))
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = SaverDef.V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
        format: str = "bundle",
        durable: bool = False,
    ) -> None:
        if defer_build and var_list:
            raise ValueError("defer_build leaves it open what is saved; give no var_list with it")
        if format not in _FORMATS:
            raise ValueError(f"format must be one of {_FORMATS}; found {format!r}")
        if format != "bundle" and (sharded or write_version == SaverDef.V1):
            raise ValueError(f"format {format!r} is neither sharded nor of version V1")
        self._var_list, self._reshape, self._sharded = var_list, reshape, sharded
        self._max_to_keep = max_to_keep
        self._keep_hours = keep_checkpoint_every_n_hours
        self._name, self._restore_sequentially = name, restore_sequentially
        self.saver_def = saver_def
        self._builder, self._allow_empty = builder, allow_empty
        self._write_version, self._format = write_version, format
        self._durable = durable
        self._pad_step_number, self._relative = pad_step_number, save_relative_paths
        self._filename = filename
        self._is_built = self._is_empty = False
        self._graph: Graph | None = None
        self._last: list[tuple[str, float]] = []
        self._doomed: list[tuple[str, float]] = []
        self._keep_after = 0.0
        self._background = snapshot.Background()
        self._values: dict[str, Any] | None = None
        if not defer_build:
            self.build()
        if self.saver_def is not None and self._values is None:
            self._check_saver_def()
            self._write_version = self.saver_def.version

    def build(self) -> None:
        """Adds the nodes, where ``defer_build`` left that to be done.

        Raises:
          ValueError: there is nothing to save.
        """
        if self._is_built:
            return
        self._is_built = True
        if scopes.get_default_graph().executes:
            self._values = eagerly.named(self._var_list)
            self.saver_def = SaverDef(max_to_keep=self._max_to_keep or 0)
            self._keep_after = clock.now() + self._keep_hours * 3600
            return
        self._graph = scopes.get_default_graph()
        if self.saver_def is None:
            self._add_nodes()
        elif self._name:
            # With a SaverDef the name is the scope that its graph was imported into.
            scope = self._name.rstrip("/")
            definition = SaverDef()
            definition.CopyFrom(self.saver_def)
            for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
                setattr(definition, field, f"{scope}/{getattr(definition, field)}")
            self.saver_def = definition
        if self.saver_def is not None:
            self._check_saver_def()
            hours = self.saver_def.keep_checkpoint_every_n_hours
            self._keep_after = clock.now() + hours * 3600

    def _add_nodes(self) -> None:
        if self._var_list is None:
            self._var_list = all_saveable_objects()
        if not self._var_list:
            if not self._allow_empty:
                raise ValueError("No variables to save; allow_empty=True allows that")
            self._is_empty = True
            return
        builder = self._builder or BulkSaverBuilder(
            self._write_version, self._format, self._durable
        )
        self.saver_def = builder.build(
            self._var_list,
            reshape=self._reshape,
            sharded=self._sharded,
            max_to_keep=self._max_to_keep,
            keep_checkpoint_every_n_hours=self._keep_hours,
            name=self._name,
            restore_sequentially=self._restore_sequentially,
            filename=self._filename,
        )

    def _check_saver_def(self) -> None:
        if not isinstance(self.saver_def, SaverDef):
            raise ValueError(f"saver_def must be a SaverDef; found {self.saver_def!r}")
        if not self.saver_def.save_tensor_name or not self.saver_def.restore_op_name:
            raise ValueError(f"the SaverDef names no nodes: {str(self.saver_def).strip()!r}")

    # ---- saving -------------------------------------------------------------------------------

    def save(
        self,
        sess: Any,
        save_path: str,
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | None:
        """Writes a checkpoint; until it is complete the previous one of that name stays readable.

        Args:
          sess: the session that holds the variables.
          save_path: prefix of the files.
          global_step: a number, tensor, variable or name of one; added to the prefix.
          latest_filename: name of the state file; default ``checkpoint``.
          meta_graph_suffix: suffix of the meta graph's file.
          write_meta_graph: whether to write the meta graph.
          write_state: whether to write the state file (and delete old checkpoints).
          strip_default_attrs, save_debug_info: as for ``export_meta_graph``.

        Returns:
          The prefix, which ``restore`` takes; None when there is nothing to save.

        Raises:
          tf.errors.FailedPreconditionError: a variable has no value.
          TypeError: ``sess`` is no session or one of another graph, or ``global_step`` is no
            integer.
          ValueError: the directory does not exist, or names collide.
        """
        self._background.settle()
        target = self._target(sess, save_path, global_step, latest_filename)
        path: str | None = None
        if self._values is not None:
            path = eagerly.write(target, sorted(self._values.items()), None, "")
            if write_state:
                self._note(path, save_path, latest_filename, meta_graph_suffix)
            return path
        if not self._is_empty:
            feeds = {self.saver_def.filename_tensor_name: target}
            try:
                path = os.fsdecode(sess.run(self.saver_def.save_tensor_name, feeds))
            except errors.OpError as error:
                if self._sharded:
                    _remove_parts(target)
                if not isinstance(error, errors.FailedPreconditionError | errors.NotFoundError):
                    raise
                parent = os.path.dirname(save_path)
                if parent and not files.isdir(parent):
                    raise ValueError(
                        f"Parent directory of {save_path} doesn't exist, can't save"
                    ) from None
                raise
            if write_state:
                self._note(path, save_path, latest_filename, meta_graph_suffix)
        if write_meta_graph:
            with sess.graph.as_default():
                self.export_meta_graph(
                    management.meta_graph_file(target, meta_graph_suffix),
                    strip_default_attrs=strip_default_attrs, save_debug_info=save_debug_info,
                )  # fmt: skip
        return path

    def async_save(
        self,
        sess: Any,
        save_path: str,
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> snapshot.BackgroundSave:
        """Writes a checkpoint while training goes on.

        One ``run`` takes a snapshot of the variables: a copy of them all, so memory for a second
        set of variables is needed until it is written.  A thread of the lowest priority writes it,
        then the state file and the meta graph, as ``save`` does.  One save at a time: another
        waits for the one before.  The interpreter does not exit before it is done.

        Args:
          sess .. save_debug_info: as for ``save``.

        Returns:
          The save in flight: ``result()`` waits and gives the prefix, or raises what went wrong;
          ``done()`` tells whether it is over.

        Raises:
          What an earlier background save failed with, unless its ``result()`` told it; and what
          ``save`` raises before it writes.
        """
        self._background.settle()
        target = self._target(sess, save_path, global_step, latest_filename)
        taken = None
        if not self._is_empty:
            taken = snapshot.take(sess, self.saver_def)
        message = None
        if write_meta_graph:
            with sess.graph.as_default():
                message = self.export_meta_graph(
                    strip_default_attrs=strip_default_attrs, save_debug_info=save_debug_info
                )

        def write() -> str | None:
            path = None if taken is None else taken.write(target)
            if path is not None and write_state:
                self._note(path, save_path, latest_filename, meta_graph_suffix)
            if message is not None:
                meta = management.meta_graph_file(target, meta_graph_suffix)
                large_graph.write(meta, message, as_text=False)
            return path

        return self._background.start(write)

    def _target(self, sess: Any, save_path: str, global_step: Any, latest: str | None) -> str:
        """The prefix to save under, after a look at the arguments."""
        if not self._is_built:
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        if not save_path:
            raise ValueError("Parent directory of  doesn't exist, can't save: save_path is empty")
        latest = latest or "checkpoint"
        if os.path.split(latest)[0]:
            raise ValueError(
                "'latest_filename' must not contain path components:"
                f" latest_filename is a name without directories; found {latest!r}"
            )
        if self._values is not None:
            global_step = None if global_step is None else int(global_step)
        elif not callable(getattr(sess, "run", None)) or not hasattr(sess, "graph"):
            raise TypeError(f"'sess' must be a Session; {sess!r}")
        else:
            self._check_graph(sess)
        if global_step is None:
            if os.path.basename(save_path) == latest and not self._sharded:
                raise ValueError(f"{save_path!r} would be the path of the state file {latest!r}")
            return save_path
        if not isinstance(global_step, int):
            global_step = _step_value(sess, global_step)
        return f"{save_path}-{global_step:0{8 if self._pad_step_number else 1}d}"

    def _check_graph(self, sess: Any) -> None:
        """Refuses a session whose graph lacks the saver's nodes; equal names are enough."""
        name = None if self._is_empty else self.saver_def.filename_tensor_name
        if name is None or name.rpartition(":")[0] in sess.graph.by_name:
            return
        of = "" if self._graph is None else f"; the saver is of {self._graph.described()}"
        raise TypeError(
            f"the saver feeds {name!r}, which the session's graph does not have: that is"
            f" {sess.graph.described()}{of}"
        )

    def _note(self, path: str, save_path: str, latest: str | None, suffix: str) -> None:
        """Puts a checkpoint into the state file, and deletes what is not kept."""
        self._remember(path)
        management.write_state(
            os.path.dirname(save_path), path, self.last_checkpoints, latest, self._relative,
            durable=self._durable,
        )  # fmt: skip
        self._delete_old(suffix)
        written.tell(path)

    def _remember(self, path: str) -> None:
        keep = self.saver_def.max_to_keep
        if not keep:
            return
        self._last = [entry for entry in self._last if entry[0] != path]
        self._last.append((path, clock.now()))
        if len(self._last) > keep:
            self._doomed.append(self._last.pop(0))

    def _delete_old(self, suffix: str) -> None:
        if not self._doomed:
            return
        path, written = self._doomed.pop(0)
        if written > self._keep_after:
            self._keep_after += self.saver_def.keep_checkpoint_every_n_hours * 3600
            return
        try:
            management.remove_checkpoint(path, self.saver_def.version, suffix)
        except (OSError, errors.OpError) as error:
            _LOG.warning("the old checkpoint %s stays: %s", path, error)

    # ---- restoring ------------------------------------------------------------------------------

    def restore(self, sess: Any, save_path: str) -> None:
        """Gives the variables their values in a checkpoint; they need not be initialized.

        A checkpoint that ``tf.train.Checkpoint`` wrote is restored by the names that its variables
        had.

        Args:
          sess: the session that holds the variables.
          save_path: what ``save`` returned.

        Raises:
          TypeError: ``sess`` is of another graph.
          ValueError: there is no such checkpoint.
          tf.errors.NotFoundError: the checkpoint lacks variables; all of them are named, each
            with the nearest names that are there.
          tf.errors.InvalidArgumentError: a shape or dtype differs.
          tf.errors.DataLossError: a file is damaged.
        """
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        self._background.wait()
        if not self._is_built:
            raise RuntimeError("the saver was made with defer_build; call build() before restore()")
        prefix = os.fsdecode(save_path)
        if self._values is not None:
            return eagerly.read(prefix, self._values)
        self._check_graph(sess)
        if not management.checkpoint_exists(prefix):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {prefix}")
        feeds: dict[Any, Any] = {self.saver_def.filename_tensor_name: prefix}
        feeds.update(self._names_of_objects(sess, prefix))
        try:
            sess.run(self.saver_def.restore_op_name, feeds)
        except errors.NotFoundError as error:
            cause = "a Variable name or other graph key that is missing from the checkpoint"
            raise _not_restored(error, cause) from error
        except errors.InvalidArgumentError as error:
            cause = "a mismatch between the current graph and the graph from the checkpoint"
            raise _not_restored(error, cause) from error

    def _names_of_objects(self, sess: Any, prefix: str) -> dict[Any, Any]:
        """For a checkpoint of ``tf.train.Checkpoint``: feeds that give the keys for the names."""
        reader = open_checkpoint(prefix)
        if object_graph.KEY not in reader.names():
            return {}
        keys = object_graph.keys_of_names(reader)
        there = set(reader.names())
        feeds = {}
        for names_tensor, names in snapshot.restored_names(sess.graph, self.saver_def):
            if any(name not in there for name in names):
                feeds[names_tensor] = [keys.get(name, name) for name in names]
        return feeds

    # ---- what was saved -------------------------------------------------------------------------

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints kept, oldest first."""
        return [path for path, _ in self._last]

    def set_last_checkpoints(self, last_checkpoints: Sequence[str]) -> None:
        """Deprecated: as ``set_last_checkpoints_with_time``, with the time unknown."""
        _check_paths(last_checkpoints, "last_checkpoints")
        self._last = [(path, float("inf")) for path in last_checkpoints]

    def set_last_checkpoints_with_time(
        self, last_checkpoints_with_time: Sequence[tuple[str, float]]
    ) -> None:
        """Says which checkpoints are kept, oldest first, with their times in seconds."""
        self._last = [(path, when) for path, when in last_checkpoints_with_time]

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Takes over checkpoints of an earlier process, those whose files are there."""
        _check_paths(checkpoint_paths, "checkpoint_paths")
        found = [path for path in checkpoint_paths if management.checkpoint_exists(path)]
        times = management.get_checkpoint_mtimes(found)
        self.set_last_checkpoints_with_time(list(zip(found, times, strict=True)))

    # ---- as messages ----------------------------------------------------------------------------

    def as_saver_def(self) -> Any:
        """The ``SaverDef``."""
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The ``SaverDef``, names relative to ``export_scope``; None when it is outside."""
        if export_scope is None:
            return self.saver_def
        scope = f"{export_scope.rstrip('/')}/"
        fields = ("filename_tensor_name", "save_tensor_name", "restore_op_name")
        if not all(getattr(self.saver_def, field).startswith(scope) for field in fields):
            return None
        message = SaverDef()
        message.CopyFrom(self.saver_def)
        for field in fields:
            setattr(message, field, getattr(message, field).removeprefix(scope))
        return message

    @staticmethod
    def from_proto(saver_def: Any, import_scope: str | None = None) -> Saver:
        """The saver of a ``SaverDef`` whose nodes the default graph has, under ``import_scope``."""
        return Saver(saver_def=saver_def, name=import_scope)

    def export_meta_graph(
        self,
        filename: str | None = None,
        collection_list: Sequence[str] | None = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Any:
        """The default graph as a ``MetaGraphDef`` with this saver; see
        ``tf.train.export_meta_graph`` for the arguments."""
        return meta_graph.export_meta_graph(
            filename=filename,
            graph_def=scopes.get_default_graph().as_graph_def(add_shapes=True),
            saver_def=self.saver_def,
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
            save_debug_info=save_debug_info,
        )

    @staticmethod
    def _add_collection_def(meta_graph_def: Any, key: str, export_scope: str | None = None) -> None:
        """Adds a collection of the default graph to a message, under the name that libraries know.

        Args:
          meta_graph_def: the ``MetaGraphDef``.
          key: the collection's name.
          export_scope: name scope that is exported.
        """
        items = scopes.get_default_graph().get_collection(key)
        collection_def.add_collection(meta_graph_def, key, items, export_scope)


def _not_restored(error: errors.OpError, cause: str) -> errors.OpError:
    kind: Any = type(error)
    message = (
        f"Restoring from checkpoint failed. This is most likely due to {cause}. Please ensure that"
        " you have not altered the graph expected based on the checkpoint. Original error:\n\n"
        f"{error.message}"
    )
    made: errors.OpError = kind(error.node_def, error.op, message)
    return made


def _step_value(sess: Any, step: Any) -> int:
    """The step number, which may be in a node; 7.5 is none, and must not become 7."""
    value = sess.run(step) if isinstance(step, str) or hasattr(step, "graph") else step
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"global_step must be an integer, or a tensor, variable or name of one; found {value!r}"
            + ("" if value is step else f", the value of {step!r}")
        ) from None


def _check_paths(paths: Any, what: str) -> None:
    if isinstance(paths, str | bytes) or not isinstance(paths, Sequence):
        raise TypeError(f"{what} must be a list of checkpoint paths; found {paths!r}")
    for path in paths:
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"{what} must be a list of checkpoint paths; it has {path!r}")


def _remove_parts(target: str) -> None:
    """Removes the shards of a checkpoint that was not finished; see ``BulkSaverBuilder``."""
    for found in files.glob(f"{glob.escape(target)}_temp_{'[0-9a-f]' * 32}"):
        try:
            files.remove_tree(found)
        except errors.OpError as error:
            _LOG.warning("shards of a save that failed stay: %s", error)


def import_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    **kwargs: Any,
) -> Saver | None:
    """Adds a ``MetaGraphDef`` to the default graph.

    Args:
      meta_graph_or_file: a ``MetaGraphDef`` or the path of one, binary or text.
      clear_devices: whether to leave out devices.
      import_scope: name scope to put it under.
      **kwargs: as for ``import_graph_def``: ``input_map`` and others.

    Returns:
      The saver that the message describes; without one, a new ``Saver`` of its variables; None when
      there are no variables.

    Raises:
      OSError: the file cannot be read.

    Example:
      >>> import penstock as tf
      >>> import tempfile
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     v = tf.get_variable("v", initializer=3.0)
      ...     session.run(v.initializer)
      ...     path = tf.train.Saver().save(session, tempfile.mkdtemp() + "/model")
      >>> with tf.Graph().as_default(), tf.Session() as session:  # without the program that made it
      ...     saver = tf.train.import_meta_graph(path + ".meta")
      ...     saver.restore(session, path)
      ...     print(session.run("v:0"))
      3.0
    """
    message = meta_graph_or_file
    if not isinstance(message, MetaGraphDef):
        message = meta_graph.read_meta_graph_file(message)
    variables = meta_graph.import_scoped_meta_graph(
        message, clear_devices=clear_devices, import_scope=import_scope, **kwargs
    )
    if message.HasField("saver_def"):
        scope = import_scope
        for name, variable in variables.items():
            # The scope may have been made unique.
            scope = variable.name[: -len(name)] if name else scope
            break
        return Saver(saver_def=message.saver_def, name=scope)
    if all_saveable_objects(scope=import_scope):
        return Saver()
    _LOG.info("the meta graph has no variables: no Saver is made")
    return None


register_proto_function(
    GraphKeys.SAVERS, proto_type=SaverDef, to_proto=Saver.to_proto, from_proto=Saver.from_proto
)
