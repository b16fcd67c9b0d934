"""``tf.keras.preprocessing.sequence``: explicit re-exports, no logic."""

from penstock.training.keras_models.sequences import (
    TimeseriesGenerator as TimeseriesGenerator,
    make_sampling_table as make_sampling_table,
    pad_sequences as pad_sequences,
    skipgrams as skipgrams,
)
