"""BERT: a model's outputs and gradients, its optimizer, features of texts, and fine-tuning."""

import collections
import json
import os
import tempfile

import numpy as np
import tensorflow as tf
from bert import modeling, optimization, run_classifier, tokenization

REVIEWS = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), *[".."] * 4, "shared", "data", "movie_reviews"
)
CONFIG = modeling.BertConfig(
    vocab_size=60,
    hidden_size=32,
    num_hidden_layers=3,
    num_attention_heads=4,
    intermediate_size=64,
    max_position_embeddings=20,
    type_vocab_size=3,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)
ANSWERS = {}


def small(array):
    """What tells an array from another one in few numbers."""
    flat = np.asarray(array, np.float64).ravel()
    return [float(flat.sum()), float(np.abs(flat).sum())] + flat[:4].tolist()


def give_weights(session, seed=0):
    """The same values in both, whatever initializers draw."""
    session.run(tf.global_variables_initializer())
    numbers = np.random.RandomState(seed)
    for variable in sorted(tf.trainable_variables(), key=lambda v: v.name):
        shape = variable.shape.as_list()
        scale = 1.0 if variable.name.endswith("gamma:0") else 0.0
        variable.load(scale + 0.2 * numbers.randn(*shape), session)


def inputs(numbers, batch=4, length=12):
    lengths = numbers.randint(3, length + 1, (batch, 1))
    return {
        "input_ids": tf.constant(numbers.randint(0, 60, (batch, length)), tf.int32),
        "input_mask": tf.constant(np.arange(length) < lengths, tf.int32),
        "token_type_ids": tf.constant(numbers.randint(0, 3, (batch, length)), tf.int32),
    }


def model():
    """Every layer's output, and the gradient of every variable."""
    for one_hot in (False, True):
        with tf.Graph().as_default(), tf.Session() as session:
            numbers = np.random.RandomState(1)
            bert = modeling.BertModel(
                CONFIG, is_training=True, use_one_hot_embeddings=one_hot, **inputs(numbers)
            )
            weights = tf.constant(numbers.randn(4, 12, 32), tf.float32)
            loss = tf.reduce_mean(bert.get_sequence_output() * weights) + tf.reduce_mean(
                tf.square(bert.get_pooled_output())
            )
            variables = tf.trainable_variables()
            gradients = [
                tf.convert_to_tensor(g) if g is not None else tf.zeros([])
                for g in tf.gradients(loss, variables)
            ]
            give_weights(session)
            made = session.run(
                {
                    "loss": loss,
                    "pooled": bert.get_pooled_output(),
                    "layers": bert.get_all_encoder_layers(),
                    "embedded": bert.get_embedding_output(),
                }
            )
            ANSWERS[f"model-{int(one_hot)}"] = {
                "loss": float(made["loss"]),
                "pooled": small(made["pooled"]),
                "layers": [small(one) for one in made["layers"]],
                "embedded": small(made["embedded"]),
                "gradients": {v.name: small(g) for v, g in zip(variables, session.run(gradients))},
            }


def optimizer():
    """Steps of its Adam with weight decay.

    The training op counts the step in no order with the reads of it, so the rate hardly changes.
    """
    with tf.Graph().as_default(), tf.Session() as session:
        bert = modeling.BertModel(CONFIG, is_training=True, **inputs(np.random.RandomState(2)))
        loss = tf.reduce_mean(tf.square(bert.get_pooled_output() - 0.3))
        train = optimization.create_optimizer(loss, 1e-2, 10**8, 0, use_tpu=False)
        give_weights(session)
        losses = [float(session.run([loss, train])[0]) for _ in range(6)]
        ANSWERS["optimizer"] = {
            "losses": losses,
            "step": int(session.run(tf.train.get_global_step())),
            "variables": {v.name: small(session.run(v)) for v in tf.global_variables()},
        }


