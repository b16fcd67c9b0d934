"""Images coded, decoded, resized, cropped and recoloured.  Written as for TensorFlow 1.4."""
from __future__ import print_function

import os
import tempfile

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(70)
pixels = np.kron(rng.randint(0, 256, (6, 5, 3)), np.ones((4, 4, 1))).astype(np.uint8)
path = os.path.join(tempfile.mkdtemp(), 'image.png')
with tf.Graph().as_default(), tf.Session() as sess:
    with tf.gfile.FastGFile(path, 'wb') as f:
        f.write(sess.run(tf.image.encode_png(pixels)))

image = tf.image.decode_png(tf.read_file(path), channels=3)
as_float = tf.image.convert_image_dtype(image, dtype=tf.float32)
box = tf.constant([[[0.1, 0.2, 0.7, 0.9]]])
begin, size, _ = tf.image.sample_distorted_bounding_box(
    tf.shape(image), bounding_boxes=box, min_object_covered=1.0, area_range=[0.99, 1.0],
    aspect_ratio_range=[0.75, 1.33], max_attempts=1, use_image_if_no_bounding_boxes=True)

results = [
    ('decoded', tf.to_float(image)),
    ('bilinear', tf.image.resize_images(as_float, [10, 14])),
    ('nearest', tf.image.resize_images(
        as_float, [10, 14], method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)),
    ('bicubic', tf.image.resize_images(as_float, [30, 31], tf.image.ResizeMethod.BICUBIC)),
    ('area', tf.image.resize_images(as_float, [9, 7], tf.image.ResizeMethod.AREA)),
    ('corners', tf.image.resize_bilinear(tf.expand_dims(as_float, 0), [11, 11],
                                         align_corners=True)),
    ('crop or pad', tf.image.resize_image_with_crop_or_pad(as_float, 16, 28)),
    ('central', tf.image.central_crop(as_float, 0.5)),
    ('box', tf.image.crop_to_bounding_box(as_float, 2, 3, 8, 9)),
    ('padded', tf.image.pad_to_bounding_box(as_float, 1, 2, 30, 30)),
    ('flipped', tf.image.flip_left_right(as_float)),
    ('upside down', tf.image.flip_up_down(as_float)),
    ('rotated', tf.image.rot90(as_float, 3)),
    ('brighter', tf.image.adjust_brightness(as_float, 0.2)),
    ('contrast', tf.image.adjust_contrast(as_float, 0.6)),
    ('hue', tf.image.adjust_hue(as_float, 0.15)),
    ('saturation', tf.image.adjust_saturation(as_float, 1.7)),
    ('gamma', tf.image.adjust_gamma(as_float, 0.8)),
    ('gray', tf.image.rgb_to_grayscale(as_float)),
    ('hsv', tf.image.rgb_to_hsv(as_float)),
    ('standard', tf.image.per_image_standardization(as_float)),
    ('boxes', tf.image.crop_and_resize(tf.expand_dims(as_float, 0), [[0.0, 0.1, 0.8, 0.9]], [0],
                                       [6, 6])),
    ('drawn', tf.image.draw_bounding_boxes(tf.expand_dims(as_float, 0), box)),
    ('glimpse', tf.image.extract_glimpse(tf.expand_dims(as_float, 0), [8, 8], [[0.1, -0.2]])),
    ('patches', tf.extract_image_patches(tf.expand_dims(as_float, 0), [1, 3, 3, 1], [1, 5, 5, 1],
                                         [1, 1, 1, 1], 'VALID')),
    ('variation', tf.image.total_variation(as_float)),
]
with tf.Session() as sess:
    for name, tensor in results:
        value = sess.run(tensor)
        value = value.reshape(value.shape or (1,))
        print('%s %s size %.6g spread %.6g first %.6g' % (
            name, list(value.shape), np.abs(value).mean(), value.std(),
            value.ravel()[value.size // 3]))
    print(sess.run(begin).shape, sess.run(size).shape)
    kept = tf.image.non_max_suppression(
        [[0., 0., 1., 1.], [0., 0.1, 1., 1.1], [2., 2., 3., 3.]], [0.9, 0.8, 0.7], 3, 0.5)
    print(sess.run(kept).tolist())
    encoded = tf.image.encode_jpeg(tf.constant(pixels), quality=100, format='rgb')
    decoded = tf.image.decode_jpeg(encoded)
    print(np.abs(sess.run(decoded).astype(int) - pixels).mean() < 2.0, decoded.get_shape()[2])
