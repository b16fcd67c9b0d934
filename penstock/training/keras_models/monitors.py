"""Callbacks that tell others of training: ``BaseLogger`` the callbacks after it, ``RemoteMonitor``
a server.
"""

from __future__ import annotations

import json
import logging
from importlib import import_module
from typing import Any

from penstock.training.keras_models.callbacks import Callback

_LOG = logging.getLogger("penstock")


class BaseLogger(Callback):
    """Puts the means of an epoch's batches into what the callbacks after it are told of the epoch.

    Args:
      stateful_metrics: names of metrics that are of all batches so far already.

    Example:
      >>> import penstock as tf
      >>> logger = tf.keras.callbacks.BaseLogger()
      >>> logger.set_params({"metrics": ["loss"]})
      >>> logger.on_epoch_begin(0)
      >>> for batch, loss in enumerate([1.0, 4.0]):
      ...     logger.on_batch_end(batch, {"size": 2 - batch, "loss": loss})
      >>> logs = {}
      >>> logger.on_epoch_end(0, logs)
      >>> logs
      {'loss': 2.0}
    """

    def __init__(self, stateful_metrics: Any = None) -> None:
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or ())

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Nothing is seen yet."""
        self.seen = 0
        self.totals: dict[str, Any] = {}

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Adds a batch, which counts by its size."""
        logs = logs or {}
        size = logs.get("size", 0)
        self.seen += size * logs.get("num_steps", 1)
        for name, value in logs.items():
            if name in self.stateful_metrics:
                self.totals[name] = value
            else:
                self.totals[name] = self.totals.get(name, 0) + value * size

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Puts the means into ``logs``."""
        if logs is None:
            return
        for name in self.params["metrics"]:
            if name in self.totals:
                total = self.totals[name]
                logs[name] = total if name in self.stateful_metrics else total / self.seen


class RemoteMonitor(Callback):
    """Sends what an epoch came to, as JSON, to a server by a POST of HTTP.

    It needs the package ``requests``. A server that cannot be reached is warned of.

    Args:
      root: the server's URL.
      path: what follows it.
      field: the field of the form that is sent; without ``send_as_json``.
      headers: of the request, a dict.
      send_as_json: whether the body is JSON, not a form with a field.
    """

    def __init__(
        self, root: str = "http://localhost:9000", path: str = "/publish/epoch/end/",
        field: str = "data", headers: Any = None, send_as_json: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.root, self.path, self.field = root, path, field
        self.headers, self.send_as_json = headers, send_as_json

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Sends the epoch's number and logs.

        Raises:
          ImportError: ``requests`` is not installed.
        """
        try:
            requests = import_module("requests")
        except ImportError:
            raise ImportError(
                "RemoteMonitor requires the `requests` library: pip install requests"
            ) from None
        sent = {"epoch": epoch, **(logs or {})}
        url = self.root + self.path
        try:
            if self.send_as_json:
                requests.post(url, json=sent, headers=self.headers)
            else:
                requests.post(url, {self.field: json.dumps(sent)}, headers=self.headers)
        except requests.exceptions.RequestException:
            _LOG.warning("could not reach RemoteMonitor root server at %s", self.root)
