"""BERT in a checkpoint: reads the one in the folder BERT_FROM, or trains, and writes to BERT_TO."""

import json
import os

import numpy as np
import tensorflow as tf
from bert import modeling, optimization

CONFIG = modeling.BertConfig(
    vocab_size=40,
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=32,
    max_position_embeddings=10,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)

with tf.Graph().as_default(), tf.Session() as session:
    ids = tf.constant(np.arange(16).reshape(2, 8), tf.int32)
    bert = modeling.BertModel(CONFIG, is_training=True, input_ids=ids)
    loss = tf.reduce_mean(tf.square(bert.get_pooled_output() - 0.3))
    train = optimization.create_optimizer(loss, 1e-2, 10**8, 0, use_tpu=False)
    saver = tf.train.Saver()
    if "BERT_FROM" in os.environ:
        saver.restore(session, tf.train.latest_checkpoint(os.environ["BERT_FROM"]))
    else:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        saver.save(session, os.path.join(os.environ["BERT_TO"], "bert.ckpt"), 3)
    pooled, value = session.run([bert.get_pooled_output(), loss])
    after = [float(session.run([loss, train])[0]) for _ in range(2)]
    step = int(session.run(tf.train.get_global_step()))
print(json.dumps({"pooled": pooled.tolist(), "loss": float(value), "after": after, "step": step}))
