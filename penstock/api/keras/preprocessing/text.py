"""``tf.keras.preprocessing.text``: explicit re-exports, no logic."""

from penstock.training.keras_models.texts import (
    Tokenizer as Tokenizer,
    hashing_trick as hashing_trick,
    one_hot as one_hot,
    text_to_word_sequence as text_to_word_sequence,
)
