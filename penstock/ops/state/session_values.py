"""Values that stay with a session: a step keeps one and gives its handle, a later step uses it.

All nodes of a session share one ``resources.session_values.SessionValues`` (on a cluster: all of
one task).  What ``Session.run`` returns for a handle is a ``session.handles.TensorHandle``.
"""

from __future__ import annotations

from typing import Any

from penstock.engine.resources.session_values import SessionValues
from penstock.foundation.base import devices, dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, scalar
from penstock.foundation.opdef.program_text import literal
from penstock.foundation.opdef.shared_state import SharedState
from penstock.ops.array import constant

_REASON = "moves a value between steps"
# The device of a session that has one and does not say so in its nodes.
_THIS_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


def _keep(value: Any, state: SessionValues) -> Any:
    return state.keep(value, "value", _THIS_DEVICE)


def _keep_inline(call: Any) -> str:
    name, where = literal(call.op.name), literal(call.op.device or _THIS_DEVICE)
    return f"{call.arg['state']}.keep({call.arg['value']}, {name}, {where})"


def _value(handle: Any, dtype: Any, state: SessionValues) -> Any:
    return state.value(handle, dtype)


def _forget(handle: Any, state: SessionValues) -> None:
    state.forget(handle)


def _read_shape(ctx: ShapeContext) -> Dims:
    ctx.rank("handle", 0)
    return None


def _delete_shape(ctx: ShapeContext) -> list[Dims]:
    ctx.rank("handle", 0)
    return []


_STATE = SharedState("session values", lambda attrs, name: SessionValues(), outputs_are_values=True)
for _name, _output in (("GetSessionHandle", "string"), ("GetSessionHandleV2", "resource")):
    define_op(
        _name,
        f"value: T -> handle: {_output}",
        attrs=["T: type"],
        shape=scalar,
        kernel=_keep,
        inline=_keep_inline,
        role="session_handle",
        state=_STATE,
        stateful=True,
        no_gradient=_REASON,
    )
define_op(
    "GetSessionTensor",
    "handle: string -> value: dtype",
    attrs=["dtype: type"],
    shape=_read_shape,
    kernel=_value,
    lends=True,
    state=_STATE,
    stateful=True,
    no_gradient=_REASON,
    role="session_value",
)
define_op(
    "DeleteSessionTensor",
    "handle: string ->",
    shape=_delete_shape,
    kernel=_forget,
    state=_STATE,
    stateful=True,
    effect=True,
    no_gradient=_REASON,
    role="session_value",
)


# ---- public functions ----------------------------------------------------------------------------


def get_session_handle(data: Tensor, name: str | None = None) -> Tensor:
    """Keeps a tensor with the session, for later steps.

    Args:
      data: the tensor.

    Returns:
      A string scalar.  ``Session.run`` makes a ``TensorHandle`` of it, whose ``handle`` later steps
      are fed (see ``get_session_tensor``), and which has ``eval()`` and ``delete()``.  The value
      goes when the handle is deleted or garbage, or the session closes.

    Raises:
      TypeError: ``data`` is no tensor.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     kept = sess.run(tf.get_session_handle(tf.constant([1.0, 2.0]) * 3.0))
      ...     holder, value = tf.get_session_tensor(kept.handle, tf.float32)
      ...     print(sess.run(value + 1.0, {holder: kept.handle}))
      [4. 7.]
    """
    if not isinstance(data, Tensor):
        raise TypeError(f"`data` must be of type Tensor; found {type(data).__name__}")
    with scopes.colocate_with(data):
        return make("GetSessionHandle", data, name=name)


def get_session_tensor(
    handle: str | bytes, dtype: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """A tensor that the session keeps.

    Args:
      handle: the ``handle`` of a ``TensorHandle``: its device is where the value is.
      dtype: type of the kept tensor.

    Returns:
      A placeholder that is to be fed handles, and the tensor behind the handle fed.
    """
    with scopes.device(_device_of(handle)):
        holder = constant.placeholder(dtypes.string)
        value: Tensor = make("GetSessionTensor", holder, dtype=dtypes.as_dtype(dtype), name=name)
        return holder, value


def delete_session_tensor(handle: str | bytes, name: str | None = None) -> tuple[Tensor, Operation]:
    """An operation that makes the session forget a tensor.

    Args:
      handle: the ``handle`` of a ``TensorHandle``: its device is where the value is.

    Returns:
      A placeholder that is to be fed handles, and the operation.
    """
    with scopes.device(_device_of(handle)):
        holder = constant.placeholder(dtypes.string)
        forgotten: Operation = make("DeleteSessionTensor", holder, name=name)
        return holder, forgotten


def _device_of(handle: str | bytes) -> str:
    text = handle.decode() if isinstance(handle, bytes) else str(handle)
    return devices.canonical_name(text.split(";")[-1])
