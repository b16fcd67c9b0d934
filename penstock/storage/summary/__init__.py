"""``tf.summary``: summary ops, event files, and what reads them."""

from penstock.foundation.formats.messages import (
    Event,
    SessionLog,
    Summary,
    SummaryDescription,
    TaggedRunMetadata,
)
from penstock.storage.summary.build import (
    audio,
    get_summary_description,
    histogram,
    image,
    merge,
    merge_all,
    scalar,
    tensor_summary,
    text,
)
from penstock.storage.summary.writer import FileWriter, FileWriterCache
from penstock.storage.summary.writing import all_summary_ops as all_v2_summary_ops, initialize

__all__ = [
    "Event", "FileWriter", "FileWriterCache", "SessionLog", "Summary", "SummaryDescription",
    "TaggedRunMetadata", "all_v2_summary_ops", "audio", "get_summary_description", "histogram",
    "image", "initialize", "merge", "merge_all", "scalar", "tensor_summary", "text",
]  # fmt: skip


def __dir__() -> list[str]:
    """The public names, without the modules that define them."""
    return sorted(__all__)
