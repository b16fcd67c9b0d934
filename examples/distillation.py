"""Distillation: a small network learns digits from what a large one makes of them.

A convolutional network, the teacher, learns the labels. Then two small networks, students, learn
the same images in the same order from the same first values: one the labels alone, the other also
how likely the teacher finds each of the ten classes. Divided by a temperature before the softmax,
the teacher's logits tell which wrong classes an image resembles, and a student that follows them
needs fewer examples. Run it with ``python examples/distillation.py``; ``--examples`` says how many
labelled images the students see, ``--data-dir`` reads MNIST's IDX files. ``--export-dir`` saves the
student, ready for ``penstock export``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import penstock as tf
from penstock.models.digits_data import CLASSES, Data, Images, Labels, batches, load
from penstock.models.digits_network import Network, logits

BATCH = 32

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass(frozen=True)
class Model:
    """A network's endpoints, and the variables that it learns."""

    logits: Any
    train_op: Any
    variables: list[Any]

    @property
    def size(self) -> int:
        """How many numbers it has learned."""
        return sum(each.shape.num_elements() for each in self.variables)


def build_model(name: str, found: Any, loss: Any) -> Model:
    """A network whose logits and loss are there, with its training by Adam."""
    variables = tf.trainable_variables(f"{name}/")
    train_op = tf.train.AdamOptimizer(2e-3, name=f"{name}_train").minimize(loss, var_list=variables)
    return Model(found, train_op, variables)


def student_logits(images: Any, units: int, seed: int) -> Any:
    """A hidden layer of so many units."""
    first = tf.glorot_uniform_initializer(seed=seed)
    hidden = tf.layers.dense(tf.layers.flatten(images), units, tf.nn.relu, kernel_initializer=first)
    return tf.layers.dense(hidden, CLASSES, kernel_initializer=first)


def of_labels(found: Any, labels: Any) -> Any:
    """The loss that the labels alone teach by."""
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=found)
    return tf.reduce_mean(losses)


def of_teacher(found: Any, teacher: Any, temperature: float) -> Any:
    """The loss that the teacher teaches by; its gradients are as large at any temperature."""
    softened = tf.nn.softmax(tf.stop_gradient(teacher) / temperature)
    losses = tf.nn.softmax_cross_entropy_with_logits_v2(
        labels=softened, logits=found / temperature
    )  # fmt: skip
    return temperature**2 * tf.reduce_mean(losses)


class Classroom:
    """The graph of the three networks, and a session.

    Args:
      data: the digits.
      units: of the students' hidden layer.
      temperature: of the teacher's logits.
      share: of the labels in the loss of the student that has a teacher.
      seed: of first values, dropout and batches.
    """

    def __init__(self, data: Data, units: int, temperature: float, share: float, seed: int) -> None:
        _, height, width, _ = data.train_images.shape
        self.data, self.seed = data, seed
        tf.set_random_seed(seed)
        self.images = tf.placeholder(tf.float32, [None, height, width, 1], name="images")
        self.labels = tf.placeholder(tf.int32, [None], name="labels")
        self.training = tf.placeholder_with_default(False, [], name="training")
        with tf.variable_scope("teacher"):
            taught = logits(Network.CNN, self.images, self.training)
        self.teacher = build_model("teacher", taught, of_labels(taught, self.labels))
        with tf.variable_scope("alone"):
            found = student_logits(self.images, units, seed)
        self.alone = build_model("alone", found, of_labels(found, self.labels))
        with tf.variable_scope("distilled"):
            found = student_logits(self.images, units, seed)
        loss = share * of_labels(found, self.labels)
        loss += (1 - share) * of_teacher(found, taught, temperature)
        self.distilled = build_model("distilled", found, loss)
        self.session = tf.Session()
        self.session.run(tf.global_variables_initializer())

    def train(self, train_ops: list[Any], data: Data, steps: int, training: bool) -> None:
        """Runs steps, each on the next batch; `training` switches the teacher's dropout on."""
        stream = batches(data, min(BATCH, len(data.train_images)), self.seed, 0)
        for _, (images, labels) in zip(range(steps), stream):
            feeds = {self.images: images, self.labels: labels, self.training: training}
            self.session.run(train_ops, feeds)

    def accuracy(self, model: Model, images: Images, labels: Labels) -> float:
        """The share of images that a network tells right."""
        found = self.session.run(model.logits, {self.images: images})
        return float(np.mean(found.argmax(1) == labels))


def fewer(data: Data, examples: int) -> Data:
    """The same digits with so many to learn from."""
    images, labels = data.train_images[:examples], data.train_labels[:examples]
    return Data(data.source, images, labels, data.test_images, data.test_labels)


@app.command()
def main(
    data_dir: Annotated[Path | None, typer.Option(help="A folder of MNIST's IDX files.")] = None,
    teacher_steps: Annotated[int, typer.Option(min=1, help="Steps of the teacher.")] = 600,
    steps: Annotated[int, typer.Option(min=1, help="Steps of the students.")] = 1500,
    examples: Annotated[
        int, typer.Option(min=1, help="Images that the students learn from; the teacher has all.")
    ] = 300,
    units: Annotated[int, typer.Option(min=1, help="Width of the students' hidden layer.")] = 16,
    temperature: Annotated[float, typer.Option(min=0.1, help="Softens the teacher's word.")] = 4.0,
    share: Annotated[
        float, typer.Option(min=0, max=1, help="Of the labels in the student's loss.")
    ] = 0.1,
    seed: Annotated[int, typer.Option(help="Of all that is drawn by lot.")] = 1,
    export_dir: Annotated[Path | None, typer.Option(help="Save the distilled student.")] = None,
) -> None:
    """Learn digits by a large network, and by two small ones with and without its help."""
    data = load(data_dir)
    few = fewer(data, examples)
    room = Classroom(data, units, temperature, share, seed)
    room.train([room.teacher.train_op], data, teacher_steps, training=True)
    room.train([room.alone.train_op, room.distilled.train_op], few, steps, training=False)
    print(f"{data.source}: {len(data.train_images)} images for the teacher, {len(few.train_images)}"
          f" for the students, {len(data.test_images)} held back")  # fmt: skip
    for what, model in (
        ("teacher", room.teacher), ("student alone", room.alone), ("distilled", room.distilled)
    ):  # fmt: skip
        right = room.accuracy(model, data.test_images, data.test_labels)
        print(f"{what:14} {model.size:8} numbers, {100 * right:.1f}% right")
    if export_dir is not None:
        ends = {"images": room.images}, {"logits": room.distilled.logits}
        tf.saved_model.simple_save(room.session, str(export_dir), *ends)


if __name__ == "__main__":
    app()
