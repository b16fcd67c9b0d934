// Softmax regression on handwritten digits, trained on a server.
//
//     node build/examples/softmax.js grpc://localhost:2222 FOLDER [STEPS]
//
// FOLDER has MNIST's files: train-images-idx3-ubyte and train-labels-idx1-ubyte.  A line of JSON
// tells the loss of each step.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Graph, ops, Session, tensor, toList, type Output, type Tensor } from "../src/index.js";

const [target = "grpc://localhost:2222", folder = ".", steps = "100"] = process.argv.slice(2);
const BATCH = 100;
const RATE = 0.5;

function idx(name: string): { sizes: number[]; bytes: Uint8Array } {
  const file = readFileSync(join(folder, name));
  const rank = file[3]!;
  const sizes = Array.from({ length: rank }, (_, at) => file.readUInt32BE(4 + 4 * at));
  return { sizes, bytes: file.subarray(4 + 4 * rank) };
}

const images = idx("train-images-idx3-ubyte");
const labels = idx("train-labels-idx1-ubyte");
const pixels = images.sizes[1]! * images.sizes[2]!;
const count = images.sizes[0]!;

/** A batch: pixels between 0 and 1, and labels as rows with a single 1. */
function batch(step: number): [Tensor, Tensor] {
  const x = new Float32Array(BATCH * pixels);
  const y = new Float32Array(BATCH * 10);
  for (let row = 0; row < BATCH; row++) {
    const at = (step * BATCH + row) % count;
    for (let p = 0; p < pixels; p++) x[row * pixels + p] = images.bytes[at * pixels + p]! / 255;
    y[row * 10 + labels.bytes[at]!] = 1;
  }
  return [
    { dtype: "float", shape: [BATCH, pixels], data: x },
    { dtype: "float", shape: [BATCH, 10], data: y },
  ];
}

const graph = new Graph();
const constant = (value: unknown, dtype: "float" | "int32" = "float"): Output =>
  ops.const_(graph, { value: tensor(value, dtype), dtype });
const variable = (name: string, shape: number[]): Output =>
  ops.variableV2(graph, { name, shape, dtype: "float" });

const x = ops.placeholder(graph, { name: "x", dtype: "float", shape: [-1, pixels] });
const y = ops.placeholder(graph, { name: "y", dtype: "float", shape: [-1, 10] });
const w = variable("w", [pixels, 10]);
const b = variable("b", [10]);
const start = [
  ops.assign(graph, w, ops.fill(graph, constant([pixels, 10], "int32"), constant(0))),
  ops.assign(graph, b, ops.fill(graph, constant([10], "int32"), constant(0))),
];
const logits = ops.biasAdd(graph, ops.matMul(graph, x, w), b);
const [losses, slope] = ops.softmaxCrossEntropyWithLogits(graph, logits, y) as [Output, Output];
const loss = ops.mean(graph, losses, constant([0], "int32"));
// The gradients, which this client writes down itself.
const each = ops.mul(graph, slope, constant(1 / BATCH));
const train = [
  ops.applyGradientDescent(
    graph, w, constant(RATE), ops.matMul(graph, x, each, { transpose_a: true }),
  ),
  ops.applyGradientDescent(graph, b, constant(RATE), ops.biasAddGrad(graph, each)),
];
// So that the loss is that of the variables before the step.
const step = ops.noOp(graph, { name: "train", after: train.map((one) => one.op) });

const session = new Session(graph, target);
await session.run(start);
for (let n = 0; n < Number(steps); n++) {
  const [images, classes] = batch(n);
  const [value] = await session.run([loss, step], { feed: [[x, images], [y, classes]] });
  console.log(JSON.stringify({ step: n, loss: toList(value!) }));
}
await session.close();
