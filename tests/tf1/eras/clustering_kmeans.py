"""K-means by assignments in the graph.  Written as for TensorFlow 0.8."""
import numpy as np
import tensorflow as tf

N, K, MAX_ITERS = 60, 3, 12
rng = np.random.RandomState(40)
start = rng.uniform(-1, 1, (N, 2)) + np.array([[0, 0], [3, 1], [-1, 4]])[np.arange(N) % 3]

points = tf.Variable(tf.cast(start, tf.float32))
cluster_assignments = tf.Variable(tf.zeros([N], dtype=tf.int64))
centroids = tf.Variable(tf.slice(points.initialized_value(), [0, 0], [K, 2]))

# Replicate to N copies of each centroid and K copies of each point, then subtract
rep_centroids = tf.reshape(tf.tile(centroids, [N, 1]), [N, K, 2])
rep_points = tf.reshape(tf.tile(points, [1, K]), [N, K, 2])
sum_squares = tf.reduce_sum(tf.square(tf.sub(rep_points, rep_centroids)), reduction_indices=2)
best_centroids = tf.argmin(sum_squares, 1)
did_assignments_change = tf.reduce_any(tf.not_equal(best_centroids, cluster_assignments))


def bucket_mean(data, bucket_ids, num_buckets):
    total = tf.unsorted_segment_sum(data, bucket_ids, num_buckets)
    count = tf.unsorted_segment_sum(tf.ones_like(data), bucket_ids, num_buckets)
    return tf.div(total, count)


means = bucket_mean(points, best_centroids, K)

# Do not write to the assigned clusters variable until after its change was computed.
with tf.control_dependencies([did_assignments_change]):
    do_updates = tf.group(
        centroids.assign(means),
        cluster_assignments.assign(best_centroids))

sess = tf.Session()
sess.run(tf.initialize_all_variables())
changed = True
iters = 0
while changed and iters < MAX_ITERS:
    iters += 1
    [changed, _] = sess.run([did_assignments_change, do_updates])
    print("iteration %d changed %d within %.6g" % (
        iters, changed, sess.run(tf.reduce_sum(tf.reduce_min(sum_squares, 1)))))

[centers, assignments] = sess.run([centroids, cluster_assignments])
for center in centers:
    print("%.6g %.6g" % tuple(center))
print(np.bincount(assignments))
packed = sess.run(tf.pack([tf.reduce_max(points, 0), tf.reduce_min(points, 0)]))
print(" ".join("%.6g" % v for v in packed.ravel()))
