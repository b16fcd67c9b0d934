"""Differences that are known and not mended yet: what is left to do.

A row is as those of ``explained.py``; mending it removes the row.
"""

from __future__ import annotations

UNFINISHED: tuple[tuple[str, str, str], ...] = (
    (
        "*",
        r"^class: ValueError at build .*TensorFlow raises InvalidArgumentError at ",
        "refused while building, where TensorFlow leaves it to the run and to InvalidArgumentError",
    ),
    (
        "*",
        r"^class: (InvalidArgumentError at run|TypeError at build) .*TensorFlow raises ValueError"
        r" at build \(.*(Shape must be|Dimension|[Ss]hapes|rank|split axis|empty output shape)",
        "TensorFlow's shape rule refuses what Penstock's leaves to the run, or refuses otherwise",
    ),
    (
        "math.cumulative_logsumexp cumsum cumprod segment_* strings.* *_dense"
        " nn.batch_normalization",
        r"^(class|stage)",
        "errors of another class",
    ),
    (
        "bincount eye broadcast_to space_to_batch_nd batch_to_space_nd unsorted_segment_* sparse.*"
        " linalg.set_diag linalg.expm signal.frame signal.rfft*"
        " extract_volume_patches image.resize_image_with_pad"
        " sort argsort",
        r"^static",
        "static shapes from shape tensors of which a part is known",
    ),
    (
        "eye sparse.eye squeeze assert_* Assert"
        " required_space_to_batch_paddings fingerprint sparse.fill_empty_rows"
        " tensor_scatter_*",
        r"^accepts",
        "taken, though TensorFlow refuses NumPy's numbers, empty lists or other sizes there",
    ),
    (
        "group tuple",
        r"^refuses: .*a placeholder must be fed",
        "without the optimizing passes, an op that waits for a fed placeholder",
    ),
    ("clip_by_norm", r"^refuses: .*multiple times", "an axis that is named twice"),
    ("string_to_number strings.to_number", r"^refuses: .*correctly convert", "hexadecimal numbers"),
    (
        "nn.ctc_beam_search_decoder nn.weighted_moments",
        r"^(value|shape)",
        "paths of equal probability, and logits and weights near the greatest or the least number",
    ),
    ("strings.format", r"^value", "summaries of nothing and of empty tensors"),
    (
        "nn.embedding_lookup_sparse nn.safe_embedding_lookup_sparse",
        r"^(refuses|class)",
        "half-precision parameters",
    ),
    ("image.random_flip* extract_image_patches sets.*", r"^class", "errors of another class"),
    ("get_static_value", r"^refuses", "what is no tensor"),
    ("where_v2", r"^(refuses|static)", "broadcasting"),
)
# The rows above were written from 25 calls of each function.  Of further calls, such a part may
# differ in other ways until they have been looked at.
UNSEEN = 0.1
