"""``import penstock.compat.v1 as tf``: this name is ``penstock`` itself.

So are the modules below it: ``penstock.compat.v1.nn`` is ``penstock.nn``, not a second copy of it.
"""

from typing import TYPE_CHECKING

import penstock
from penstock.foundation.base.other_names import also_known_as

if TYPE_CHECKING:
    from penstock import *  # noqa: F403

also_known_as(penstock, __name__)
