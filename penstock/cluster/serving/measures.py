"""What a model server counts, for Prometheus: calls, how long they took, batches, versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily

from penstock.cluster.serving.models import Models

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Measures:
    """The counts of one server; no value of a tensor is among them."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._calls = Counter(
            "penstock_serving_calls",
            "Calls that have ended.",
            ("call", "model", "code"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "penstock_serving_call_seconds", "How long calls took.", ("call",),
            buckets=_SECONDS, registry=self._registry,
        )  # fmt: skip
        self._rows = Histogram(
            "penstock_serving_batch_rows", "Rows of the batches that were run.", (),
            buckets=_ROWS, registry=self._registry,
        )  # fmt: skip
        self._known: set[str] = set()

    def watch(self, models: Models) -> None:
        """Tells of these models' versions as well, and counts calls by their names."""
        self._known = {model.name for model in models}
        self._registry.register(_Versions(models))

    def called(self, call: str, model: str, code: str, seconds: float) -> None:
        """A call has ended; names that no model has are counted as one."""
        self._calls.labels(call, model if model in self._known else "", code).inc()
        self._seconds.labels(call).observe(seconds)

    def batch(self, rows: int) -> None:
        """A batch runs."""
        self._rows.observe(rows)

    def text(self) -> bytes:
        """The page, in Prometheus' text format."""
        return generate_latest(self._registry)


class _Versions:
    """The state of each version, asked when somebody looks."""

    def __init__(self, models: Models) -> None:
        self._models = models

    def collect(self) -> Iterator[Any]:
        family = GaugeMetricFamily(
            "penstock_serving_version_answers", "Whether a version answers.",
            labels=("model", "version"),
        )  # fmt: skip
        for model in self._models:
            answering = model.serving()
            for version in model.statuses():
                family.add_metric((model.name, str(version)), float(version in answering))
        yield family
