// Graphs: nodes with names, inputs and attrs, as a GraphDef has them.

import { shapeMessage, TYPES, toMessage, type DType, type Shape, type Tensor } from "./tensor.js";

/** An op type: kinds of its inputs and outputs ("T", "N * T", "list(types)", "float"), its attrs. */
export interface OpDef {
  inputs: string[];
  outputs: string[];
  attrs: Record<string, { type: string; default?: unknown }>;
}

/** One output of a node. */
export class Output {
  constructor(readonly op: Operation, readonly index: number, readonly dtype: DType) {}

  /** "node:0", by which it is fed and fetched. */
  get name(): string {
    return `${this.op.name}:${this.index}`;
  }
}

/** A node. */
export class Operation {
  outputs: Output[] = [];

  constructor(readonly name: string, readonly type: string, readonly message: object) {}
}

type Given = Output | Output[];

/** A graph that grows; nodes do not change. */
export class Graph {
  readonly operations: Operation[] = [];
  private readonly taken = new Map<string, number>();

  /** Adds a node; attrs that the inputs tell are found, others come from `options`. */
  add(type: string, def: OpDef, inputs: Given[], options: object): Operation {
    const given = options as Record<string, unknown>;
    const attrs: Record<string, unknown> = {};
    def.inputs.forEach((kind, at) => infer(type, kind, inputs[at]!, attrs));
    for (const [key, row] of Object.entries(def.attrs)) {
      attrs[key] = given[key] ?? attrs[key] ?? row.default;
      if (attrs[key] === undefined) throw new Error(`${type} needs ${key}`);
    }
    const after = (given.after ?? []) as Operation[];
    const operation = new Operation(this.unique((given.name as string) ?? type), type, {});
    Object.assign(operation.message, {
      name: operation.name,
      op: type,
      device: given.device ?? "",
      input: [
        ...inputs.flat().map((each) => (each.index === 0 ? each.op.name : each.name)),
        ...after.map((each) => `^${each.name}`),
      ],
      attr: Object.fromEntries(
        Object.entries(def.attrs).map(([key, row]) => [key, attrMessage(row.type, attrs[key])]),
      ),
    });
    operation.outputs = def.outputs
      .flatMap((kind) => typesOf(kind, attrs))
      .map((dtype, at) => new Output(operation, at, dtype));
    this.operations.push(operation);
    return operation;
  }

  /** The nodes from one on, as a GraphDef message. */
  message(from: number): object {
    return { node: this.operations.slice(from).map((each) => each.message), versions: { producer: 134 } };
  }

  private unique(name: string): string {
    const before = this.taken.get(name);
    this.taken.set(name, (before ?? 0) + 1);
    return before === undefined ? name : this.unique(`${name}_${before}`);
  }
}

function bare(kind: string): string {
  return kind.replace(/^Ref\((.*)\)$/, "$1");
}

function infer(type: string, kind: string, given: Given, attrs: Record<string, unknown>): void {
  const list = Array.isArray(given) ? given : [given];
  const inList = /^list\((\w+)\)$/.exec(kind);
  if (inList) {
    attrs[inList[1]!] = list.map((each) => each.dtype);
    return;
  }
  const [first, second] = kind.split("*").map((word) => word.trim());
  if (second !== undefined) attrs[first!] = list.length;
  const key = bare(second ?? first!);
  if (key in TYPES) return;
  for (const each of list) {
    if (attrs[key] !== undefined && attrs[key] !== each.dtype) {
      throw new Error(`${type} takes one type for ${key}; found ${attrs[key]} and ${each.dtype}`);
    }
    attrs[key] = each.dtype;
  }
}

function typesOf(kind: string, attrs: Record<string, unknown>): DType[] {
  const inList = /^list\((\w+)\)$/.exec(kind);
  if (inList) return attrs[inList[1]!] as DType[];
  const [first, second] = kind.split("*").map((word) => word.trim());
  const key = bare(second ?? first!);
  const dtype = (key in TYPES ? key : attrs[key]) as DType;
  return second === undefined ? [dtype] : Array<DType>(attrs[first!] as number).fill(dtype);
}

function attrMessage(type: string, value: any): object {
  if (type.startsWith("list(")) {
    const inner = type.slice(5, -1);
    const rows = (value as unknown[]).map((each) => attrMessage(inner, each));
    const field = Object.keys(rows[0] ?? { i: 0 })[0]!;
    return { list: { [field]: rows.map((row) => (row as Record<string, unknown>)[field]) } };
  }
  switch (type) {
    case "int": return { i: value };
    case "float": return { f: value };
    case "bool": return { b: value };
    case "string": return { s: Buffer.from(value as string) };
    case "type": return { type: TYPES[value as DType] };
    case "shape": return { shape: shapeMessage(value as Shape) };
    case "tensor": return { tensor: toMessage(value as Tensor) };
    default: throw new Error(`no attrs of kind ${type}`);
  }
}
