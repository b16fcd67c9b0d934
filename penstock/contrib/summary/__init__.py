"""``tf.contrib.summary``: summaries that nodes write when they run; explicit re-exports, no logic.

The functions are those of ``storage.summary``: ``writing`` has one a kind of summary, ``recording``
decides whether they are written, ``resource_writer`` makes what they are written by.
"""

from penstock.foundation.base import public_names
from penstock.storage.summary.recording import (
    always_record_summaries as always_record_summaries,
    never_record_summaries as never_record_summaries,
    record_summaries_every_n_global_steps as record_summaries_every_n_global_steps,
    should_record_summaries as should_record_summaries,
)
from penstock.storage.summary.resource_writer import (
    SummaryWriter as SummaryWriter,
    create_db_writer as create_db_writer,
    create_file_writer as create_file_writer,
    create_summary_file_writer as create_summary_file_writer,
    eval_dir as eval_dir,
    flush as flush,
    summary_writer_initializer_op as summary_writer_initializer_op,
)
from penstock.storage.summary.writing import (
    all_summary_ops as all_summary_ops,
    audio as audio,
    generic as generic,
    graph as graph,
    histogram as histogram,
    image as image,
    import_event as import_event,
    initialize as initialize,
    scalar as scalar,
)

__dir__ = public_names.listing(__name__)
