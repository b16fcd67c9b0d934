"""``tf.contrib.staging``: explicit re-exports, no logic."""

from penstock.foundation.base import public_names
from penstock.training.data.staging import StagingArea as StagingArea

__dir__ = public_names.listing(__name__)
