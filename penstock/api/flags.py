"""``tf.flags``: explicit re-exports."""

from penstock.tools.platform.flags import *  # noqa: F403
from penstock.tools.platform.flags import __all__ as __all__
