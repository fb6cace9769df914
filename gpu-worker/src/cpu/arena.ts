// Byte ranges of one WebAssembly memory: first fit, freed neighbours join. Addresses are 64-byte aligned, so that no
// two tensors share a cache line and vector loads are aligned. Large ones lie a power of two and a bit apart: equal places of
// two tensors of 2^n bytes would contend for the same cache sets and memory banks.

const ALIGN = 64;
/** what a large tensor leaves free behind it where there is room, and from which size on: less than 2 % */
const SKEW = 65536 + ALIGN;
const LARGE = 4 * 2 ** 20;
/** address 0 stays unused: a zero address in a kernel is a bug that should trap or show, not hit a tensor */
const FIRST = 1024;

export class OutOfMemory extends Error {
  constructor(
    readonly wanted: number,
    readonly limit: number,
  ) {
    super(`${formatMb(wanted)} are needed and ${formatMb(limit)} is the limit`);
  }
}

export class Arena {
  private free: { start: number; size: number }[];
  private readonly sizes = new Map<number, number>();
  private held = 0;
  peak = 0;

  constructor(readonly limit: number) {
    this.free = [{ start: FIRST, size: limit - FIRST }];
  }

  /** Address of at least `bytes` bytes; zero-sized tensors get an address too. Throws OutOfMemory. */
  allocate(bytes: number): number {
    const needed = Math.max(ALIGN, Math.ceil(bytes / ALIGN) * ALIGN);
    let size = bytes >= LARGE ? needed + SKEW : needed;
    let at = this.free.findIndex(f => f.size >= size);
    if (at < 0) {
      size = needed;
      at = this.free.findIndex(f => f.size >= size);
    }
    const range = this.free[at];
    if (!range) throw new OutOfMemory(this.held + size, this.limit);
    const { start } = range;
    if (range.size === size) this.free.splice(at, 1);
    else this.free[at] = { start: start + size, size: range.size - size };
    this.sizes.set(start, size);
    this.held += size;
    this.peak = Math.max(this.peak, this.held);
    return start;
  }

  release(address: number): void {
    const size = this.sizes.get(address);
    if (size === undefined) throw new Error(`nothing is allocated at ${address}`);
    this.sizes.delete(address);
    this.held -= size;
    const at = this.free.findIndex(f => f.start > address);
    const position = at < 0 ? this.free.length : at;
    this.free.splice(position, 0, { start: address, size });
    this.join(position);
    if (position > 0) this.join(position - 1);
  }

  /** bytes of tensors that fit for sure, whatever large ones leave free behind them */
  get capacity(): number {
    return Math.floor(this.limit * (LARGE / (LARGE + SKEW)));
  }

  /** bytes that are allocated */
  get used(): number {
    return this.held;
  }

  /** highest address in use, for growing the memory to fit */
  get end(): number {
    let end = FIRST;
    for (const [start, size] of this.sizes) end = Math.max(end, start + size);
    return end;
  }

  private join(position: number): void {
    const a = this.free[position];
    const b = this.free[position + 1];
    if (a && b && a.start + a.size === b.start) {
      this.free.splice(position, 2, { start: a.start, size: a.size + b.size });
    }
  }
}

function formatMb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
