// Messages out of a language server's output. In: bytes as they come. Out: JSON objects.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [k: string]: Json };

export class FrameReader {
  private rest: Buffer = Buffer.alloc(0);

  constructor(private readonly receive: (message: { readonly [k: string]: Json }) => void) {}

  push(bytes: Buffer): void {
    this.rest = Buffer.concat([this.rest, bytes]);
    for (;;) {
      const end = this.rest.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/Content-Length: (\d+)/i.exec(this.rest.toString("latin1", 0, end))?.[1]);
      if (!Number.isFinite(length)) throw new Error("the server wrote a frame without a length");
      if (this.rest.length < end + 4 + length) return;
      const body = this.rest.toString("utf8", end + 4, end + 4 + length);
      this.rest = this.rest.subarray(end + 4 + length);
      this.receive(JSON.parse(body) as { readonly [k: string]: Json });
    }
  }
}
