"""Data sets of ``tf.contrib.slim``: records read by queues, decoded into named items.

A ``dataset.Dataset`` says where records are and how they are decoded (``data_decoder``,
``tfexample_decoder``); a ``data_provider`` gives out tensors of its items, read by
``parallel_reader``; ``prefetch_queue`` keeps batches of them ready.
"""

from penstock.contrib.slim.data import (
    data_decoder as data_decoder,
    data_provider as data_provider,
    dataset as dataset,
    dataset_data_provider as dataset_data_provider,
    parallel_reader as parallel_reader,
    prefetch_queue as prefetch_queue,
    tfexample_decoder as tfexample_decoder,
)
