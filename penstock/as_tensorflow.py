"""``import penstock.as_tensorflow``: from here on ``import tensorflow`` gives Penstock.

For a notebook, or a test suite: ``pytest -p penstock.as_tensorflow``. ``penstock run`` does the
same for a program. A TensorFlow that is installed stays, unless ``PENSTOCK_AS_TENSORFLOW`` is
``instead``; ``PENSTOCK_TF_VERSION`` is what ``tf.__version__`` is to be. One line on stderr says
what was done.
"""

from __future__ import annotations

import os
import sys

from penstock.tf1 import children
from penstock.tf1.front import VERSION
from penstock.tf1.install import install

_VERSION = os.environ.get("PENSTOCK_TF_VERSION", VERSION)
_INSTEAD = os.environ.get("PENSTOCK_AS_TENSORFLOW") == "instead"
_done = install(_VERSION, instead=_INSTEAD)
if _done.front is not None:
    children.tell(_VERSION, _INSTEAD, old=True)
_HINT = "" if _done.front else "; PENSTOCK_AS_TENSORFLOW=instead puts Penstock in its place"
_LINE = f"penstock: {_done.said}{_HINT}"
print(_LINE, file=sys.stderr)


def pytest_report_header() -> str:
    """As a plugin of pytest it says so among the first lines."""
    return _LINE
