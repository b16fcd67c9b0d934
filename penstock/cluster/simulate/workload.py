"""What is trained and by whom."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

MODES = ("async", "sync")


@dataclass(frozen=True)
class Compute:
    """How long a worker computes a step.

    Attributes:
        mean: Of the time without stragglers, in seconds.
        sigma: Of the logarithm of the time; 0 makes all alike.
        straggler_share: How often a step is slow, 0 to 1.
        straggler_factor: How many times longer it then takes.
    """

    mean: float = 0.0
    sigma: float = 0.0
    straggler_share: float = 0.0
    straggler_factor: float = 1.0

    def __post_init__(self) -> None:
        if self.mean < 0 or self.sigma < 0 or self.straggler_factor < 1:
            raise ValueError(f"{self}: mean and sigma are at least 0, straggler_factor at least 1")
        if not 0 <= self.straggler_share <= 1:
            raise ValueError(f"{self}: straggler_share is a share, 0 to 1")

    def draw(self, source: random.Random) -> float:
        """One step's time. Always takes two draws, so that runs can be compared."""
        normal, share = source.gauss(0.0, 1.0), source.random()
        seconds = self.mean * math.exp(self.sigma * normal - self.sigma**2 / 2)
        return seconds * self.straggler_factor if share < self.straggler_share else seconds


@dataclass(frozen=True)
class Model:
    """What a step of a worker reads, computes and updates.

    Attributes:
        dense_bytes: Parameters that every step reads and updates whole.
        sparse_bytes: Bytes of rows that a step gathers from larger tables, and updates.
        batch: Examples a step.
        tensors: In how many tensors the parameters are, spread over the ps; each ps has one at
            least.
        compute: The time between the last parameter received and the first update sent.
    """

    dense_bytes: float = 0.0
    sparse_bytes: float = 0.0
    batch: int = 1
    compute: Compute = field(default_factory=Compute)
    tensors: int = 1

    def __post_init__(self) -> None:
        if self.dense_bytes < 0 or self.sparse_bytes < 0 or self.batch < 1 or self.tensors < 1:
            raise ValueError(f"{self}: bytes are at least 0, batch and tensors at least 1")

    @property
    def step_bytes(self) -> float:
        """Bytes that a step reads, and as many that it updates."""
        return self.dense_bytes + self.sparse_bytes


@dataclass(frozen=True)
class Job:
    """Tasks and how they wait for each other.

    Attributes:
        ps: Parameter servers; the parameters are spread over them.
        workers: Workers, backup workers included.
        mode: "async": nobody waits for others; "sync": all take the same parameters.
        backups: In mode "sync", how many of the workers' gradients an update does without.
        shares: The share of the bytes on each ps; None divides them alike.
        steps: Updates (sync), or steps of the average worker (async), that are simulated.
        seed: Of all random draws.
    """

    ps: int = 1
    workers: int = 1
    mode: str = "sync"
    backups: int = 0
    shares: tuple[float, ...] | None = None
    steps: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if self.ps < 1 or self.workers < 1 or self.steps < 1:
            raise ValueError(
                f"ps, workers and steps must be at least 1; found {self.ps} ps, {self.workers}"
                f" workers, {self.steps} steps"
            )
        if self.mode not in MODES:
            raise ValueError(f"mode is {self.mode!r}; it may be {' or '.join(MODES)}")
        if not 0 <= self.backups < self.workers or (self.backups and self.mode != "sync"):
            raise ValueError(
                f"{self.backups} backups of {self.workers} workers in mode {self.mode}: an update"
                " needs one gradient at least, and only mode sync has backups"
            )
        if self.shares is not None and (
            len(self.shares) != self.ps or min(self.shares) < 0 or abs(sum(self.shares) - 1) > 1e-6
        ):
            raise ValueError(f"shares {self.shares} are not {self.ps} shares that add up to 1")

    @property
    def needed(self) -> int:
        """Gradients that an update takes."""
        return self.workers - self.backups
