"""Saves checkpoints until it is killed; every tensor of one holds the number of the save."""

from __future__ import annotations

from multiprocessing.connection import Connection

import numpy as np

from penstock.foundation.formats.bundle import BundleWriter

TENSORS = 6
SHAPE = (250, 400)


def save_on_and_on(directory: str, mode: str, start: int, done: Connection) -> None:
    """Saves to one prefix ("same") or to five in turn ("new"); sends the number of each save."""
    step = start
    while True:
        step += 1
        prefix = f"{directory}/m" if mode == "same" else f"{directory}/m-{step % 5}"
        with BundleWriter(prefix) as writer:
            for at in range(TENSORS):
                writer.add(f"t{at}", np.full(SHAPE, step, np.float32))
        done.send(step)
