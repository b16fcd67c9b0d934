// Sessions on a server, by TensorFlow's MasterService.

import * as grpc from "@grpc/grpc-js";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import protobuf from "protobufjs";

import { Operation, Output, type Graph } from "./graph.js";
import { fromMessage, toMessage, type Tensor } from "./tensor.js";

const PROTO = fileURLToPath(new URL("../../../messages.proto", import.meta.url));
const ROOT = protobuf.parse(readFileSync(PROTO, "utf8")).root;

/** What a server says is wrong: a canonical code (3 is an invalid argument) and a message. */
export class StepError extends Error {
  constructor(readonly code: number, message: string) {
    super(message);
  }
}

export interface Device {
  name: string;
  type: string;
}

export interface RunOptions {
  feed?: [Output, Tensor][];
  milliseconds?: number;
}

/** Runs steps of a graph; the server gets what it lacks of the graph before each. */
export class Session {
  private readonly client: grpc.Client;
  private handle = "";
  private version = 0;
  private sent = 0;
  private growing: Promise<void> = Promise.resolve();

  /** @param target "grpc://host:port" */
  constructor(readonly graph: Graph, readonly target: string) {
    const address = target.replace(/^grpc:\/\//, "");
    this.client = new grpc.Client(address, grpc.credentials.createInsecure(), {
      "grpc.max_receive_message_length": -1,
      "grpc.max_send_message_length": -1,
    });
  }

  /** The values of outputs, after the nodes among `wanted` have run; null for those. */
  async run(wanted: (Output | Operation)[], options: RunOptions = {}): Promise<(Tensor | null)[]> {
    await this.grow();
    const outputs = wanted.filter((each): each is Output => each instanceof Output);
    const response = await this.call("RunStep", {
      sessionHandle: this.handle,
      feed: (options.feed ?? []).map(([to, value]) => ({ name: to.name, tensor: toMessage(value) })),
      fetch: [...new Set(outputs.map((each) => each.name))],
      target: wanted.filter((each) => each instanceof Operation).map((each) => each.name),
      options: { timeoutInMs: options.milliseconds ?? 0 },
      storeErrorsInResponseBody: true,
    });
    if (response.statusCode) throw new StepError(response.statusCode, response.statusErrorMessage);
    const found = new Map<string, Tensor>(
      response.tensor.map((each: any) => [each.name, fromMessage(each.tensor)]),
    );
    return wanted.map((each) => (each instanceof Output ? found.get(each.name)! : null));
  }

  /** The devices of the server's cluster. */
  async devices(): Promise<Device[]> {
    await this.grow();
    const found = await this.call("ListDevices", { sessionHandle: this.handle });
    return [...found.localDevice, ...found.remoteDevice].map((each: any) => ({
      name: each.name, type: each.deviceType,
    }));
  }

  /** Ends the session; state stays with the server. */
  async close(): Promise<void> {
    if (this.handle) await this.call("CloseSession", { sessionHandle: this.handle });
    this.client.close();
  }

  /** Drops all state of the server's cluster, and ends all sessions there. */
  async reset(): Promise<void> {
    await this.call("Reset", {});
    this.handle = "";
    this.sent = 0;
  }

  /** Sends the nodes that the server lacks; one call at a time. */
  private grow(): Promise<void> {
    this.growing = this.growing.then(
      () => this.send(),
      () => this.send(),
    );
    return this.growing;
  }

  private async send(): Promise<void> {
    const count = this.graph.operations.length;
    if (this.handle && count === this.sent) return;
    const graphDef = this.graph.message(this.handle ? this.sent : 0);
    if (!this.handle) {
      const made = await this.call("CreateSession", { graphDef, target: this.target });
      this.handle = made.sessionHandle;
      this.version = made.graphVersion;
    } else {
      const made = await this.call("ExtendSession", {
        sessionHandle: this.handle, graphDef, currentGraphVersion: this.version,
      });
      this.version = made.newGraphVersion;
    }
    this.sent = count;
  }

  private call(method: string, fields: object): Promise<any> {
    const request = ROOT.lookupType(`tensorflow.${method}Request`);
    const response = ROOT.lookupType(`tensorflow.${method}Response`);
    return new Promise((done, failed) => {
      this.client.makeUnaryRequest(
        `/tensorflow.MasterService/${method}`,
        (message: object) => Buffer.from(request.encode(request.create(message)).finish()),
        (data: Buffer) => response.decode(data),
        fields,
        (error, answer) => {
          if (error) failed(new StepError(error.code, error.details));
          else done(answer);
        },
      );
    });
  }
}
