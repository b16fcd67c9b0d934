"""Penstock: TensorFlow 1.x programs as dataflow graphs over PyTorch's kernels.

``import penstock as tf`` gives the public names of TensorFlow 1.15, as far as they are built.
``__init__.pyi`` says where each is; it is loaded, and torch with it, when it is first used.
"""

import sys

from penstock.foundation.base import other_names, public_names

newaxis = None
__version__ = "0.1.0"

__getattr__, __dir__, __all__ = public_names.of_package(
    __name__, page="docs/ops.md", first="penstock.api.from_the_start"
)
__all__ += ["newaxis"]

# `from penstock.train import Saver` works, too, though that is no folder.
other_names.also_known_as(sys.modules[__name__], __name__)
