"""Matrix factorisation over embeddings in three shards, by mod and by div; Ftrl, sparse."""


def build(tf, np):
    draw = np.random.RandomState(15)
    users, items, rank, shards = 21, 12, 4, 3
    user = tf.placeholder(tf.int64, [None], name="user")
    item = tf.placeholder(tf.int64, [None], name="item")
    rating = tf.placeholder(tf.float32, [None], name="rating")
    user_factors = [
        tf.Variable(draw.randn(users // shards, rank).astype("float32"), name=f"user{i}")
        for i in range(shards)
    ]
    item_factors = [
        tf.Variable(draw.randn(items // shards, rank).astype("float32"), name=f"item{i}")
        for i in range(shards)
    ]
    bias = tf.Variable(np.zeros(items, "float32"), name="bias")
    p = tf.nn.embedding_lookup(user_factors, user, partition_strategy="mod", name="p")
    q = tf.nn.embedding_lookup(item_factors, item, partition_strategy="div", name="q")
    predicted = tf.reduce_sum(tf.multiply(p, q), 1) + tf.gather(bias, item)
    error = rating - predicted
    loss = tf.nn.l2_loss(error) + 0.05 * (tf.nn.l2_loss(p) + tf.nn.l2_loss(q))
    optimizer = tf.train.FtrlOptimizer(
        0.1, l1_regularization_strength=0.001, l2_regularization_strength=0.01
    )
    train = optimizer.minimize(loss)
    feeds = []
    for _ in range(10):
        feed = {user: draw.randint(0, users, 16), item: draw.randint(0, items, 16)}
        feed[rating] = draw.rand(16) * 5
        feeds.append(feed)
    return {
        "loss": loss,
        "train": train,
        "feeds": feeds,
        "final": {"rmse": tf.sqrt(tf.reduce_mean(tf.square(error))), "predicted": predicted},
    }
