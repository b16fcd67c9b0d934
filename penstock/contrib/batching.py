"""``tf.contrib.batching``: explicit re-exports, no logic."""

from penstock.foundation.base import public_names
from penstock.library.eager.batched import nondifferentiable_batch_function as _batch_function

batch_function = _batch_function

__dir__ = public_names.listing(__name__)
