"""``from penstock.python.platform import sysconfig``."""

from penstock.platform.sysconfig import *  # noqa: F403
from penstock.platform.sysconfig import __all__  # noqa: F401
