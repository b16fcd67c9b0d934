"""``tf.autograph.experimental``: explicit re-exports, no logic."""

from penstock.library.autograph.calls import do_not_convert as do_not_convert
from penstock.library.autograph.public import (
    Feature as Feature,
    set_loop_options as set_loop_options,
)
