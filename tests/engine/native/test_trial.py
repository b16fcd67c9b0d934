"""Native calls and trials, with libraries written in Python."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch

from penstock.engine.native import trial as trials
from penstock.engine.native.trial import (
    DIFFERENT,
    FAILED,
    FAST,
    LARGE,
    SLOW,
    UNFIT,
    NativeCall,
    Trial,
    same,
)  # fmt: skip
from penstock.engine.resources.variable import Variable
from penstock.foundation.machine import hardware

ABOUT = [[[4], [1], "float32"], [[4], [1], "float32"]]


def variable() -> Variable:
    made = Variable("v", (4,))
    made.assign(torch.arange(4.0))
    return made


def lines(names: Mapping[str, Any]) -> Callable[..., Any]:
    """What a stretch does: twice what it is given, and that is added to a variable."""

    def plain(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x.mul_(2.0)
        for _ in range(20):
            y = torch.add(y, 0.0)
        names["r_v"].value.add_(y)
        return (y,)

    return plain


def library(tensors: Any) -> list[torch.Tensor]:
    x, value = tensors
    y = x * 2.0
    value.add_(y)
    return [y]


def trial_of(native: Callable[..., Any], held: Variable) -> Trial:
    return Trial(native, lines({"r_v": held}), [held], [], ABOUT, lines, ["r_v"], [0])


def test_a_trial_changes_nothing_but_what_the_step_does() -> None:
    held = variable()
    calls = []

    def wild(tensors: Any) -> Any:
        calls.append(1)
        tensors[1].fill_(77.0)
        raise RuntimeError("broken")

    trial = trial_of(wild, held)
    x = torch.ones(4)
    [y] = trial(x)
    assert calls == [1] and trial.verdict == FAILED
    assert y.tolist() == [2.0] * 4 and held.value.tolist() == [2.0, 3.0, 4.0, 5.0]
    trial(torch.ones(4))
    assert calls == [1]


def test_a_faster_form_with_the_same_values_is_taken() -> None:
    held = variable()
    trial = trial_of(library, held)
    for count in range(1, 13):
        assert trial.verdict == ""
        trial(torch.ones(4))
        assert held.value.tolist() == [2.0 * count + i for i in range(4)]
    assert trial.verdict == FAST and 0 < trial.ratio < 1 and trial.seconds > 0


def test_other_values_are_seen() -> None:
    def update_missed(tensors: Any) -> Any:
        return [tensors[0] * 2.0]

    def other_result(tensors: Any) -> Any:
        return [library(tensors)[0] * 1.001]

    def memory_of_what_is_given(tensors: Any) -> Any:
        library(tensors)
        return [tensors[0].mul_(2.0)]

    for native in (update_missed, other_result, memory_of_what_is_given):
        trial = trial_of(native, variable())
        trial(torch.ones(4))
        assert trial.verdict == DIFFERENT


def test_a_slower_form_is_dropped() -> None:
    def slow(tensors: Any) -> Any:
        for _ in range(300):
            tensors[0] + 1
        return library(tensors)

    trial = trial_of(slow, variable())
    for _ in range(12):
        trial(torch.ones(4))
    assert trial.verdict == SLOW and trial.ratio > 1


def test_what_does_not_fit_decides_nothing_unless_nothing_fits() -> None:
    held = variable()
    trial = trial_of(library, held)
    for _ in range(150):  # a loop's first round
        trial(torch.ones(8)[::2])
        if trial._runs < 12:
            trial(torch.ones(4))
    assert trial.verdict == FAST
    trial = trial_of(library, held)
    for _ in range(100):
        assert trial.verdict == ""
        trial(torch.ones(8)[::2])
    assert trial.verdict == UNFIT


def test_a_variable_without_a_value_decides_nothing() -> None:
    held = Variable("v", (4,))
    trial = trial_of(library, held)
    with pytest.raises(AttributeError):
        trial(torch.ones(4))
    assert trial.verdict == ""
    held.assign(torch.arange(4.0))
    trial(torch.ones(4))
    assert trial.verdict == "" and held.value.tolist() == [2.0, 3.0, 4.0, 5.0]


def test_tensors_that_do_not_fit_go_to_the_lines() -> None:
    held, seen = variable(), []

    def native(tensors: Any) -> Any:
        seen.append(len(tensors))
        return library(tensors)

    call = NativeCall(native, lines({"r_v": held}), [held], [], ABOUT)
    call(torch.ones(4))
    assert seen == [2]
    # Strides of what is fed, shape of what is fed, and another tensor of the variable's.
    [y] = call(torch.ones(8)[::2])
    assert seen == [2] and y.tolist() == [2.0] * 4
    held.value = torch.zeros(8)[::2]
    call(torch.ones(4))
    assert seen == [2] and held.value.tolist() == [2.0] * 4
    held.value = torch.zeros(4)
    call(torch.ones(4))
    assert seen == [2, 2]
    held.value = torch.zeros(4, dtype=torch.float64)
    call(torch.ones(4))
    assert seen == [2, 2] and held.value.tolist() == [2.0] * 4


def test_an_index_out_of_range_goes_to_the_lines() -> None:
    seen = []

    def native(tensors: Any) -> Any:
        seen.append(tensors[1].tolist())
        return [tensors[0][tensors[1]]]

    about = [[[4], [1], "float32"], [[2], [1], "int64"]]
    call = NativeCall(
        native, lambda x, at: (x.index_select(0, at),), [], [], about, bounds=[[1, 4]]
    )
    x = torch.arange(4.0)
    assert call(x, torch.tensor([3, 0]))[0].tolist() == [3.0, 0.0]
    for wrong in ([0, 4], [-1, 0]):
        with pytest.raises(IndexError):
            call(x, torch.tensor(wrong))
    assert seen == [[3, 0]]


def test_constants_that_are_indices_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Any] = []
    monkeypatch.setattr(
        trials, "within", lambda at, limit: looked.append(at) or int(at.max()) < limit
    )
    about = [[[4], [1], "float32"], [[2], [1], "int64"]]
    for constant, form in (([3, 0], "native"), ([3, 4], "lines")):
        call = NativeCall(
            lambda tensors: ["native"], lambda x: ["lines"], [], [torch.tensor(constant)], about,
            bounds=[[1, 4]],
        )  # fmt: skip
        assert [call(torch.arange(4.0)) for _ in range(3)] == [[form]] * 3
    assert len(looked) == 2


def test_what_leaves_no_room_for_copies_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    left = [60 << 20]
    monkeypatch.setattr(hardware, "memory", lambda: hardware.Memory(1 << 40, left[0], None))
    for shape, tried in (((4,), True), ((1 << 19,), True), ((1 << 22,), False)):
        held = Variable("v", shape)
        held.assign(torch.zeros(shape))
        about = [[list(shape), [1], "float32"]] * 2
        trial = Trial(library, lines({"r_v": held}), [held], [], about, lines, ["r_v"], [0])
        trial(torch.ones(shape))
        assert held.value.unique().tolist() == [2.0]
        assert trial.verdict == ("" if tried else LARGE)
        assert trial._runs == tried
    left[0] = 1 << 40
    trial = Trial(library, lines({"r_v": held}), [held], [], about, lines, ["r_v"], [0])
    trial(torch.ones(shape))
    assert trial.verdict == ""


def test_a_library_that_fails_leaves_it_to_the_lines() -> None:
    held = variable()

    def native(tensors: Any) -> Any:
        raise RuntimeError("a native call failed")

    call = NativeCall(native, lines({"r_v": held}), [held], [], ABOUT)
    [y] = call(torch.ones(4))
    assert y.tolist() == [2.0] * 4 and held.value.tolist() == [2.0, 3.0, 4.0, 5.0]
    # Not where it may have updated a variable: no update may count twice.
    call = NativeCall(native, lines({"r_v": held}), [held], [], ABOUT, True)
    with pytest.raises(RuntimeError, match="a native call failed"):
        call(torch.ones(4))
    assert held.value.tolist() == [2.0, 3.0, 4.0, 5.0]


def test_many_threads_try_one_stretch() -> None:
    held = variable()
    trial = trial_of(library, held)
    lock = threading.Lock()
    plain = trial._plain

    def counted(x: torch.Tensor) -> Any:
        with lock:  # the additions themselves may be lost, as in TensorFlow
            return plain(x)

    trial._plain = counted
    threads = [
        threading.Thread(target=lambda: [trial(torch.ones(4)) for _ in range(20)])
        for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert trial.verdict in (FAST, SLOW)
    assert held.value.tolist() == [800.0 + i for i in range(4)]


def test_what_is_given_may_lie_in_one_memory() -> None:
    memory = torch.ones(8)
    about = [[[4], [1], "float32"], [[4], [1], "float32"]]
    trial = Trial(
        lambda tensors: [tensors[0] + tensors[1]], lambda x, y: (x + y,), [], [], about,
        lambda names: lambda x, y: (x + y,), [], [],
    )  # fmt: skip
    trial(memory[:4], memory[4:])
    assert trial.verdict == ""


def test_tolerance_is_that_of_rounding() -> None:
    one = torch.tensor([1.0, float("nan"), float("inf")])
    assert same(one, one * (1 + 1e-6)) and not same(one, one * 1.001)
    assert not same(one, torch.tensor([1.0, 2.0, float("inf")]))
    assert same(torch.tensor([1, 2]), torch.tensor([1, 2]))
    assert not same(torch.tensor([1, 2]), torch.tensor([1, 3]))
    assert not same(torch.ones(2), torch.ones(2, dtype=torch.float64))
    assert not same(torch.ones(2), torch.ones(2, 1))
