"""Module paths of TensorFlow that programs import directly.

``paths.py`` is the table of them, ``beneath.pyi`` says where names are that are not public,
``tree.py`` makes the modules.
"""

import sys

from penstock.foundation.base.other_names import also_known_as
from penstock.python import tree

__getattr__, __dir__ = tree.names_of("python")

also_known_as(sys.modules[__name__], __name__, tree.absence)
