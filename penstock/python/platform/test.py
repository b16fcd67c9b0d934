"""``from penstock.python.platform import test``."""

from penstock.testing.public import *  # noqa: F403
from penstock.testing.public import __all__  # noqa: F401
