"""``tf.keras.callbacks.TensorBoard``: losses and metrics as summaries, and the graph."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.summary_pb2 import Summary

from penstock.foundation.graph import scopes
from penstock.storage.summary.writer import FileWriter
from penstock.training.keras_models.callbacks import Callback

_UNSUPPORTED = ("histogram_freq", "write_grads", "write_images", "embeddings_freq")


class TensorBoard(Callback):
    """Writes what TensorBoard shows: ``epoch_`` and ``batch_`` with the names of values.

    Args:
      log_dir: folder of the event file.
      histogram_freq, write_grads, write_images, embeddings_freq: not supported.
      batch_size: accepted; a batch says its own size.
      write_graph: whether the graph is written.
      embeddings_layer_names, embeddings_metadata, embeddings_data: of embeddings; not used.
      update_freq: ``"epoch"``, ``"batch"``, or how many samples there are from one summary of
        batches to the next.
      profile_batch: accepted; steps are not profiled.
      **kwargs: none.

    Raises:
      NotImplementedError: something that is not supported.
    """

    def __init__(
        self, log_dir: str = "logs", histogram_freq: int = 0, batch_size: int = 32,
        write_graph: bool = True, write_grads: bool = False, write_images: bool = False,
        embeddings_freq: int = 0, embeddings_layer_names: Any = None,
        embeddings_metadata: Any = None, embeddings_data: Any = None, update_freq: Any = "epoch",
        profile_batch: int = 2, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        given = dict(
            zip(
                _UNSUPPORTED, (histogram_freq, write_grads, write_images, embeddings_freq),
                strict=True,
            )
        )  # fmt: skip
        asked = [name for name, value in {**given, **kwargs}.items() if value]
        if asked:
            raise NotImplementedError(f"TensorBoard does not support {', '.join(asked)}")
        self.log_dir, self.write_graph = log_dir, write_graph
        self.update_freq: Any = 1 if update_freq == "batch" else update_freq
        self._batches = self._samples = self._written_at = 0

    def on_train_begin(self, logs: Any = None) -> None:
        """Opens the file."""
        graph = None
        if self.write_graph and not scopes.get_default_graph().executes:
            graph = scopes.get_default_graph()
        self.writer = FileWriter(self.log_dir, graph)

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Writes a batch's values, if enough samples went by."""
        logs = logs or {}
        self._samples += logs.get("size", 1)
        if self.update_freq != "epoch" and self._samples - self._written_at >= self.update_freq:
            self._write("batch_", logs, self._batches)
            self._written_at = self._samples
        self._batches += 1

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Writes an epoch's values."""
        step = epoch if self.update_freq == "epoch" else self._samples
        self._write("epoch_", logs or {}, step)

    def on_train_end(self, logs: Any = None) -> None:
        """Closes the file."""
        self.writer.close()

    def _write(self, prefix: str, logs: dict[str, Any], step: int) -> None:
        for name, value in logs.items():
            if name in ("batch", "size", "num_steps"):
                continue
            shown = Summary.Value(tag=prefix + name, simple_value=float(value))
            self.writer.add_summary(Summary(value=[shown]), step)
        self.writer.flush()