def reviews(count):
    """Lines of both kinds, in turns."""
    found = []
    for kind, label in (("pos", "1"), ("neg", "0")):
        with open(os.path.join(REVIEWS, "rt-polarity." + kind), "rb") as lines:
            found.append([(line.decode("latin-1").strip(), label) for line in lines][:count])
    return [one for pair in zip(*found) for one in pair]


def tokenizer(folder, texts):
    """Words that come often, and the letters, as pieces."""
    counts = collections.Counter(word for text, _ in texts for word in text.split())
    words = [w for w, n in sorted(counts.items(), key=lambda p: (-p[1], p[0])) if n > 3]
    letters = sorted({letter for text, _ in texts for letter in text if letter.strip()})
    pieces = letters + ["##" + letter for letter in letters]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + pieces
    vocabulary += [word for word in words if word not in pieces]
    path = os.path.join(folder, "vocab.txt")
    with open(path, "wb") as file:
        file.write("\n".join(vocabulary).encode())
    return tokenization.FullTokenizer(path), len(vocabulary)


def fine_tuning():
    """Records of reviews, and a classifier that starts from a checkpoint."""
    folder = tempfile.mkdtemp()
    texts = reviews(32)
    words, size = tokenizer(folder, texts)
    examples = [
        run_classifier.InputExample(str(n), tokenization.convert_to_unicode(text), None, label)
        for n, (text, label) in enumerate(texts)
    ]
    records = os.path.join(folder, "reviews")
    run_classifier.file_based_convert_examples_to_features(examples, ["0", "1"], 24, words, records)
    read = run_classifier.file_based_input_fn_builder(records, 24, False, True)
    with tf.Graph().as_default(), tf.Session() as session:
        first = session.run(read({"batch_size": 3}).make_one_shot_iterator().get_next())
    ANSWERS["features"] = {name: value.tolist() for name, value in first.items()}

    config = modeling.BertConfig(
        vocab_size=size,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=24,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    start = os.path.join(folder, "start", "bert.ckpt")
    with tf.Graph().as_default(), tf.Session() as session:
        modeling.BertModel(config, is_training=False, input_ids=tf.zeros([1, 24], tf.int32))
        give_weights(session, 3)
        tf.train.Saver(tf.trainable_variables()).save(session, start)
    model_fn = run_classifier.model_fn_builder(
        config,
        2,
        start,
        2e-3,
        num_train_steps=120,
        num_warmup_steps=12,
        use_tpu=False,
        use_one_hot_embeddings=False,
    )
    estimator = tf.estimator.tpu.TPUEstimator(
        model_fn,
        use_tpu=False,
        train_batch_size=16,
        eval_batch_size=16,
        predict_batch_size=16,
        config=tf.estimator.tpu.RunConfig(
            model_dir=os.path.join(folder, "tuned"),
            tf_random_seed=1,
            save_checkpoints_steps=120,
            tpu_config=tf.estimator.tpu.TPUConfig(iterations_per_loop=20),
        ),
    )
    estimator.train(
        run_classifier.file_based_input_fn_builder(records, 24, True, True), max_steps=1
    )
    before = estimator.evaluate(read)
    estimator.train(
        run_classifier.file_based_input_fn_builder(records, 24, True, True), max_steps=240
    )
    after = estimator.evaluate(read)
    given = [one["probabilities"] for one in estimator.predict(read)]
    kept = tf.train.load_checkpoint(estimator.latest_checkpoint())
    ANSWERS["fine_tuning"] = {
        "falls": bool(after["eval_loss"] < 0.8 * before["eval_loss"]),
        "learns": bool(after["eval_accuracy"] > 0.8),
        "step": int(after["global_step"]),
        "shapes": [list(np.shape(given)), len(kept.get_variable_to_shape_map())],
        "starts": [name for name, _ in tf.train.list_variables(start)],
    }


tf.flags.FLAGS(["bert_models"])
for part in (model, optimizer, fine_tuning):
    part()
print(json.dumps(ANSWERS))
