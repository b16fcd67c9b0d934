"""``from penstock.python.platform import flags``."""

from penstock.platform.flags import *  # noqa: F403
from penstock.platform.flags import __all__  # noqa: F401
