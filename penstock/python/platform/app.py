"""``from penstock.python.platform import app``."""

from penstock.platform.app import *  # noqa: F403
from penstock.platform.app import __all__  # noqa: F401
