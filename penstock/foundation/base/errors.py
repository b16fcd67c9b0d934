"""The exceptions a program sees, one class for each canonical status code.

The codes are those of gRPC and TensorFlow, so that an error crosses a process boundary as
(code, message) and comes out as the same class on the other side. An exception keeps the failing
operation (`op`) and its `node_def` for the caller in the same process; pickling keeps the class,
code and message only, because an operation belongs to a graph of one process.

Source: the behaviour of `tf.errors` in TensorFlow 1.15, except that `repr` shows the message and
that an unknown exception class maps to UNKNOWN without a warning.
"""

from __future__ import annotations

from typing import Any, ClassVar

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


class OpError(Exception):
    """The base of every error that running a graph can raise.

    Args:
        node_def: the NodeDef of the failing node, or None.
        op: the Operation that failed, or None where it is not known.
        message: what went wrong, what was found, what is allowed.
        error_code: one of the code constants of this module.

    >>> error = NotFoundError(None, None, "no variable 'w'")
    >>> error.error_code, str(error)
    (5, "no variable 'w'")
    """

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int) -> None:
        super().__init__(message)
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code

    @property
    def message(self) -> str:
        """The description of the error."""
        return self._message

    @property
    def op(self) -> Any:
        """The operation that failed, or None."""
        return self._op

    @op.setter
    def op(self, op: Any) -> None:
        self._op = op

    @property
    def node_def(self) -> Any:
        """The NodeDef of the node that failed, or None."""
        return self._node_def

    @property
    def error_code(self) -> int:
        """The canonical status code."""
        return self._error_code

    def __str__(self) -> str:
        return self._message

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self._message, self._error_code)


class _CodedError(OpError):
    """An OpError whose class says the code."""

    CODE: ClassVar[int] = UNKNOWN

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, self.CODE)


class CancelledError(_CodedError):
    """The operation or step was cancelled."""

    CODE = CANCELLED


class UnknownError(OpError):
    """An error whose cause is not known, such as one from another error space."""

    CODE: ClassVar[int] = UNKNOWN

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int = UNKNOWN) -> None:
        super().__init__(node_def, op, message, error_code)


class InvalidArgumentError(_CodedError):
    """An operation received a value or shape that it does not accept."""

    CODE = INVALID_ARGUMENT


def invalid(text: str) -> InvalidArgumentError:
    """The error of a value that is not accepted, where no node is known to have got it."""
    return InvalidArgumentError(None, None, text)


class DeadlineExceededError(_CodedError):
    """A deadline passed before the operation was done."""

    CODE = DEADLINE_EXCEEDED


class NotFoundError(_CodedError):
    """A requested thing (a file, a tensor of a checkpoint, a resource) does not exist."""

    CODE = NOT_FOUND


class AlreadyExistsError(_CodedError):
    """A thing that was to be created exists already."""

    CODE = ALREADY_EXISTS


class PermissionDeniedError(_CodedError):
    """The caller may not do this."""

    CODE = PERMISSION_DENIED


class ResourceExhaustedError(_CodedError):
    """Memory, disk or another resource ran out."""

    CODE = RESOURCE_EXHAUSTED


class FailedPreconditionError(_CodedError):
    """The system is not in the state that the operation needs (an uninitialized variable)."""

    CODE = FAILED_PRECONDITION


class AbortedError(_CodedError):
    """The operation was aborted, as when a peer restarted; trying again may help."""

    CODE = ABORTED


class OutOfRangeError(_CodedError):
    """The end of the input was passed, as when a closed queue is empty.

    Example:
      >>> import penstock as tf
      >>> number = tf.data.Dataset.range(3).make_one_shot_iterator().get_next()
      >>> numbers = []
      >>> with tf.Session() as session:
      ...     try:
      ...         while True:
      ...             numbers.append(int(session.run(number)))
      ...     except tf.errors.OutOfRangeError:
      ...         print("all seen:", numbers)
      all seen: [0, 1, 2]
    """

    CODE = OUT_OF_RANGE


class UnimplementedError(_CodedError):
    """The operation is not implemented for these types or on this device."""

    CODE = UNIMPLEMENTED


class InternalError(_CodedError):
    """An invariant of the system itself is broken."""

    CODE = INTERNAL


class UnavailableError(_CodedError):
    """A task cannot be reached at present."""

    CODE = UNAVAILABLE


class DataLossError(_CodedError):
    """Data was lost or is corrupt."""

    CODE = DATA_LOSS


class UnauthenticatedError(_CodedError):
    """The caller did not prove who it is."""

    CODE = UNAUTHENTICATED


_CODE_TO_CLASS: dict[int, type[OpError]] = {
    cls.CODE: cls
    for cls in (
        CancelledError,
        UnknownError,
        InvalidArgumentError,
        DeadlineExceededError,
        NotFoundError,
        AlreadyExistsError,
        PermissionDeniedError,
        ResourceExhaustedError,
        FailedPreconditionError,
        AbortedError,
        OutOfRangeError,
        UnimplementedError,
        InternalError,
        UnavailableError,
        DataLossError,
        UnauthenticatedError,
    )
}
_CLASS_TO_CODE: dict[type[BaseException], int] = {c: code for code, c in _CODE_TO_CLASS.items()}


def _rebuild(cls: type[OpError], message: str, error_code: int) -> OpError:
    """Makes an error again from what was pickled, without running a subclass's constructor."""
    error = cls.__new__(cls)
    OpError.__init__(error, None, None, message, error_code)
    return error


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The exception class of a status code.

    Args:
        error_code: a code other than OK.

    Returns:
        The class.

    Raises:
        KeyError: the code names no error.

    >>> exception_type_from_error_code(11).__name__
    'OutOfRangeError'
    """
    try:
        return _CODE_TO_CLASS[error_code]
    except KeyError:
        raise KeyError(
            f"no exception class for code {error_code!r}: codes of errors are 1 to 16"
        ) from None


def error_code_from_exception_type(cls: type[BaseException]) -> int:
    """The status code of an exception class, or UNKNOWN for a class without one.

    A class derived from one of ours has the code of that one.
    """
    for base in cls.__mro__:
        if base in _CLASS_TO_CODE:
            return _CLASS_TO_CODE[base]
    return UNKNOWN


def make_error(error_code: int, message: str, node_def: Any = None, op: Any = None) -> OpError:
    """The exception for a status code; a code without a class makes an UnknownError with it."""
    cls = _CODE_TO_CLASS.get(error_code)
    if cls is None or cls is UnknownError:
        return UnknownError(node_def, op, message, error_code)
    return cls(node_def, op, message)  # type: ignore[call-arg]


class Status:
    """A status that callees fill in: `code` and `message`."""

    __slots__ = ("code", "message")

    def __init__(self) -> None:
        self.code = OK
        self.message = ""

    def set(self, code: int, message: str) -> None:
        """Records an outcome."""
        self.code = code
        self.message = message


class raise_exception_on_not_ok_status:
    """Gives a `with` block a Status, and raises the exception of its code when the block ends.

    Raises:
        OpError: the block left a code other than OK.
    """

    def __enter__(self) -> Status:
        self._status = Status()
        return self._status

    def __exit__(self, kind: Any, *exc: Any) -> None:
        if kind is None and self._status.code != OK:
            raise make_error(self._status.code, self._status.message)
