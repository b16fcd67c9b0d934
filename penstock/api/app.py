"""``tf.app``: explicit re-exports."""

from penstock.tools.platform.app import *  # noqa: F403
from penstock.tools.platform.app import __all__ as __all__
