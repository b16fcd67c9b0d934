"""``from penstock.python.platform import resource_loader``."""

from penstock.platform.resource_loader import *  # noqa: F403
from penstock.platform.resource_loader import __all__  # noqa: F401
