export * from "./graph.js";
export * as ops from "./ops.js";
export * from "./session.js";
export * from "./tensor.js";
