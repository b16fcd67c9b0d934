"""``tf.xla.experimental``: explicit re-exports, no logic."""

from penstock.library.control_flow.compiled import compile_ as compile

__all__ = ["compile"]
