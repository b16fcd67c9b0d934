"""Errors: codes, classes and what of an error crosses a process boundary."""

import copy
import pickle

import pytest
from hypothesis import given, strategies as st

from penstock.foundation.base import errors

# Constant, code and class, as tf.errors of TensorFlow 1.15 has them.
CODES = [
    ("CANCELLED", 1, "CancelledError"),
    ("UNKNOWN", 2, "UnknownError"),
    ("INVALID_ARGUMENT", 3, "InvalidArgumentError"),
    ("DEADLINE_EXCEEDED", 4, "DeadlineExceededError"),
    ("NOT_FOUND", 5, "NotFoundError"),
    ("ALREADY_EXISTS", 6, "AlreadyExistsError"),
    ("PERMISSION_DENIED", 7, "PermissionDeniedError"),
    ("RESOURCE_EXHAUSTED", 8, "ResourceExhaustedError"),
    ("FAILED_PRECONDITION", 9, "FailedPreconditionError"),
    ("ABORTED", 10, "AbortedError"),
    ("OUT_OF_RANGE", 11, "OutOfRangeError"),
    ("UNIMPLEMENTED", 12, "UnimplementedError"),
    ("INTERNAL", 13, "InternalError"),
    ("UNAVAILABLE", 14, "UnavailableError"),
    ("DATA_LOSS", 15, "DataLossError"),
    ("UNAUTHENTICATED", 16, "UnauthenticatedError"),
]


@pytest.mark.parametrize(("constant", "code", "name"), CODES)
def test_class_and_code(constant, code, name):
    cls = getattr(errors, name)
    assert getattr(errors, constant) == code
    assert errors.exception_type_from_error_code(code) is cls
    assert errors.error_code_from_exception_type(cls) == code
    error = cls("node", "op", "what happened")
    assert isinstance(error, errors.OpError)
    assert (error.node_def, error.op, error.message) == ("node", "op", "what happened")
    assert error.error_code == code
    assert str(error) == "what happened"
    assert repr(error) == f"{name}('what happened')"


def test_base_and_unknown_take_a_code():
    assert errors.OpError(None, None, "m", 3).error_code == 3
    assert errors.UnknownError(None, None, "m", 77).error_code == 77
    assert errors.OK == 0


@pytest.mark.parametrize("code", [0, 17, 99])
def test_codes_that_are_no_errors(code):
    with pytest.raises(KeyError, match="codes of errors are 1 to 16"):
        errors.exception_type_from_error_code(code)


def test_code_of_other_classes():
    class Derived(errors.NotFoundError):
        pass

    assert errors.error_code_from_exception_type(Derived) == errors.NOT_FOUND
    assert errors.error_code_from_exception_type(ValueError) == errors.UNKNOWN
    assert errors.error_code_from_exception_type(errors.OpError) == errors.UNKNOWN


@given(st.integers(1, 40), st.text())
def test_pickle_keeps_class_code_and_message(code, message):
    error = errors.make_error(code, message, op=lambda: "not picklable")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert (again.error_code, again.message, str(again)) == (code, message, message)
        assert again.op is None


def test_pickle_does_not_run_a_subclass_constructor():
    again = pickle.loads(pickle.dumps(_Located("w:0")))
    assert type(again) is _Located
    assert (again.message, again.error_code) == ("no w:0", errors.NOT_FOUND)


class _Located(errors.NotFoundError):
    def __init__(self, name):
        super().__init__(None, None, f"no {name}")


def test_status_context():
    with errors.raise_exception_on_not_ok_status() as status:
        assert status.code == errors.OK
    with (
        pytest.raises(errors.OutOfRangeError, match="queue is closed"),
        errors.raise_exception_on_not_ok_status() as status,
    ):
        status.set(errors.OUT_OF_RANGE, "queue is closed")


def test_status_context_lets_exceptions_through():
    with pytest.raises(ZeroDivisionError), errors.raise_exception_on_not_ok_status() as status:
        status.set(errors.INTERNAL, "hidden by the exception")
        raise ZeroDivisionError
