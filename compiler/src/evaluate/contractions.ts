// Matrix products, 2-d convolution and attention on dense arrays, as plain loops. In: operations. Out: arrays.
import { type Dense, dense, expandTo, isDense, rounded, sizeOf } from "./arrays";
import type { Operand, Operation, Outcome } from "./types";

const num = (x: Operand | undefined, d: number): number => (typeof x === "number" ? x : d);

/** batched [b, m, k] x [b, k, n] */
function product(o: Operation, a: Dense, b: Dense, batch: number, m: number, k: number, n: number): Float64Array {
  o.budget.spend(batch * m * n * k);
  const out = new Float64Array(batch * m * n);
  for (let i = 0; i < batch; i++) {
    for (let r = 0; r < m; r++) {
      const row = (i * m + r) * n;
      for (let x = 0; x < k; x++) {
        const v = a.data[(i * m + r) * k + x] ?? 0;
        const from = (i * k + x) * n;
        for (let c = 0; c < n; c++) out[row + c] = (out[row + c] ?? 0) + v * (b.data[from + c] ?? 0);
      }
    }
  }
  return out;
}

export function matrixProducts(o: Operation, name: string, self: Operand | undefined): Outcome {
  const plain = name === "mm" || name === "bmm";
  const a = plain ? self : (o.get("mat1") ?? o.get("batch1"));
  const b = o.get("mat2") ?? o.get("batch2");
  if (!["mm", "bmm", "addmm", "baddbmm"].includes(name) || !isDense(a) || !isDense(b)) return undefined;
  const batched = a.shape.length === 3;
  const [batch, m, k] = batched
    ? [a.shape[0] ?? 1, a.shape[1] ?? 1, a.shape[2] ?? 1]
    : [1, a.shape[0] ?? 1, a.shape[1] ?? 1];
  const n = b.shape[b.shape.length - 1] ?? 1;
  const out = product(o, a, b, batch, m, k, n);
  if (!plain && isDense(self)) {
    const [beta, alpha] = [num(o.get("beta"), 1), num(o.get("alpha"), 1)];
    const added = expandTo(self, o.shape).data;
    for (let i = 0; i < out.length; i++) out[i] = beta * (added[i] ?? 0) + alpha * (out[i] ?? 0);
  }
  return dense(o.shape, rounded(out, o.dtype), o.dtype);
}

export function convolution2d(o: Operation): Outcome {
  const [x, w, bias] = [o.get("input"), o.get("weight"), o.get("bias")];
  if (!isDense(x) || !isDense(w) || x.shape.length !== 4 || o.get("transposed") === true) return undefined;
  const list = (v: Operand | undefined, d: number): [number, number] => {
    const xs = Array.isArray(v) ? (v as readonly Operand[]).map(y => num(y, d)) : [];
    return [xs[0] ?? d, xs[1] ?? xs[0] ?? d];
  };
  const [sy, sx] = list(o.get("stride"), 1);
  const [py, px] = list(o.get("padding"), 0);
  const [dy, dx] = list(o.get("dilation"), 1);
  const groups = num(o.get("groups"), 1);
  const [n, cin, h, wd] = x.shape as [number, number, number, number];
  const [cout, per, kh, kw] = w.shape as [number, number, number, number];
  const [, , oh, ow] = o.shape as [number, number, number, number];
  o.budget.spend(n * cout * oh * ow * per * kh * kw);
  const out = new Float64Array(sizeOf(o.shape));
  for (let b = 0; b < n; b++) {
    for (let c = 0; c < cout; c++) {
      const first = Math.floor(c / (cout / groups)) * per;
      const start = isDense(bias) ? (bias.data[c] ?? 0) : 0;
      for (let y = 0; y < oh; y++) {
        for (let z = 0; z < ow; z++) {
          let s = start;
          for (let i = 0; i < per; i++) {
            for (let u = 0; u < kh; u++) {
              const iy = y * sy - py + u * dy;
              if (iy < 0 || iy >= h) continue;
              for (let v = 0; v < kw; v++) {
                const ix = z * sx - px + v * dx;
                if (ix < 0 || ix >= wd) continue;
                const at = ((b * cin + first + i) * h + iy) * wd + ix;
                s += (x.data[at] ?? 0) * (w.data[((c * per + i) * kh + u) * kw + v] ?? 0);
              }
            }
          }
          out[((b * cout + c) * oh + y) * ow + z] = s;
        }
      }
    }
  }
  return dense(o.shape, rounded(out, o.dtype), o.dtype);
}

/** softmax(q k' * scale + bias) v over the last two dims; further results (logsumexp, seeds) are left out */
export function attention(o: Operation): Outcome {
  const [q, k, v] = [o.get("query"), o.get("key"), o.get("value")];
  if (!isDense(q) || !isDense(k) || !isDense(v) || q.shape.length !== 4) return undefined;
  const bias = o.get("attn_bias") ?? o.get("attn_mask");
  const [n, heads, lq, e] = q.shape as [number, number, number, number];
  const lk = k.shape[2] ?? 1;
  const ev = v.shape[3] ?? 1;
  const shared = heads / (k.shape[1] ?? heads);
  const scale = typeof o.get("scale") === "number" ? num(o.get("scale"), 1) : 1 / Math.sqrt(e);
  const added = isDense(bias) ? expandTo(bias, [n, heads, lq, lk]).data : null;
  const causal = o.get("is_causal") === true;
  o.budget.spend(n * heads * lq * lk * (e + ev));
  const out = new Float64Array(n * heads * lq * ev);
  const row = new Float64Array(lk);
  for (let b = 0; b < n * heads; b++) {
    const kv = Math.floor(b / heads) * (k.shape[1] ?? heads) + Math.floor((b % heads) / shared);
    for (let i = 0; i < lq; i++) {
      let top = Number.NEGATIVE_INFINITY;
      for (let j = 0; j < lk; j++) {
        let s = 0;
        for (let x = 0; x < e; x++) s += (q.data[(b * lq + i) * e + x] ?? 0) * (k.data[(kv * lk + j) * e + x] ?? 0);
        s = s * scale + (added ? (added[(b * lq + i) * lk + j] ?? 0) : 0);
        if (causal && j > i) s = Number.NEGATIVE_INFINITY;
        row[j] = s;
        top = Math.max(top, s);
      }
      let total = 0;
      for (let j = 0; j < lk; j++) {
        row[j] = Math.exp((row[j] ?? 0) - top);
        total += row[j] ?? 0;
      }
      for (let j = 0; j < lk; j++) {
        const p = (row[j] ?? 0) / total;
        for (let x = 0; x < ev; x++) {
          const at = (b * lq + i) * ev + x;
          out[at] = (out[at] ?? 0) + p * (v.data[(kv * lk + j) * ev + x] ?? 0);
        }
      }
    }
  }
  return [dense([n, heads, lq, ev], rounded(out, o.dtype), o.dtype)];
}
