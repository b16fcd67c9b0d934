"""Op families: op, public function, shape rule, kernel and gradient side by side.

Importing this package registers every op type.
"""

from importlib import import_module
from pkgutil import iter_modules

for _family in sorted(module.name for module in iter_modules(__path__)):
    import_module(f"{__name__}.{_family}")
