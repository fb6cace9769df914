// The order in which PyTorch sums float64 on a GPU (ATen/native/cuda/Reduce.cuh, one contiguous dim, 132 multiprocessors
// of 2048 threads): rounding depends on it, so a record's last bits can be met only by summing alike. In: how many
// elements. Out: how they spread over GPU threads, and the order in which those threads' sums are joined.

const VECTOR = 4;
const MAX_THREADS = 512;
const MULTIPROCESSORS = 132;
const THREADS_PER_MULTIPROCESSOR = 2048;
const MIN_VALUES = 16;
const MAX_VALUES = 256;
/** shorter sums are not read four elements at a time */
const LEAST_VECTORIZED = 128;

export interface SumShape {
  /** threads of a block */
  readonly width: number;
  readonly blocks: number;
  /** each thread reads four adjacent elements at a time, into four sums */
  readonly vectorized: boolean;
}

const lastPowerOf2 = (n: number): number => 2 ** Math.floor(Math.log2(Math.max(1, n)));

export function sumShape(count: number): SumShape {
  const vectorized = count > LEAST_VECTORIZED;
  const width = Math.min(lastPowerOf2(vectorized ? Math.floor(count / VECTOR) : count), MAX_THREADS);
  const perThread = Math.ceil(count / width);
  if (perThread < MIN_VALUES || perThread < MAX_VALUES) return { width, blocks: 1, vectorized };
  const target = MULTIPROCESSORS * Math.floor(THREADS_PER_MULTIPROCESSOR / width);
  const blocks = Math.max(Math.min(target, Math.ceil(perThread / MIN_VALUES)), Math.ceil(perThread / MAX_VALUES));
  return { width, blocks, vectorized };
}

/** sum of up to 128 elements */
export function shortSum(values: ArrayLike<number>): number {
  const { width } = sumShape(values.length);
  const threads = Array.from({ length: width }, (_, t) => {
    const sums = [0, 0, 0, 0];
    let at = t;
    for (; at + 3 * width < values.length; at += 4 * width)
      for (let i = 0; i < 4; i++) sums[i] = (sums[i] as number) + (values[at + i * width] as number);
    for (let i = 0; i < 4 && at < values.length; i++, at += width)
      sums[i] = (sums[i] as number) + (values[at] as number);
    return joined(sums);
  });
  return joinBlock(threads, 0, width);
}

const joined = ([a = 0, b = 0, c = 0, d = 0]: readonly number[]): number => a + b + c + d;

/** the threads' sums, block after block, as one */
export function joinThreads(threads: ArrayLike<number>, shape: SumShape): number {
  const { width, blocks } = shape;
  const sums = Array.from({ length: blocks }, (_, b) => joinBlock(threads, b * width, width));
  if (blocks === 1) return sums[0] ?? 0;
  const last = Array.from({ length: width }, (_, t) => {
    let sum = 0;
    for (let b = t; b < blocks; b += width) sum += sums[b] as number;
    return sum;
  });
  return joinBlock(last, 0, width);
}

/** halves on halves: in shared memory down to a warp, then by shuffles, which wrap nothing that is read */
function joinBlock(threads: ArrayLike<number>, from: number, width: number): number {
  const v = Float64Array.from({ length: width }, (_, t) => threads[from + t] as number);
  for (let offset = width >> 1; offset > 0; offset >>= 1)
    for (let t = 0; t < offset; t++) v[t] = (v[t] as number) + (v[t + offset] as number);
  return v[0] ?? 0;
}
