"""``tf.contrib.batching``: explicit re-exports, no logic."""

from penstock.library.eager.batched import nondifferentiable_batch_function as _batch_function

batch_function = _batch_function
