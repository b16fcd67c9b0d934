"""``from penstock.python.util import compat``."""

from penstock.platform.text import *  # noqa: F403
from penstock.platform.text import __all__  # noqa: F401
