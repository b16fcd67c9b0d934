"""Op families: op, public function, shape rule, kernel and gradient side by side.

Importing this package registers every op type.
"""

from importlib import import_module
from pkgutil import walk_packages

from penstock.foundation.base import torch_parts

torch_parts.load()
for _module in sorted(module.name for module in walk_packages(__path__, f"{__name__}.")):
    import_module(_module)
