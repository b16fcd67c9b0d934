"""A random stream: the lasting state of one random op in one session.

A stream starts from the op's two seeds and goes on over the runs of a session; another session
starts again.  Both seeds 0 mean that nobody asked for reproducible numbers: the stream then starts
from the operating system's entropy.  The numbers of a seed are not those that TensorFlow draws.

State: a torch generator a device, and a NumPy generator for small draws on the host, where an ATen
call costs more than the numbers do.  Both kinds lock themselves for the length of one draw, so
overlapping steps may share them.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import torch

_MASK = (1 << 64) - 1


def mix(*seeds: int) -> int:
    """One well-mixed 64-bit seed from several integers (splitmix64 over them in order)."""
    state = 0
    for seed in seeds:
        state = (state ^ (seed & _MASK)) + 0x9E3779B97F4A7C15 & _MASK
        state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        state = (state ^ state >> 27) * 0x94D049BB133111EB & _MASK
        state ^= state >> 31
    return state


def generator_of(*seeds: int) -> torch.Generator:
    """A CPU generator whose numbers depend on nothing but ``seeds``."""
    generator = torch.Generator()
    # Torch's Mersenne Twister looks at the low 32 bits of a seed only, hence the mixing.
    generator.manual_seed(mix(*seeds) >> 1)
    return generator


class Stream:
    """Random numbers of one op in one session.

    Args:
      seed, seed2: the op's seeds; both 0 for a stream that nobody can repeat.
    """

    __slots__ = ("generator", "lock", "seed", "_numpy", "_others", "__weakref__")

    def __init__(self, seed: int = 0, seed2: int = 0) -> None:
        if not (seed or seed2):
            entropy = int.from_bytes(np.random.SeedSequence().generate_state(4).tobytes(), "little")
            self.seed = mix(entropy & _MASK, entropy >> 64)
        else:
            self.seed = mix(seed, seed2)
        self.generator = generator_of(self.seed)
        self.lock = threading.Lock()
        self._numpy: np.random.Generator | None = None
        self._others: dict[torch.device, torch.Generator] = {}

    @property
    def numpy(self) -> np.random.Generator:
        """The generator for small draws on the host."""
        with self.lock:
            if self._numpy is None:
                self._numpy = np.random.Generator(np.random.SFC64(self.seed))
            return self._numpy

    def on(self, device: torch.device) -> torch.Generator:
        """The generator for draws on ``device``."""
        if device.type == "cpu":
            return self.generator
        with self.lock:
            found = self._others.get(device)
            if found is None:
                found = self._others[device] = torch.Generator(device)
                found.manual_seed(self.seed >> 1)
            return found


def of_op(attrs: Any, name: str) -> Stream:
    """The ``state`` of an op with attrs ``seed`` and ``seed2``."""
    return Stream(attrs["seed"], attrs["seed2"])
