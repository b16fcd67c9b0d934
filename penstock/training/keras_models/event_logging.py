"""``tf.keras.callbacks.TensorBoard``: losses, metrics and weights as summaries, and the graph."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.summary_pb2 import Summary

from penstock.foundation.graph import scopes
from penstock.storage.summary.writer import FileWriter
from penstock.training.keras_models.callbacks import Callback
from penstock.training.keras_models.weight_summaries import merged


class TensorBoard(Callback):
    """Writes what TensorBoard shows: ``epoch_`` and ``batch_`` with the names of values.

    Args:
      log_dir: folder of the event file.
      histogram_freq: how many epochs there are from one to the next in whose validation
        histograms of weights and outputs are written; 0: none are. In a graph alone.
      write_grads, write_images: whether gradients and pictures of weights come with them.
      embeddings_freq: not supported.
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
        given = {"embeddings_freq": embeddings_freq, **kwargs}
        asked = [name for name, value in given.items() if value]
        if scopes.get_default_graph().executes and histogram_freq:
            asked.append("histogram_freq where operations run as they are called")
        if asked:
            raise NotImplementedError(f"TensorBoard does not support {', '.join(asked)}")
        self.log_dir, self.write_graph, self.histogram_freq = log_dir, write_graph, histogram_freq
        self.write_grads, self.write_images = write_grads, write_images
        self._histograms: Any = None
        self._validated = 0
        self.update_freq: Any = 1 if update_freq == "batch" else update_freq
        self._batches = self._samples = self._written_at = 0

    def set_model(self, model: Any) -> None:
        """Takes the model that is trained, and makes the summaries of its weights."""
        super().set_model(model)
        if self.histogram_freq and self._histograms is None:
            self._histograms = merged(model, self.write_images, self.write_grads)

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

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Has batches of validation give the summaries of weights, if it is their turn."""
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self.model.watched[self._histograms] = self._write_histograms

    def _write_histograms(self, summary: bytes) -> None:
        self.writer.add_summary(summary, self._validated)
        self._validated += 1

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Writes an epoch's values."""
        self.model.watched.pop(self._histograms, None)
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
