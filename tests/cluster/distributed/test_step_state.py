"""A step over several tasks, event by event."""

from __future__ import annotations

from hypothesis import given, strategies as st

from penstock.cluster.distributed.step_state import Cancel, Fail, Finish, StepState
from penstock.foundation.base import errors

PS, ONE, TWO = "/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1"


def _error(kind: type, text: str = "why") -> errors.OpError:
    return kind(None, None, text)


def test_a_step_finishes_when_every_task_has_answered() -> None:
    step = StepState([PS, ONE])
    assert step.done(PS) == []
    assert step.waiting == [ONE]
    assert step.done(ONE) == [Finish()]


def test_a_failure_cancels_the_others_and_waits_for_them() -> None:
    step = StepState([PS, ONE, TWO])
    why = _error(errors.InvalidArgumentError)
    assert step.failed(ONE, why) == [Cancel(PS, why), Cancel(TWO, why)]
    assert step.done(PS) == []
    assert step.failed(TWO, _error(errors.CancelledError)) == [Fail(why)]


def test_a_lost_task_explains_what_it_brought_about() -> None:
    step = StepState([PS, ONE])
    first = _error(errors.CancelledError)
    assert step.failed(ONE, first) == [Cancel(PS, first)]
    lost = _error(errors.UnavailableError)
    assert step.failed(PS, lost) == [Fail(lost)]


def test_the_first_of_two_equal_errors_stands() -> None:
    step = StepState([PS, ONE])
    first, second = _error(errors.OutOfRangeError), _error(errors.InvalidArgumentError)
    step.failed(PS, first)
    assert step.failed(ONE, second) == [Fail(first)]


def test_cancelling_and_giving_up() -> None:
    step = StepState([PS, ONE])
    why = _error(errors.DeadlineExceededError)
    assert step.give_up() == []  # nothing is wrong yet
    assert step.cancel(why) == [Cancel(PS, why), Cancel(ONE, why)]
    assert step.cancel(_error(errors.CancelledError)) == []
    assert step.give_up() == [Fail(why)]
    assert step.done(PS) == step.failed(ONE, why) == step.give_up() == []


_EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["done", "failed", "cancel", "give_up"]), st.sampled_from([PS, ONE, TWO])
    ),
    max_size=12,
)


@given(_EVENTS)
def test_a_step_ends_once_and_only_when_it_may(events) -> None:
    step = StepState([PS, ONE, TWO])
    answered, ended, wrong = set(), [], False
    for kind, task in events:
        if kind == "done":
            made = step.done(task)
            answered.add(task)
        elif kind == "failed":
            made = step.failed(task, _error(errors.InternalError))
            answered.add(task)
        elif kind == "cancel":
            made = step.cancel(_error(errors.CancelledError))
        else:
            made = step.give_up()
        wrong = wrong or (kind in ("failed", "cancel") and not ended)
        ends = [each for each in made if isinstance(each, Finish | Fail)]
        if ends and kind != "give_up":
            assert answered == {PS, ONE, TWO}
        for each in made:
            if isinstance(each, Cancel):
                assert each.task not in answered and not ended
        ended += ends
    assert len(ended) <= 1
    if ended:
        assert isinstance(ended[0], Fail) == wrong
    else:
        assert answered != {PS, ONE, TWO}
