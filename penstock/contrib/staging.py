"""``tf.contrib.staging``: explicit re-exports, no logic."""

from penstock.training.data.staging import StagingArea as StagingArea
