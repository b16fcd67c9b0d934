"""Blocks come back when the last tensor in them is gone, are used again, and unmapped at last."""

from __future__ import annotations

import gc
import random
import resource
import threading

import torch

from penstock.cluster.distributed.buffers import Buffers

MB = 1 << 20


def test_a_block_is_used_again_only_when_every_view_of_it_is_gone() -> None:
    buffers = Buffers()
    first = buffers.take(4 * MB)
    place = first.data_ptr()
    view = first.view(torch.float32)[10:20]
    del first
    gc.collect()
    assert buffers.kept_bytes() == 0
    other = buffers.take(4 * MB)
    assert other.data_ptr() != place
    del view
    assert buffers.kept_bytes() == 4 * MB
    assert buffers.take(4 * MB - 5).data_ptr() == place
    assert other.numel() == 4 * MB and other.data_ptr() % 64 == 0


def test_a_block_serves_sizes_that_nearly_fill_it() -> None:
    buffers = Buffers()
    del_me = buffers.take(10 * MB)
    place = del_me.data_ptr()
    del del_me
    assert buffers.take(11 * MB).data_ptr() != place
    assert buffers.take(4 * MB).data_ptr() != place
    assert buffers.take(8 * MB).data_ptr() == place


def test_small_tensors_are_the_allocators() -> None:
    buffers = Buffers()
    for size in (0, 1, MB - 1):
        assert buffers.take(size).numel() == size
    assert buffers.kept_bytes() == 0


def test_used_again_it_faults_no_pages_in() -> None:
    buffers = Buffers()
    buffers.take(64 * MB).fill_(1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    buffers.take(64 * MB).fill_(2)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 1000


def test_what_nobody_takes_is_unmapped() -> None:
    buffers = Buffers()
    kept = buffers.take(2 * MB)
    buffers.take(3 * MB)
    buffers.trim(60.0)
    assert buffers.kept_bytes() == 3 * MB
    buffers.trim(0.0)
    assert buffers.kept_bytes() == 0
    assert bool((kept.fill_(7) == 7).all())


def test_threads_never_get_the_same_block() -> None:
    buffers = Buffers()
    wrong: list[int] = []

    def run(number: int) -> None:
        dice = random.Random(number)
        mine: list[torch.Tensor] = []
        for _ in range(300):
            taken = buffers.take(dice.randint(MB, 2 * MB))
            taken[::4096] = number
            mine.append(taken)
            if len(mine) > 3:
                old = mine.pop(dice.randrange(len(mine)))
                if not bool((old[::4096] == number).all()):
                    wrong.append(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
