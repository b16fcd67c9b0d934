"""What the demo's run folder says in ``settings.json``, and ends with in ``metrics.json``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """What a run's steps follow from, besides their number."""

    data: str
    batch_size: int
    learning_rate: float
    seed: int


@dataclass(frozen=True)
class Metrics:
    """What a run ends with, as ``metrics.json`` holds it."""

    data: str
    train_images: int
    test_images: int
    steps: int
    resumed_from: int
    batch_size: int
    learning_rate: float
    seed: int
    final_loss: float
    test_loss: float
    test_accuracy: float
    train_seconds: float
    steps_per_second: float
