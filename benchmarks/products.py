"""``python -m benchmarks.products``: is the kernel chosen for a matrix product the fastest one?

Forty products of the networks that ``make bench`` runs, with the gradients of their weights and
inputs.  For each the kernel is chosen as a program would have it, with nothing remembered; then all
its kernels are timed by turns, much longer than the choice took, and compared with the chosen one.
What counts is the lower quartile of a kernel's turns: others' work and the hypervisor's only add.
Required is 1.05 of the fastest one at most, and 2 seconds for all choices.  Lowered instruction
sets and threads come from the environment (``make products ISA=avx2 THREADS=1``).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import quantiles
from typing import Any, NamedTuple

import torch

from penstock.engine.resources import threads
from penstock.engine.runtime import memory
from penstock.ops.linalg import product_choice, product_timing
from penstock.ops.linalg.product_forms import Form

# Required: the chosen kernel's time as a ratio of the fastest, and seconds for all choices.
MOST, CALIBRATION_SECONDS = 1.05, 2.0
# What differs by less than this is the clock's, not the kernels'.
_TURN_SECONDS = 400e-6


def _layer(rows: int, inner: int, columns: int, relu: bool = False) -> Iterator[Form]:
    """A dense layer: its product, and those of the gradients of its weight and its input."""
    yield Form(rows, inner, columns, bias=True, relu=relu)
    yield Form(inner, rows, columns, a_turned=True)
    yield Form(rows, columns, inner, b_turned=True)


FORMS: tuple[Form, ...] = (
    *_layer(100, 784, 10),  # softmax
    *_layer(128, 784, 512, relu=True),  # the MLP
    *_layer(128, 512, 512, relu=True),
    *_layer(128, 512, 10),
    *_layer(50, 3136, 1024, relu=True),  # the CNN
    *_layer(50, 1024, 10),
    *_layer(20, 400, 800),  # the LSTM
    *_layer(400, 200, 10000),
    *_layer(32, 400, 800),  # the dynamic RNN
    *_layer(128, 128, 64),  # word2vec
    *_layer(16, 1152, 10),  # AlexNet
    *_layer(16, 2048, 2048, relu=True),
    *_layer(16, 4096, 1000),
    Form(16, 3200, 2048, bias=True, relu=True),
)


class Row(NamedTuple):
    """What was found for a form: the kernel chosen, and the microseconds that each takes."""

    form: Form
    chosen: str
    times: dict[str, float]

    @property
    def ratio(self) -> float:
        """The chosen kernel's time as a ratio of the fastest one's."""
        return self.times[self.chosen] / min(self.times.values())


def compare(form: Form, chosen: str, seconds: float) -> Row:
    """Times the kernels of a form by turns, in an order that turns round.

    Args:
        form: The product.
        chosen: The kernel that was chosen for it.
        seconds: How long it is timed.
    """
    calls = list(product_timing.calls_of(form).items())
    found: dict[str, list[float]] = {name: [] for name, _ in calls}
    end = time.perf_counter() + seconds
    with torch.inference_mode():
        while time.perf_counter() < end or len(found[chosen]) < 3:
            for name, call in calls:
                found[name].append(_turn(call))
            calls.reverse()
    return Row(form, chosen, {name: 1e6 * quantiles(each)[0] for name, each in found.items()})


def _turn(call: Callable[[], Any]) -> float:
    call()  # what another kernel left in the caches does not count
    begin, repeats = time.perf_counter(), 0
    while time.perf_counter() - begin < _TURN_SECONDS or not repeats:
        call()
        repeats += 1
    return (time.perf_counter() - begin) / repeats


def choices(forms: Sequence[Form], count: int) -> tuple[dict[Form, str], float]:
    """What is chosen for each form on a team of ``count`` threads, and how long that took.

    Raises:
        RuntimeError: Others used the cores: nothing can be chosen.
    """
    begin = time.perf_counter()
    found = {form: product_timing.measure(product_choice.stand_in(form), count) for form in forms}
    took = time.perf_counter() - begin
    left = [form.key for form, choice in found.items() if choice is None]
    if left:
        raise RuntimeError(f"others use the cores: nothing was chosen for {', '.join(left)}")
    return {form: choice.kernel for form, choice in found.items() if choice is not None}, took


def table(rows: Sequence[Row]) -> str:
    """The rows, the worst last."""
    lines = [f"{'product':40} {'chosen':14} ratio   us of each kernel"]
    for row in sorted(rows, key=lambda row: row.ratio):
        each = ", ".join(f"{name} {took:.1f}" for name, took in row.times.items())
        lines.append(f"{row.form.key:40} {row.chosen:14} {row.ratio:.3f}   {each}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; the exit status says whether the requirements are met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.products", description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.4, help="how long each form is timed")
    asked = parser.parse_args(arguments)
    memory.keep_freed_memory()  # as sessions do
    count = threads.settle()
    chosen, took = choices(FORMS, count)
    rows = [compare(form, kernel, asked.seconds) for form, kernel in chosen.items()]
    print(table(rows))
    within = sum(row.ratio <= MOST for row in rows)
    print(f"torch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}, {count} threads")
    print(f"{within} of {len(rows)} chosen kernels take at most {MOST} of the fastest one's time")
    print(f"choosing all took {took:.2f} s, at most {CALIBRATION_SECONDS} are allowed")
    return 0 if within == len(rows) and took <= CALIBRATION_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
