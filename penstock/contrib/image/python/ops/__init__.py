"""Module paths of TensorFlow that programs import directly: explicit re-exports, no logic."""

from penstock.contrib.image import (
    distorting as distort_image_ops,
    moving as image_ops,
    spline as interpolate_spline,
    warping as dense_image_warp,
    warping as sparse_image_warp,
)

__all__ = [
    "dense_image_warp",
    "distort_image_ops",
    "image_ops",
    "interpolate_spline",
    "sparse_image_warp",
]
