// A function for each op. Written by frontends/generate.py from op definitions.
import { type Graph, type OpDef, type Operation, type Output } from "./graph.js";
import { type DType, type Shape, type Tensor } from "./tensor.js";

/** What all ops take besides their attrs. */
export interface Common {
  name?: string;
  device?: string;
  after?: Operation[];
}

const DEF_ABS: OpDef = {"inputs": ["T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface AbsOptions extends Common {
}
export function abs(graph: Graph, x: Output, options: AbsOptions = {}): Output {
  return graph.add("Abs", DEF_ABS, [x], options).outputs[0]!;
}

const DEF_ADD: OpDef = {"inputs": ["T", "T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface AddOptions extends Common {
}
export function add(graph: Graph, x: Output, y: Output, options: AddOptions = {}): Output {
  return graph.add("Add", DEF_ADD, [x, y], options).outputs[0]!;
}

const DEF_ADDN: OpDef = {"inputs": ["N * T"], "outputs": ["T"], "attrs": {"N": {"type": "int"}, "T": {"type": "type"}}};
export interface AddNOptions extends Common {
}
export function addN(graph: Graph, inputs: Output[], options: AddNOptions = {}): Output {
  return graph.add("AddN", DEF_ADDN, [inputs], options).outputs[0]!;
}

const DEF_APPLYADAM: OpDef = {"inputs": ["Ref(T)", "Ref(T)", "Ref(T)", "T", "T", "T", "T", "T", "T", "T"], "outputs": ["Ref(T)"], "attrs": {"T": {"type": "type"}, "use_locking": {"type": "bool", "default": false}, "use_nesterov": {"type": "bool", "default": false}}};
export interface ApplyAdamOptions extends Common {
  use_locking?: boolean;
  use_nesterov?: boolean;
}
export function applyAdam(graph: Graph, var_: Output, m: Output, v: Output, beta1_power: Output, beta2_power: Output, lr: Output, beta1: Output, beta2: Output, epsilon: Output, grad: Output, options: ApplyAdamOptions = {}): Output {
  return graph.add("ApplyAdam", DEF_APPLYADAM, [var_, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad], options).outputs[0]!;
}

const DEF_APPLYGRADIENTDESCENT: OpDef = {"inputs": ["Ref(T)", "T", "T"], "outputs": ["Ref(T)"], "attrs": {"T": {"type": "type"}, "use_locking": {"type": "bool", "default": false}}};
export interface ApplyGradientDescentOptions extends Common {
  use_locking?: boolean;
}
export function applyGradientDescent(graph: Graph, var_: Output, alpha: Output, delta: Output, options: ApplyGradientDescentOptions = {}): Output {
  return graph.add("ApplyGradientDescent", DEF_APPLYGRADIENTDESCENT, [var_, alpha, delta], options).outputs[0]!;
}

const DEF_APPLYMOMENTUM: OpDef = {"inputs": ["Ref(T)", "Ref(T)", "T", "T", "T"], "outputs": ["Ref(T)"], "attrs": {"T": {"type": "type"}, "use_locking": {"type": "bool", "default": false}, "use_nesterov": {"type": "bool", "default": false}}};
export interface ApplyMomentumOptions extends Common {
  use_locking?: boolean;
  use_nesterov?: boolean;
}
export function applyMomentum(graph: Graph, var_: Output, accum: Output, lr: Output, grad: Output, momentum: Output, options: ApplyMomentumOptions = {}): Output {
  return graph.add("ApplyMomentum", DEF_APPLYMOMENTUM, [var_, accum, lr, grad, momentum], options).outputs[0]!;
}

const DEF_ARGMAX: OpDef = {"inputs": ["T", "Tidx"], "outputs": ["output_type"], "attrs": {"T": {"type": "type"}, "Tidx": {"type": "type", "default": "int32"}, "output_type": {"type": "type", "default": "int64"}}};
export interface ArgMaxOptions extends Common {
  output_type?: DType;
}
export function argMax(graph: Graph, input: Output, dimension: Output, options: ArgMaxOptions = {}): Output {
  return graph.add("ArgMax", DEF_ARGMAX, [input, dimension], options).outputs[0]!;
}

const DEF_ASSIGN: OpDef = {"inputs": ["Ref(T)", "T"], "outputs": ["Ref(T)"], "attrs": {"T": {"type": "type"}, "validate_shape": {"type": "bool", "default": true}, "use_locking": {"type": "bool", "default": true}}};
export interface AssignOptions extends Common {
  validate_shape?: boolean;
  use_locking?: boolean;
}
export function assign(graph: Graph, ref: Output, value: Output, options: AssignOptions = {}): Output {
  return graph.add("Assign", DEF_ASSIGN, [ref, value], options).outputs[0]!;
}

const DEF_ASSIGNADD: OpDef = {"inputs": ["Ref(T)", "T"], "outputs": ["Ref(T)"], "attrs": {"T": {"type": "type"}, "use_locking": {"type": "bool", "default": false}}};
export interface AssignAddOptions extends Common {
  use_locking?: boolean;
}
export function assignAdd(graph: Graph, ref: Output, value: Output, options: AssignAddOptions = {}): Output {
  return graph.add("AssignAdd", DEF_ASSIGNADD, [ref, value], options).outputs[0]!;
}

const DEF_ASSIGNSUB: OpDef = {"inputs": ["Ref(T)", "T"], "outputs": ["Ref(T)"], "attrs": {"T": {"type": "type"}, "use_locking": {"type": "bool", "default": false}}};
export interface AssignSubOptions extends Common {
  use_locking?: boolean;
}
export function assignSub(graph: Graph, ref: Output, value: Output, options: AssignSubOptions = {}): Output {
  return graph.add("AssignSub", DEF_ASSIGNSUB, [ref, value], options).outputs[0]!;
}

const DEF_ASSIGNVARIABLEOP: OpDef = {"inputs": ["resource", "dtype"], "outputs": [], "attrs": {"dtype": {"type": "type"}}};
export interface AssignVariableOpOptions extends Common {
}
export function assignVariableOp(graph: Graph, resource: Output, value: Output, options: AssignVariableOpOptions = {}): Operation {
  return graph.add("AssignVariableOp", DEF_ASSIGNVARIABLEOP, [resource, value], options);
}

const DEF_BIASADD: OpDef = {"inputs": ["T", "T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}, "data_format": {"type": "string", "default": "NHWC"}}};
export interface BiasAddOptions extends Common {
  data_format?: string;
}
export function biasAdd(graph: Graph, value: Output, bias: Output, options: BiasAddOptions = {}): Output {
  return graph.add("BiasAdd", DEF_BIASADD, [value, bias], options).outputs[0]!;
}

const DEF_BIASADDGRAD: OpDef = {"inputs": ["T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}, "data_format": {"type": "string", "default": "NHWC"}}};
export interface BiasAddGradOptions extends Common {
  data_format?: string;
}
export function biasAddGrad(graph: Graph, out_backprop: Output, options: BiasAddGradOptions = {}): Output {
  return graph.add("BiasAddGrad", DEF_BIASADDGRAD, [out_backprop], options).outputs[0]!;
}

const DEF_CAST: OpDef = {"inputs": ["SrcT"], "outputs": ["DstT"], "attrs": {"SrcT": {"type": "type"}, "DstT": {"type": "type"}, "Truncate": {"type": "bool", "default": false}}};
export interface CastOptions extends Common {
  DstT: DType;
  Truncate?: boolean;
}
export function cast(graph: Graph, x: Output, options: CastOptions): Output {
  return graph.add("Cast", DEF_CAST, [x], options).outputs[0]!;
}

const DEF_CONCATV2: OpDef = {"inputs": ["N * T", "Tidx"], "outputs": ["T"], "attrs": {"N": {"type": "int"}, "T": {"type": "type"}, "Tidx": {"type": "type", "default": "int32"}}};
export interface ConcatV2Options extends Common {
}
export function concatV2(graph: Graph, values: Output[], axis: Output, options: ConcatV2Options = {}): Output {
  return graph.add("ConcatV2", DEF_CONCATV2, [values, axis], options).outputs[0]!;
}

const DEF_CONST: OpDef = {"inputs": [], "outputs": ["dtype"], "attrs": {"value": {"type": "tensor"}, "dtype": {"type": "type"}}};
export interface ConstOptions extends Common {
  value: Tensor;
  dtype: DType;
}
export function const_(graph: Graph, options: ConstOptions): Output {
  return graph.add("Const", DEF_CONST, [], options).outputs[0]!;
}

const DEF_CONV2D: OpDef = {"inputs": ["T", "T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}, "strides": {"type": "list(int)"}, "use_cudnn_on_gpu": {"type": "bool", "default": true}, "padding": {"type": "string"}, "explicit_paddings": {"type": "list(int)", "default": []}, "data_format": {"type": "string", "default": "NHWC"}, "dilations": {"type": "list(int)", "default": [1, 1, 1, 1]}}};
export interface Conv2DOptions extends Common {
  strides: number[];
  use_cudnn_on_gpu?: boolean;
  padding: string;
  explicit_paddings?: number[];
  data_format?: string;
  dilations?: number[];
}
export function conv2D(graph: Graph, input: Output, filter: Output, options: Conv2DOptions): Output {
  return graph.add("Conv2D", DEF_CONV2D, [input, filter], options).outputs[0]!;
}

const DEF_EQUAL: OpDef = {"inputs": ["T", "T"], "outputs": ["bool"], "attrs": {"T": {"type": "type"}, "incompatible_shape_error": {"type": "bool", "default": true}}};
export interface EqualOptions extends Common {
  incompatible_shape_error?: boolean;
}
export function equal(graph: Graph, x: Output, y: Output, options: EqualOptions = {}): Output {
  return graph.add("Equal", DEF_EQUAL, [x, y], options).outputs[0]!;
}

const DEF_EXP: OpDef = {"inputs": ["T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface ExpOptions extends Common {
}
export function exp(graph: Graph, x: Output, options: ExpOptions = {}): Output {
  return graph.add("Exp", DEF_EXP, [x], options).outputs[0]!;
}

const DEF_EXPANDDIMS: OpDef = {"inputs": ["T", "Tdim"], "outputs": ["T"], "attrs": {"T": {"type": "type"}, "Tdim": {"type": "type", "default": "int32"}}};
export interface ExpandDimsOptions extends Common {
}
export function expandDims(graph: Graph, input: Output, dim: Output, options: ExpandDimsOptions = {}): Output {
  return graph.add("ExpandDims", DEF_EXPANDDIMS, [input, dim], options).outputs[0]!;
}

const DEF_FILL: OpDef = {"inputs": ["index_type", "T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}, "index_type": {"type": "type", "default": "int32"}}};
export interface FillOptions extends Common {
}
export function fill(graph: Graph, dims: Output, value: Output, options: FillOptions = {}): Output {
  return graph.add("Fill", DEF_FILL, [dims, value], options).outputs[0]!;
}

const DEF_FLOORDIV: OpDef = {"inputs": ["T", "T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface FloorDivOptions extends Common {
}
export function floorDiv(graph: Graph, x: Output, y: Output, options: FloorDivOptions = {}): Output {
  return graph.add("FloorDiv", DEF_FLOORDIV, [x, y], options).outputs[0]!;
}

const DEF_GATHERV2: OpDef = {"inputs": ["Tparams", "Tindices", "Taxis"], "outputs": ["Tparams"], "attrs": {"batch_dims": {"type": "int", "default": 0}, "Tparams": {"type": "type"}, "Tindices": {"type": "type"}, "Taxis": {"type": "type"}}};
export interface GatherV2Options extends Common {
  batch_dims?: number;
}
export function gatherV2(graph: Graph, params: Output, indices: Output, axis: Output, options: GatherV2Options = {}): Output {
  return graph.add("GatherV2", DEF_GATHERV2, [params, indices, axis], options).outputs[0]!;
}

const DEF_GREATER: OpDef = {"inputs": ["T", "T"], "outputs": ["bool"], "attrs": {"T": {"type": "type"}}};
export interface GreaterOptions extends Common {
}
export function greater(graph: Graph, x: Output, y: Output, options: GreaterOptions = {}): Output {
  return graph.add("Greater", DEF_GREATER, [x, y], options).outputs[0]!;
}

const DEF_IDENTITY: OpDef = {"inputs": ["T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface IdentityOptions extends Common {
}
export function identity(graph: Graph, input: Output, options: IdentityOptions = {}): Output {
  return graph.add("Identity", DEF_IDENTITY, [input], options).outputs[0]!;
}

const DEF_LESS: OpDef = {"inputs": ["T", "T"], "outputs": ["bool"], "attrs": {"T": {"type": "type"}}};
export interface LessOptions extends Common {
}
export function less(graph: Graph, x: Output, y: Output, options: LessOptions = {}): Output {
  return graph.add("Less", DEF_LESS, [x, y], options).outputs[0]!;
}

const DEF_LOG: OpDef = {"inputs": ["T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface LogOptions extends Common {
}
export function log(graph: Graph, x: Output, options: LogOptions = {}): Output {
  return graph.add("Log", DEF_LOG, [x], options).outputs[0]!;
}

const DEF_MATMUL: OpDef = {"inputs": ["T", "T"], "outputs": ["T"], "attrs": {"transpose_a": {"type": "bool", "default": false}, "transpose_b": {"type": "bool", "default": false}, "T": {"type": "type"}}};
export interface MatMulOptions extends Common {
  transpose_a?: boolean;
  transpose_b?: boolean;
}
export function matMul(graph: Graph, a: Output, b: Output, options: MatMulOptions = {}): Output {
  return graph.add("MatMul", DEF_MATMUL, [a, b], options).outputs[0]!;
}

const DEF_MAX: OpDef = {"inputs": ["T", "Tidx"], "outputs": ["T"], "attrs": {"keep_dims": {"type": "bool", "default": false}, "T": {"type": "type"}, "Tidx": {"type": "type", "default": "int32"}}};
export interface MaxOptions extends Common {
  keep_dims?: boolean;
}
export function max(graph: Graph, input: Output, reduction_indices: Output, options: MaxOptions = {}): Output {
  return graph.add("Max", DEF_MAX, [input, reduction_indices], options).outputs[0]!;
}

const DEF_MAXPOOL: OpDef = {"inputs": ["T"], "outputs": ["T"], "attrs": {"T": {"type": "type", "default": "float"}, "ksize": {"type": "list(int)"}, "strides": {"type": "list(int)"}, "padding": {"type": "string"}, "data_format": {"type": "string", "default": "NHWC"}}};
export interface MaxPoolOptions extends Common {
  ksize: number[];
  strides: number[];
  padding: string;
  data_format?: string;
}
export function maxPool(graph: Graph, input: Output, options: MaxPoolOptions): Output {
  return graph.add("MaxPool", DEF_MAXPOOL, [input], options).outputs[0]!;
}

const DEF_MAXIMUM: OpDef = {"inputs": ["T", "T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface MaximumOptions extends Common {
}
export function maximum(graph: Graph, x: Output, y: Output, options: MaximumOptions = {}): Output {
  return graph.add("Maximum", DEF_MAXIMUM, [x, y], options).outputs[0]!;
}

const DEF_MEAN: OpDef = {"inputs": ["T", "Tidx"], "outputs": ["T"], "attrs": {"keep_dims": {"type": "bool", "default": false}, "T": {"type": "type"}, "Tidx": {"type": "type", "default": "int32"}}};
export interface MeanOptions extends Common {
  keep_dims?: boolean;
}
export function mean(graph: Graph, input: Output, reduction_indices: Output, options: MeanOptions = {}): Output {
  return graph.add("Mean", DEF_MEAN, [input, reduction_indices], options).outputs[0]!;
}

const DEF_MIN: OpDef = {"inputs": ["T", "Tidx"], "outputs": ["T"], "attrs": {"keep_dims": {"type": "bool", "default": false}, "T": {"type": "type"}, "Tidx": {"type": "type", "default": "int32"}}};
export interface MinOptions extends Common {
  keep_dims?: boolean;
}
export function min(graph: Graph, input: Output, reduction_indices: Output, options: MinOptions = {}): Output {
  return graph.add("Min", DEF_MIN, [input, reduction_indices], options).outputs[0]!;
}

const DEF_MINIMUM: OpDef = {"inputs": ["T", "T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface MinimumOptions extends Common {
}
export function minimum(graph: Graph, x: Output, y: Output, options: MinimumOptions = {}): Output {
  return graph.add("Minimum", DEF_MINIMUM, [x, y], options).outputs[0]!;
}

const DEF_MUL: OpDef = {"inputs": ["T", "T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface MulOptions extends Common {
}
export function mul(graph: Graph, x: Output, y: Output, options: MulOptions = {}): Output {
  return graph.add("Mul", DEF_MUL, [x, y], options).outputs[0]!;
}

const DEF_NEG: OpDef = {"inputs": ["T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface NegOptions extends Common {
}
export function neg(graph: Graph, x: Output, options: NegOptions = {}): Output {
  return graph.add("Neg", DEF_NEG, [x], options).outputs[0]!;
}

const DEF_NOOP: OpDef = {"inputs": [], "outputs": [], "attrs": {}};
export interface NoOpOptions extends Common {
}
export function noOp(graph: Graph, options: NoOpOptions = {}): Operation {
  return graph.add("NoOp", DEF_NOOP, [], options);
}

const DEF_PACK: OpDef = {"inputs": ["N * T"], "outputs": ["T"], "attrs": {"N": {"type": "int"}, "T": {"type": "type"}, "axis": {"type": "int", "default": 0}}};
export interface PackOptions extends Common {
  axis?: number;
}
export function pack(graph: Graph, values: Output[], options: PackOptions = {}): Output {
  return graph.add("Pack", DEF_PACK, [values], options).outputs[0]!;
}

const DEF_PLACEHOLDER: OpDef = {"inputs": [], "outputs": ["dtype"], "attrs": {"dtype": {"type": "type"}, "shape": {"type": "shape", "default": null}}};
export interface PlaceholderOptions extends Common {
  dtype: DType;
  shape?: Shape;
}
export function placeholder(graph: Graph, options: PlaceholderOptions): Output {
  return graph.add("Placeholder", DEF_PLACEHOLDER, [], options).outputs[0]!;
}

const DEF_POW: OpDef = {"inputs": ["T", "T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface PowOptions extends Common {
}
export function pow(graph: Graph, x: Output, y: Output, options: PowOptions = {}): Output {
  return graph.add("Pow", DEF_POW, [x, y], options).outputs[0]!;
}

const DEF_RANDOMSTANDARDNORMAL: OpDef = {"inputs": ["T"], "outputs": ["dtype"], "attrs": {"seed": {"type": "int", "default": 0}, "seed2": {"type": "int", "default": 0}, "dtype": {"type": "type"}, "T": {"type": "type"}}};
export interface RandomStandardNormalOptions extends Common {
  seed?: number;
  seed2?: number;
  dtype: DType;
}
export function randomStandardNormal(graph: Graph, shape: Output, options: RandomStandardNormalOptions): Output {
  return graph.add("RandomStandardNormal", DEF_RANDOMSTANDARDNORMAL, [shape], options).outputs[0]!;
}

const DEF_RANDOMUNIFORM: OpDef = {"inputs": ["T"], "outputs": ["dtype"], "attrs": {"seed": {"type": "int", "default": 0}, "seed2": {"type": "int", "default": 0}, "dtype": {"type": "type"}, "T": {"type": "type"}}};
export interface RandomUniformOptions extends Common {
  seed?: number;
  seed2?: number;
  dtype: DType;
}
export function randomUniform(graph: Graph, shape: Output, options: RandomUniformOptions): Output {
  return graph.add("RandomUniform", DEF_RANDOMUNIFORM, [shape], options).outputs[0]!;
}

const DEF_READVARIABLEOP: OpDef = {"inputs": ["resource"], "outputs": ["dtype"], "attrs": {"dtype": {"type": "type"}}};
export interface ReadVariableOpOptions extends Common {
  dtype: DType;
}
export function readVariableOp(graph: Graph, resource: Output, options: ReadVariableOpOptions): Output {
  return graph.add("ReadVariableOp", DEF_READVARIABLEOP, [resource], options).outputs[0]!;
}

const DEF_REALDIV: OpDef = {"inputs": ["T", "T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface RealDivOptions extends Common {
}
export function realDiv(graph: Graph, x: Output, y: Output, options: RealDivOptions = {}): Output {
  return graph.add("RealDiv", DEF_REALDIV, [x, y], options).outputs[0]!;
}

const DEF_RELU: OpDef = {"inputs": ["T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface ReluOptions extends Common {
}
export function relu(graph: Graph, features: Output, options: ReluOptions = {}): Output {
  return graph.add("Relu", DEF_RELU, [features], options).outputs[0]!;
}

const DEF_RELUGRAD: OpDef = {"inputs": ["T", "T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface ReluGradOptions extends Common {
}
export function reluGrad(graph: Graph, gradients: Output, features: Output, options: ReluGradOptions = {}): Output {
  return graph.add("ReluGrad", DEF_RELUGRAD, [gradients, features], options).outputs[0]!;
}

const DEF_RESHAPE: OpDef = {"inputs": ["T", "Tshape"], "outputs": ["T"], "attrs": {"T": {"type": "type"}, "Tshape": {"type": "type", "default": "int32"}}};
export interface ReshapeOptions extends Common {
}
export function reshape(graph: Graph, tensor: Output, shape: Output, options: ReshapeOptions = {}): Output {
  return graph.add("Reshape", DEF_RESHAPE, [tensor, shape], options).outputs[0]!;
}

const DEF_RSQRT: OpDef = {"inputs": ["T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface RsqrtOptions extends Common {
}
export function rsqrt(graph: Graph, x: Output, options: RsqrtOptions = {}): Output {
  return graph.add("Rsqrt", DEF_RSQRT, [x], options).outputs[0]!;
}

const DEF_SELECT: OpDef = {"inputs": ["bool", "T", "T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface SelectOptions extends Common {
}
export function select(graph: Graph, condition: Output, t: Output, e: Output, options: SelectOptions = {}): Output {
  return graph.add("Select", DEF_SELECT, [condition, t, e], options).outputs[0]!;
}

const DEF_SHAPE: OpDef = {"inputs": ["T"], "outputs": ["out_type"], "attrs": {"T": {"type": "type"}, "out_type": {"type": "type", "default": "int32"}}};
export interface ShapeOptions extends Common {
  out_type?: DType;
}
export function shape(graph: Graph, input: Output, options: ShapeOptions = {}): Output {
  return graph.add("Shape", DEF_SHAPE, [input], options).outputs[0]!;
}

const DEF_SIGMOID: OpDef = {"inputs": ["T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface SigmoidOptions extends Common {
}
export function sigmoid(graph: Graph, x: Output, options: SigmoidOptions = {}): Output {
  return graph.add("Sigmoid", DEF_SIGMOID, [x], options).outputs[0]!;
}

const DEF_SIGN: OpDef = {"inputs": ["T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface SignOptions extends Common {
}
export function sign(graph: Graph, x: Output, options: SignOptions = {}): Output {
  return graph.add("Sign", DEF_SIGN, [x], options).outputs[0]!;
}

const DEF_SOFTMAX: OpDef = {"inputs": ["T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface SoftmaxOptions extends Common {
}
export function softmax(graph: Graph, logits: Output, options: SoftmaxOptions = {}): Output {
  return graph.add("Softmax", DEF_SOFTMAX, [logits], options).outputs[0]!;
}

const DEF_SOFTMAXCROSSENTROPYWITHLOGITS: OpDef = {"inputs": ["T", "T"], "outputs": ["T", "T"], "attrs": {"T": {"type": "type"}}};
export interface SoftmaxCrossEntropyWithLogitsOptions extends Common {
}
export function softmaxCrossEntropyWithLogits(graph: Graph, features: Output, labels: Output, options: SoftmaxCrossEntropyWithLogitsOptions = {}): Output[] {
  return graph.add("SoftmaxCrossEntropyWithLogits", DEF_SOFTMAXCROSSENTROPYWITHLOGITS, [features, labels], options).outputs;
}

const DEF_SPARSESOFTMAXCROSSENTROPYWITHLOGITS: OpDef = {"inputs": ["T", "Tlabels"], "outputs": ["T", "T"], "attrs": {"T": {"type": "type"}, "Tlabels": {"type": "type", "default": "int64"}}};
export interface SparseSoftmaxCrossEntropyWithLogitsOptions extends Common {
}
export function sparseSoftmaxCrossEntropyWithLogits(graph: Graph, features: Output, labels: Output, options: SparseSoftmaxCrossEntropyWithLogitsOptions = {}): Output[] {
  return graph.add("SparseSoftmaxCrossEntropyWithLogits", DEF_SPARSESOFTMAXCROSSENTROPYWITHLOGITS, [features, labels], options).outputs;
}

const DEF_SQRT: OpDef = {"inputs": ["T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface SqrtOptions extends Common {
}
export function sqrt(graph: Graph, x: Output, options: SqrtOptions = {}): Output {
  return graph.add("Sqrt", DEF_SQRT, [x], options).outputs[0]!;
}

const DEF_SQUARE: OpDef = {"inputs": ["T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface SquareOptions extends Common {
}
export function square(graph: Graph, x: Output, options: SquareOptions = {}): Output {
  return graph.add("Square", DEF_SQUARE, [x], options).outputs[0]!;
}

const DEF_SQUEEZE: OpDef = {"inputs": ["T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}, "squeeze_dims": {"type": "list(int)", "default": []}}};
export interface SqueezeOptions extends Common {
  squeeze_dims?: number[];
}
export function squeeze(graph: Graph, input: Output, options: SqueezeOptions = {}): Output {
  return graph.add("Squeeze", DEF_SQUEEZE, [input], options).outputs[0]!;
}

const DEF_SUB: OpDef = {"inputs": ["T", "T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface SubOptions extends Common {
}
export function sub(graph: Graph, x: Output, y: Output, options: SubOptions = {}): Output {
  return graph.add("Sub", DEF_SUB, [x, y], options).outputs[0]!;
}

const DEF_SUM: OpDef = {"inputs": ["T", "Tidx"], "outputs": ["T"], "attrs": {"keep_dims": {"type": "bool", "default": false}, "T": {"type": "type"}, "Tidx": {"type": "type", "default": "int32"}}};
export interface SumOptions extends Common {
  keep_dims?: boolean;
}
export function sum(graph: Graph, input: Output, reduction_indices: Output, options: SumOptions = {}): Output {
  return graph.add("Sum", DEF_SUM, [input, reduction_indices], options).outputs[0]!;
}

const DEF_TANH: OpDef = {"inputs": ["T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface TanhOptions extends Common {
}
export function tanh(graph: Graph, x: Output, options: TanhOptions = {}): Output {
  return graph.add("Tanh", DEF_TANH, [x], options).outputs[0]!;
}

const DEF_TRANSPOSE: OpDef = {"inputs": ["T", "Tperm"], "outputs": ["T"], "attrs": {"T": {"type": "type"}, "Tperm": {"type": "type", "default": "int32"}}};
export interface TransposeOptions extends Common {
}
export function transpose(graph: Graph, x: Output, perm: Output, options: TransposeOptions = {}): Output {
  return graph.add("Transpose", DEF_TRANSPOSE, [x, perm], options).outputs[0]!;
}

const DEF_VARHANDLEOP: OpDef = {"inputs": [], "outputs": ["resource"], "attrs": {"container": {"type": "string", "default": ""}, "shared_name": {"type": "string", "default": ""}, "dtype": {"type": "type"}, "shape": {"type": "shape"}}};
export interface VarHandleOpOptions extends Common {
  container?: string;
  shared_name?: string;
  dtype: DType;
  shape: Shape;
}
export function varHandleOp(graph: Graph, options: VarHandleOpOptions): Output {
  return graph.add("VarHandleOp", DEF_VARHANDLEOP, [], options).outputs[0]!;
}

const DEF_VARIABLEV2: OpDef = {"inputs": [], "outputs": ["Ref(dtype)"], "attrs": {"shape": {"type": "shape"}, "dtype": {"type": "type"}, "container": {"type": "string", "default": ""}, "shared_name": {"type": "string", "default": ""}}};
export interface VariableV2Options extends Common {
  shape: Shape;
  dtype: DType;
  container?: string;
  shared_name?: string;
}
export function variableV2(graph: Graph, options: VariableV2Options): Output {
  return graph.add("VariableV2", DEF_VARIABLEV2, [], options).outputs[0]!;
}

const DEF_ZEROSLIKE: OpDef = {"inputs": ["T"], "outputs": ["T"], "attrs": {"T": {"type": "type"}}};
export interface ZerosLikeOptions extends Common {
}
export function zerosLike(graph: Graph, x: Output, options: ZerosLikeOptions = {}): Output {
  return graph.add("ZerosLike", DEF_ZEROSLIKE, [x], options).outputs[0]!;
}
