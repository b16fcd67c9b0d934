"""Errors as they cross process boundaries: code, message, node.

A handler's error travels as a Failure message in the trailing metadata of the call; what has none
is a failure of the transport, and gets the name and address of the task that was called.
"""

from __future__ import annotations

from typing import Any

import grpc

from penstock.foundation.base import errors
from penstock.foundation.formats import cluster_messages as messages

FAILURE_KEY = "penstock-failure-bin"
# Room for a long message; gRPC's own default is 8 KiB for all metadata of a call.
METADATA_BYTES = 1 << 18
_MESSAGE_CHARACTERS = 1 << 15
# What TensorFlow's clients take: 8 KiB, in which a character may be 12 bytes.
_DETAIL_CHARACTERS = 600
_CODES = {code.value[0]: code for code in grpc.StatusCode}


class FailedNode:
    """The node that an error from another process names; stands for ``OpError.op``."""

    def __init__(self, name: str) -> None:
        self.name = name


def failure_of(error: BaseException, task: str = "") -> Any:
    """The Failure message of an error; what is no ``tf.errors`` error is an InternalError.

    Args:
      error: what was raised.
      task: where.
    """
    if not isinstance(error, errors.OpError):
        return messages.Failure(
            code=errors.INTERNAL, message=_cut(f"{type(error).__name__}: {error}"), task=task
        )
    node = getattr(error.op, "name", None) or getattr(error.node_def, "name", None) or ""
    return messages.Failure(
        code=error.error_code, message=_cut(str(error)), node=str(node), task=task
    )


def error_of(failure: Any) -> errors.OpError:
    """The error of a Failure message; its ``op`` has the name of the node and no more."""
    node = FailedNode(failure.node) if failure.node else None
    code = failure.code if failure.code > 0 else errors.UNKNOWN
    return errors.make_error(code, failure.message, op=node)


def status_of(failure: Any) -> grpc.StatusCode:
    """The gRPC status of a failure."""
    return _CODES.get(failure.code, grpc.StatusCode.UNKNOWN)


def details_of(failure: Any) -> str:
    """A failure as the text of a gRPC status, as TensorFlow's clients take it."""
    message = str(failure.message)
    if len(message) > _DETAIL_CHARACTERS:
        message = f"{message[:_DETAIL_CHARACTERS]}... ({len(message)} characters)"
    return message + tag_of(failure.node)


def tag_of(node: str) -> str:
    """How TensorFlow's clients find the node of an error in its message."""
    return f"\n\t [[{{{{node {node}}}}}]]" if node else ""


def error_of_call(
    call: Any, what: str, limit: int, seconds: float | None, waited_for_server: bool
) -> errors.OpError:
    """The error of a call that failed.

    Args:
      call: the ``grpc.RpcError``.
      what: the call in words: "RunStep at the master ... (host:port)".
      limit: bytes that a message may have.
      seconds: the deadline that the call had.
      waited_for_server: whether the call waited for the server to be up.
    """
    for key, value in call.trailing_metadata() or ():
        if key == FAILURE_KEY:
            return error_of(messages.Failure.FromString(value))
    code, details = call.code(), call.details() or "no details"
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        if waited_for_server:
            return _unavailable(f"{what} had no answer in {seconds:g} s: no server is up there")
        return errors.DeadlineExceededError(None, None, f"{what} did not end within {seconds:g} s")
    if code is grpc.StatusCode.UNAVAILABLE:
        return _unavailable(f"{what} failed: {details}")
    if code is grpc.StatusCode.CANCELLED:
        return errors.CancelledError(None, None, f"{what} was cancelled: {details}")
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return errors.ResourceExhaustedError(
            None, None, f"{what} failed: {details}; {how_to_raise(limit)}"
        )
    if code is grpc.StatusCode.UNIMPLEMENTED:
        return errors.UnimplementedError(None, None, f"{what}: the server has no such call")
    return errors.make_error(code.value[0], f"{what} failed: {details}")


def how_to_raise(limit: int) -> str:
    """Says what the limit of messages is and how to raise it."""
    return (
        f"messages of this process may have {limit} bytes; PENSTOCK_MAX_MESSAGE_BYTES raises the"
        " limit, which must be the same in all processes, to at most 2147483647"
    )


def _unavailable(text: str) -> errors.UnavailableError:
    return errors.UnavailableError(None, None, text)


def _cut(text: str) -> str:
    if len(text) <= _MESSAGE_CHARACTERS:
        return text
    return text[:_MESSAGE_CHARACTERS] + f"... ({len(text)} characters)"
