// Tensors, and how messages hold them.

/** The element types that this client makes arrays of, and those that only graphs name. */
export const TYPES = {
  float: 1, double: 2, int32: 3, uint8: 4, int16: 5, int8: 6, string: 7, int64: 9, bool: 10,
  bfloat16: 14, half: 19, resource: 20,
} as const;
export type DType = keyof typeof TYPES;
/** A size of -1 is not known; null is any rank. */
export type Shape = number[] | null;

type Numbers =
  | Float32Array | Float64Array | Int32Array | Uint8Array | Int16Array | Int8Array | BigInt64Array;
export type Data = Numbers | Buffer[];

/** A tensor with its values, in the order of rows. */
export interface Tensor {
  dtype: DType;
  shape: number[];
  data: Data;
}

const ARRAYS: Partial<Record<DType, new (buffer: ArrayBuffer) => Numbers>> = {
  float: Float32Array, double: Float64Array, int32: Int32Array, uint8: Uint8Array,
  int16: Int16Array, int8: Int8Array, int64: BigInt64Array, bool: Uint8Array,
};
const NAMES = new Map<number, DType>(
  Object.entries(TYPES).map(([name, number]) => [number, name as DType]),
);

/** A tensor of nested lists of numbers, booleans or strings; of float or string if nothing is said. */
export function tensor(value: unknown, dtype?: DType): Tensor {
  const shape: number[] = [];
  for (let at: unknown = value; Array.isArray(at); at = at[0]) shape.push(at.length);
  const flat = (Array.isArray(value) ? value.flat(Infinity) : [value]) as unknown[];
  if (flat.length !== shape.reduce((a, b) => a * b, 1)) throw new Error("rows differ in length");
  const kind = dtype ?? (typeof flat[0] === "string" ? "string" : "float");
  if (kind === "string") return { dtype: kind, shape, data: flat.map((x) => Buffer.from(x as string)) };
  const make = ARRAYS[kind];
  if (!make) throw new Error(`no arrays of ${kind}`);
  const data = new make(new ArrayBuffer(flat.length * new make(new ArrayBuffer(0)).BYTES_PER_ELEMENT));
  flat.forEach((x, at) => {
    data[at] = (kind === "int64" ? BigInt(x as number) : Number(x)) as never;
  });
  return { dtype: kind, shape, data };
}

/** The values as nested lists; 64-bit integers become numbers. */
export function toList(given: Tensor): unknown {
  const flat: unknown[] = Array.from(given.data as ArrayLike<unknown>, (x) => {
    if (given.dtype === "bool") return x === 1;
    return typeof x === "bigint" ? Number(x) : Buffer.isBuffer(x) ? x.toString() : x;
  });
  const nest = (sizes: number[], from: number, count: number): unknown => {
    if (sizes.length === 0) return flat[from];
    const [size = 0, ...rest] = sizes;
    const each = size === 0 ? 0 : count / size;
    return Array.from({ length: size }, (_, at) => nest(rest, from + at * each, each));
  };
  return nest(given.shape, 0, flat.length);
}

/** What a TensorProto message is made of. */
export function toMessage(given: Tensor): object {
  const tensorShape = shapeMessage(given.shape);
  const dtype = TYPES[given.dtype];
  if (given.dtype === "string") return { dtype, tensorShape, stringVal: given.data };
  const data = given.data as Numbers;
  return { dtype, tensorShape, tensorContent: Buffer.from(data.buffer, data.byteOffset, data.byteLength) };
}

/** The tensor of a TensorProto message as a server sends it. */
export function fromMessage(message: any): Tensor {
  const dtype = NAMES.get(message.dtype);
  const shape: number[] = (message.tensorShape?.dim ?? []).map((dim: any) => Number(dim.size));
  if (dtype === "string") return { dtype, shape, data: message.stringVal.map((x: Uint8Array) => Buffer.from(x)) };
  const make = dtype && ARRAYS[dtype];
  if (!make) throw new Error(`this client reads no tensors of type ${message.dtype}`);
  const content: Uint8Array = message.tensorContent;
  return { dtype, shape, data: new make(Uint8Array.from(content).buffer) };
}

/** What a TensorShapeProto message is made of. */
export function shapeMessage(shape: Shape): object {
  return shape === null ? { unknownRank: true } : { dim: shape.map((size) => ({ size })) };
}
