// Run by `npm test` with PENSTOCK_TARGET naming a server.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  Graph, ops, Session, StepError, tensor, toList, type Operation, type Output, type Tensor,
} from "../src/index.js";

const TARGET = process.env.PENSTOCK_TARGET ?? "grpc://localhost:2222";
let graph: Graph;
let session: Session;

before(async () => {
  graph = new Graph();
  session = new Session(graph, TARGET);
  await session.reset();
});

after(() => session.close());

function constant(value: unknown, dtype: "float" | "int32" | "string" | "bool" | "int64" = "float"): Output {
  return ops.const_(graph, { value: tensor(value, dtype), dtype });
}

async function value(wanted: Output, feed: [Output, Tensor][] = []): Promise<unknown> {
  const [found] = await session.run([wanted], { feed });
  return toList(found!);
}

test("names are unique, types are inferred", () => {
  const one = constant(1);
  const two = constant(2);
  assert.notEqual(one.op.name, two.op.name);
  assert.equal(ops.equal(graph, one, two).dtype, "bool");
  assert.equal(ops.cast(graph, one, { DstT: "int64" }).dtype, "int64");
  assert.equal(ops.shape(graph, one).dtype, "int32");
  assert.throws(() => ops.add(graph, one, constant(1, "int32")), /one type for T/);
});

test("every type of array comes back", async () => {
  for (const dtype of ["float", "int32", "int64", "bool"] as const) {
    const given = dtype === "bool" ? [[true], [false]] : [[1], [-2]];
    assert.deepEqual(await value(constant(given, dtype)), given);
  }
  assert.deepEqual(await value(constant(["a", "é"], "string")), ["a", "é"]);
  assert.deepEqual(await value(constant([[], []])), [[], []]);
});

test("ops with lists, attrs and defaults", async () => {
  const a = constant([[1, 2], [3, 4]]);
  assert.deepEqual(await value(ops.matMul(graph, a, a, { transpose_b: true })), [[5, 11], [11, 25]]);
  assert.deepEqual(await value(ops.concatV2(graph, [a, a], constant(1, "int32"))), [[1, 2, 1, 2], [3, 4, 3, 4]]);
  assert.deepEqual(await value(ops.addN(graph, [a, a, a])), [[3, 6], [9, 12]]);
  assert.deepEqual(await value(ops.pack(graph, [a, a], { axis: 2 })), [[[1, 1], [2, 2]], [[3, 3], [4, 4]]]);
  assert.equal(await value(ops.sum(graph, a, constant([0, 1], "int32"))), 10);
  const image = constant([[[[1], [2]], [[3], [4]]]]);
  const filter = constant([[[[1]], [[0]]], [[[0]], [[1]]]].map((row) => row));
  assert.deepEqual(
    await value(ops.conv2D(graph, image, filter, { strides: [1, 1, 1, 1], padding: "VALID" })), [[[[5]]]],
  );
});

test("a graph grows, state stays, nodes run after others", async () => {
  const v = ops.varHandleOp(graph, { name: "v", shared_name: "v", dtype: "float", shape: [] });
  const start: Operation = ops.assignVariableOp(graph, v, constant(3));
  await session.run([start]);
  const read = ops.readVariableOp(graph, v, { dtype: "float" });
  assert.equal(await value(read), 3);
  const more = ops.assignVariableOp(graph, v, ops.mul(graph, read, constant(2)));
  assert.equal(await value(ops.readVariableOp(graph, v, { dtype: "float", after: [more] })), 6);
});

test("feeds, errors and deadlines", async () => {
  const x = ops.placeholder(graph, { name: "x", dtype: "float", shape: [-1] });
  const root = ops.sqrt(graph, x);
  assert.deepEqual(await value(root, [[x, tensor([4, 9])]]), [2, 3]);
  await assert.rejects(session.run([root]), (error: StepError) => {
    assert.equal(error.code, 3);
    assert.match(error.message, /x/);
    return true;
  });
  const wrong = ops.reshape(graph, x, constant([7], "int32"));
  await assert.rejects(session.run([wrong], { feed: [[x, tensor([1])]] }), (error: StepError) => error.code === 3);
});

test("several steps at a time", async () => {
  const sums = Array.from({ length: 8 }, (_, n) => ops.add(graph, constant(n), constant(1)));
  const found = await Promise.all(sums.map((each) => value(each)));
  assert.deepEqual(found, [1, 2, 3, 4, 5, 6, 7, 8]);
});

test("devices", async () => {
  assert.ok((await session.devices()).some((each) => each.type === "CPU"));
});
