"""``tf.image``: images; explicit re-exports, no logic."""

from penstock.ops.image_codec import (
    decode_and_crop_jpeg,
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    encode_jpeg,
    encode_png,
    extract_jpeg_shape,
)
from penstock.ops.image_resize import (
    ResizeMethod,
    resize_bilinear,
    resize_images,
    resize_nearest_neighbor,
)

resize = resize_images

__all__ = [
    "ResizeMethod",
    "decode_and_crop_jpeg",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "encode_jpeg",
    "encode_png",
    "extract_jpeg_shape",
    "resize",
    "resize_bilinear",
    "resize_images",
    "resize_nearest_neighbor",
]
