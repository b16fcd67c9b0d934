"""``from penstock.python.platform import tf_logging``."""

from penstock.platform.tf_logging import *  # noqa: F403
from penstock.platform.tf_logging import __all__  # noqa: F401
