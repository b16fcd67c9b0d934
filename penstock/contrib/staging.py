"""``tf.contrib.staging``: explicit re-exports, no logic."""

from penstock.data.staging import StagingArea as StagingArea
