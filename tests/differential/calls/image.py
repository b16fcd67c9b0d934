"""Images: colors, sizes, crops, boxes, codecs."""

from __future__ import annotations

from tests.differential.args import D, I, M, O, P, R, S, T, X, Z, call, drawn, each

HALVES = O(False, True)
IMAGE = P(4, 5, 3)
BATCH = P(2, 4, 5, 3)
BOXES = X([[0.0, 0.0, 0.5, 0.5], [0.1, 0.1, 0.6, 0.6], [0.5, 0.5, 1.0, 1.0]])
SCORES = X([0.9, 0.8, 0.7])
PIXELS = Z(4, 5, 3, dtype="uint8")

CALLS = [
    call("image.adjust_brightness", IMAGE, O(0.1, -0.5, 2)),
    call("image.adjust_contrast", IMAGE, O(0.5, 2.0, -1.0)),
    call("image.adjust_gamma", IMAGE, O(1, 0.5, -1, 2.0), O(1, 2)),
    call("image.adjust_hue", IMAGE, O(0.1, -0.3, 2.0)),
    call("image.adjust_saturation", IMAGE, O(0.5, 2.0, 0.0, -1.0)),
    call("image.central_crop", IMAGE, O(0.5, 1.0, 0.9, 0.0, 1.5)),
    call(
        "image.convert_image_dtype",
        IMAGE,
        D("uint8", "float32", "int16", "float64", "int32", "uint16"),
        HALVES,
    ),
    call(
        "image.crop_and_resize",
        BATCH,
        BOXES,
        I([0, 1, 0]),
        S([2, 2]),
        O("bilinear", "nearest", "x"),
        O(0, 1.5),
    ),
    call("image.crop_to_bounding_box", IMAGE, S(1), S(1), S(2), S(3)),
    call("image.pad_to_bounding_box", IMAGE, S(1), S(1), S(6), S(8)),
    call("image.draw_bounding_boxes", BATCH, P(2, 2, 4)),
    drawn("image.extract_glimpse", BATCH, S([2, 2]), R(2, 2), HALVES, HALVES, HALVES),
    *each("image.flip_left_right image.flip_up_down image.transpose_image", IMAGE),
    call("image.grayscale_to_rgb", P(4, 5, 1)),
    *each(
        "image.rgb_to_grayscale image.rgb_to_hsv image.hsv_to_rgb image.rgb_to_yiq"
        " image.rgb_to_yuv image.yiq_to_rgb"
        " image.yuv_to_rgb",
        IMAGE,
    ),
    *each("image.image_gradients image.sobel_edges", BATCH),
    call("image.per_image_standardization", IMAGE),
    call("image.rot90", IMAGE, O(1, 2, 3, 4, -1, 0)),
    call("image.total_variation", BATCH),
    call("image.psnr", IMAGE, IMAGE, O(1.0, 255, 0.0)),
    call("image.ssim", P(12, 12, 1), P(12, 12, 1), O(1.0, 255)),
    call(
        "image.non_max_suppression", BOXES, SCORES, S(2), O(0.5, 0.0, 1.5), O(float("-inf"), 0.75)
    ),
    call(
        "image.non_max_suppression_with_scores",
        BOXES,
        SCORES,
        S(2),
        O(0.5, 0.0),
        O(float("-inf"), 0.75),
        O(0.0, 0.5),
    ),
    call(
        "image.non_max_suppression_padded",
        BOXES,
        SCORES,
        S(2),
        O(0.5, 0.0),
        O(float("-inf"), 0.75),
        HALVES,
    ),
    call(
        "image.non_max_suppression_overlaps",
        X([[1.0, 0.5, 0.25], [0.5, 1.0, 0.625], [0.25, 0.625, 1.0]]),
        SCORES,
        S(2),
        O(0.5, 0.0),
        O(float("-inf"), 0.75),
    ),
    call(
        "image.combined_non_max_suppression",
        P(1, 3, 1, 4),
        P(1, 3, 2),
        S(2),
        S(3),
        O(0.5, 0.0),
        O(float("-inf"), 0.5),
        HALVES,
        O(True, False),
    ),
    call("image.resize_images", BATCH, S([3, 7]), O(0, 1, 2, 3, 9), HALVES, HALVES),
    *each(
        "image.resize_bilinear image.resize_bicubic image.resize_nearest_neighbor"
        " image.resize_area",
        BATCH,
        S([3, 7]),
        HALVES,
    ),
    call("image.resize_image_with_crop_or_pad", IMAGE, S(3), S(7)),
    call("image.resize_image_with_pad", IMAGE, S(3), S(7), O(0, 1, 2, 3)),
    call("image.decode_png", T("not a png"), O(0, 1, 3, 2), D("uint8", "uint16", "float32")),
    # Other filters and another zlib: the bytes differ, and the pixels do not.
    drawn("image.encode_png", PIXELS, O(-1, 0, 9, 10)),
    call("image.encode_jpeg", PIXELS, O("", "rgb", "grayscale", "x"), O(95, 0, 100, 101)),
    call("image.is_jpeg", T("\xff\xd8\xff")),
    call(
        "image.extract_patches",
        BATCH,
        O([1, 2, 2, 1], [1, 3, 3, 1]),
        O([1, 1, 1, 1], [1, 2, 2, 1]),
        O([1, 1, 1, 1]),
        O("VALID", "SAME"),
    ),
    drawn("image.random_brightness", IMAGE, O(0.1, 0, -1)),
    drawn("image.random_contrast", IMAGE, O(0.1, 0.9, -1), O(0.5, 0.05)),
    drawn("image.random_hue", IMAGE, O(0.1, 0.6, -1)),
    drawn("image.random_saturation", IMAGE, O(0.1, 0.9, -1), O(0.5, 0.05)),
    *[drawn(name, IMAGE) for name in ("image.random_flip_left_right", "image.random_flip_up_down")],
    drawn(
        "image.sample_distorted_bounding_box",
        I([8, 8, 3]),
        P(1, 2, 4),
        M(O(1)),
        min_object_covered=O(0.1, 0.0),
        use_image_if_no_bounding_boxes=O(True, False),
    ),
]
