// The ROUTER socket: frames in, broker calls out, answers back. Garbage gets an error or nothing, and harms nobody.
import { Router } from "zeromq";
import { decodeRequest, encodeHeader, MAX_MESSAGE_BYTES, PROTOCOL_VERSION, type Response } from "../protocol";
import type { Broker } from "./broker";

/** ms in which the last answers of a worker that ends may leave */
const LINGER_MS = 500;

export interface CurveServer {
  readonly publicKey: string;
  readonly secretKey: string;
  /** ZAP domain; an authenticator must answer for it, or nobody gets in */
  readonly domain: string;
}

export class RouterEndpoint {
  private readonly socket: Router;
  private sending: Promise<void> = Promise.resolve();

  constructor(
    curve: CurveServer | null,
    private readonly log: (message: string) => void,
  ) {
    this.socket = new Router({
      linger: LINGER_MS,
      mandatory: false,
      // a client whose network went away comes back under its name; the half-open connection gives way
      handover: true,
      heartbeatInterval: 5_000,
      heartbeatTimeout: 30_000,
      // what comes before the handshake is done is thrown away after this
      handshakeInterval: 10_000,
      maxMessageSize: MAX_MESSAGE_BYTES,
      ...(curve
        ? {
            curveServer: true,
            curveSecretKey: curve.secretKey,
            curvePublicKey: curve.publicKey,
            zapDomain: curve.domain,
            zapEnforceDomain: true,
          }
        : {}),
    });
  }

  async bind(endpoint: string): Promise<string> {
    await this.socket.bind(endpoint);
    return this.socket.lastEndpoint ?? endpoint;
  }

  /** serves until close(); `broker` may only be known after the socket is */
  async serve(broker: Broker): Promise<void> {
    for await (const [identity, ...frames] of this.socket) {
      if (!identity || !frames[0]) continue;
      try {
        this.handle(broker, identity.toString("base64"), frames);
      } catch (e) {
        // one client's message must not end the worker for all others
        this.log(`a message could not be handled: ${e instanceof Error ? (e.stack ?? e.message) : String(e)}`);
      }
    }
  }

  send(client: string, response: Response): void {
    const frames = [Buffer.from(client, "base64"), encodeHeader(response)];
    this.sending = this.sending
      .then(() => this.socket.send(frames))
      .catch(e => this.log(`an answer could not be sent: ${e instanceof Error ? e.message : String(e)}`));
  }

  async close(): Promise<void> {
    await this.sending;
    this.socket.close();
  }

  private handle(broker: Broker, client: string, frames: readonly Buffer[]): void {
    const [header, ...rest] = frames;
    const decoded = header ? decodeRequest(header) : { ok: false as const, error: "no header" };
    if (!decoded.ok) {
      this.send(client, {
        v: PROTOCOL_VERSION,
        id: "?",
        type: "error",
        code: "invalid-message",
        message: decoded.error,
      });
      return;
    }
    const request = decoded.value;
    switch (request.type) {
      case "hello":
        void broker.describe(client, request.id);
        return;
      case "ping":
        this.send(client, { v: PROTOCOL_VERSION, id: request.id, type: "pong" });
        return;
      case "cancel":
        broker.cancel(client, request.id);
        return;
      case "fetch":
        broker.fetch(client, request.id);
        return;
      case "submit": {
        const [job, ...payload] = rest;
        if (!job || payload.length !== request.payload) {
          this.send(client, {
            v: PROTOCOL_VERSION,
            id: request.id,
            type: "error",
            code: "invalid-message",
            message: `a submit of ${request.payload} payload frames came with ${Math.max(0, rest.length - 1)}`,
          });
          return;
        }
        broker.submit(client, request.id, job, payload, request.fresh);
        return;
      }
      default: {
        const never: never = request;
        throw new Error(`unhandled request ${JSON.stringify(never)}`);
      }
    }
  }
}
