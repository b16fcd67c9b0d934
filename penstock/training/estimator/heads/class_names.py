"""The classes of a head by their numbers and by their names."""

from __future__ import annotations

from typing import Any

from penstock.ops.array import ranges, reshape, shape as shaping
from penstock.ops.array.tile import tile
from penstock.ops.strings.string_text import as_string
from penstock.training.data.lookup_vocabulary import (
    index_table_from_tensor,
    index_to_string_table_from_tensor,
)


class ClassNames:
    """What the heads of classes share: how many there are, and what they are called."""

    _n_classes: int
    _label_vocabulary: Any

    def _all_classes(self, logits: Any) -> Any:
        batch: Any = shaping.shape(logits)[0]
        names = self._label_vocabulary or as_string(ranges.range_(self._n_classes))
        return tile(reshape.expand_dims(names, axis=0), [batch, 1])

    def _all_class_ids(self, logits: Any) -> Any:
        batch: Any = shaping.shape(logits)[0]
        ids = ranges.range_(self._n_classes)
        return tile(reshape.expand_dims(ids, axis=0), [batch, 1])

    def _names(self, class_ids: Any) -> Any:
        if not self._label_vocabulary:
            return as_string(class_ids, name="str_classes")
        table = index_to_string_table_from_tensor(
            self._label_vocabulary, name="class_string_lookup"
        )
        return table.lookup(class_ids)

    def _ids(self, labels: Any) -> Any:
        table = index_table_from_tensor(tuple(self._label_vocabulary), name="class_id_lookup")
        return table.lookup(labels)
