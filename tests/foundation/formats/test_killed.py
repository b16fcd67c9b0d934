"""kill -9 at random instants of saving: always a complete checkpoint, never a wrong value."""

from __future__ import annotations

import multiprocessing
import random
import time
from pathlib import Path

import numpy as np
import pytest

from penstock.foundation.formats.bundle import BundleReader
from tests.foundation.formats import killed_writer

LONGEST = 0.12  # seconds from the first save to the kill: some ten saves


def kill_once(directory: Path, mode: str, start: int, rng: random.Random) -> int:
    """Starts a writer, kills it; returns the number of the last save that it said was done."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.foundation.formats.killed_writer"])
    here, there = context.Pipe(duplex=False)
    arguments = (str(directory), mode, start, there)
    writer = context.Process(target=killed_writer.save_on_and_on, args=arguments, daemon=True)
    writer.start()
    there.close()
    last = here.recv()
    time.sleep(rng.random() * LONGEST)
    writer.kill()
    writer.join()
    try:
        while True:
            last = here.recv()
    except (EOFError, OSError):  # its end, or a message that was cut off
        here.close()
    return int(last)


def value_of(prefix: str) -> int:
    """The number that all tensors of a checkpoint hold.

    Raises:
      AssertionError: they hold several.
    """
    with BundleReader(prefix) as reader:
        assert len(reader.names()) == killed_writer.TENSORS
        values = {float(v) for name in reader.names() for v in np.unique(reader.read(name))}
    assert len(values) == 1, values
    return int(values.pop())


def kills(directory: Path, mode: str, count: int) -> int:
    """Kills so many writers in one directory; returns how many were within a save."""
    rng = random.Random(mode)
    within = 0
    done = 0
    for _ in range(count):
        done = kill_once(directory, mode, done, rng)
        within += bool(list(directory.glob("*tempstate*")))
        # The save that was killed may have come to its end before it could say so.
        if mode == "same":
            assert value_of(str(directory / "m")) in (done, done + 1)
        else:
            assert value_of(str(directory / f"m-{done % 5}")) == done
            for index in directory.glob("*.index"):
                value_of(str(index.with_suffix("")))
        for left in directory.glob("*tempstate*"):
            left.unlink()
        done += 1
    return within


@pytest.mark.parametrize("mode", ["same", "new"])
def test_five_kills(mode: str, tmp_path: Path) -> None:
    kills(tmp_path, mode, 5)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode", ["same", "new"])
def test_a_hundred_kills(mode: str, tmp_path: Path) -> None:
    assert kills(tmp_path, mode, 100) > 20
