"""``tf.contrib.deprecated``: the summaries of TensorFlow before 1.0; explicit re-exports."""

from penstock.foundation.base import public_names
from penstock.storage.summary.legacy import (
    audio_summary as audio_summary,
    histogram_summary as histogram_summary,
    image_summary as image_summary,
    merge_all_summaries as merge_all_summaries,
    merge_summary as merge_summary,
    scalar_summary as scalar_summary,
)

__dir__ = public_names.listing(__name__)
