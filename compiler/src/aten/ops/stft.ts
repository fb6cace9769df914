// Spectra of overlapping windows, and the signals behind them (ATen's composites).
import type { ArgValue, Dim, DType, OpRecord } from "../types";
import { aten, isComplexDType } from "./helpers/define";
import { at, composed, range } from "./helpers/shape";
import { full } from "./helpers/trace";

const REAL: Partial<Record<DType, DType>> = { complex64: "float32", complex128: "float64" };

/** overlapping windows of a signal, each transformed */
const stft = composed({
  name: "torch.functional.stft.default",
  schema:
    'stft(Tensor input, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, str? pad_mode="reflect", bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor',
  python: ["torch.stft", "torch.functional.stft", "Tensor.stft"],
  printedAs: "torch.functional.stft",
  composite: (b, a) => {
    const f = aten(b);
    const n = a.int("n_fft");
    const hop = a.optInt("hop_length") ?? Math.floor(n / 4);
    const length = a.optInt("win_length") ?? n;
    let x = a.tensor("input");
    const given = b.meta(x);
    if (a.bool("center")) {
      const { shape } = given;
      const wide = f("view.default", x, [...range(3 - shape.length).map(() => 1), ...shape]);
      const half = Math.floor(n / 2);
      const padded = f("pad.default", wide, [half, half], a.raw("pad_mode"));
      x = f("view.default", padded, b.meta(padded).shape.slice(-shape.length));
    }
    const single_ = b.meta(x).shape.length === 1;
    if (single_) x = f("unsqueeze.default", x, 0);
    let window = a.optTensor("window");
    if (length < n) {
      const left = Math.floor((n - length) / 2);
      const ones = window ?? f("new_ones.default", x, [length]);
      window = f("constant_pad_nd.default", ones, [left, n - length - left]);
    }
    let frames = f("unfold.default", x, -1, n, hop);
    if (window !== null) frames = f("mul.Tensor", frames, window);
    const complex = isComplexDType(b.meta(frames).dtype);
    const mode = a.bool("normalized") ? 1 : 0;
    const onesided = a.optBool("onesided") ?? !complex;
    const spectrum: ArgValue<typeof x> = complex
      ? f("_fft_c2c.default", frames, [2], mode, true)
      : f("_fft_r2c.default", frames, [2], mode, onesided);
    let out = f("transpose.int", spectrum, 1, 2);
    if (single_) out = f("squeeze.dim", out, 0);
    return a.optBool("return_complex") === true ? out : f("view_as_real.default", out);
  },
});

/** the signal whose windows have these spectra: the windows added up, over their squares added up */
const istft = composed({
  name: "aten.istft.default",
  schema:
    "istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor",
  python: ["torch.istft", "Tensor.istft"],
  composite: (b, a) => {
    const f = aten(b);
    const n = a.int("n_fft");
    const hop = a.optInt("hop_length") ?? Math.floor(n / 4);
    const width = a.optInt("win_length") ?? n;
    const given = b.meta(a.tensor("self"));
    if (!isComplexDType(given.dtype)) return b.fail("istft requires a complex-valued input tensor");
    const single_ = given.shape.length === 2;
    const [rows, frames] = given.shape.slice(-2) as [Dim, Dim];
    const onesided = a.optBool("onesided") ?? !b.eq(rows, n);
    const real = REAL[given.dtype] ?? "float32";
    let window = a.optTensor("window") ?? full(b, [width], 1, real, given.device);
    if (width !== n) {
      const left = Math.floor((n - width) / 2);
      window = f("constant_pad_nd.default", window, [left, n - width - left], 0);
    }
    let x = a.tensor("self");
    if (single_) x = f("unsqueeze.default", x, 0);
    x = f("transpose.int", x, 1, 2);
    const mode = a.bool("normalized") ? 1 : 2;
    if (a.bool("return_complex")) x = f("_fft_c2c.default", x, [2], mode, false);
    else {
      if (!onesided) x = f("slice.Tensor", x, -1, 0, Math.floor(n / 2) + 1);
      x = f("_fft_c2r.default", x, [2], mode, n);
    }
    const total = b.add(n, b.mul(hop, b.sub(frames, 1)));
    const addUp = (y: typeof x): typeof x =>
      f("unfold_backward.default", y, [at(b.meta(x).shape, 0), total], 1, n, hop);
    const signal = addUp(f("mul.Tensor", x, f("view.default", window, [1, 1, n])));
    const weight = addUp(f("expand.default", f("pow.Tensor_Scalar", window, 2), [1, frames, n]));
    const start = a.bool("center") ? Math.floor(n / 2) : 0;
    const length = a.optInt("length");
    const end = length !== null ? b.int(start + length) : a.bool("center") ? b.sub(total, Math.floor(n / 2)) : total;
    const cut = (y: typeof x): typeof x => f("slice.Tensor", y, 1, start, b.static(end) ?? end);
    const part = cut(signal);
    let out = f("div.Tensor", part, cut(weight));
    if (single_) out = f("squeeze.dim", out, 0);
    const missing = b.static(b.sub(end, total)) ?? 0;
    return missing > 0 ? f("constant_pad_nd.default", out, [0, missing], 0) : out;
  },
});

export const records: readonly OpRecord[] = [stft, istft];
