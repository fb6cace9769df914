// What librosa and scipy.signal give to constructors: filters, windows, padding. Python text.
import { MEL } from "./mel";

export const LIBROSA_FILTERS = `${MEL}
import numpy as np


def mel(sr=22050, n_fft=2048, n_mels=128, fmin=0.0, fmax=None, htk=False, norm="slaney", dtype=np.float32, **kwargs):
    banks = melscale_fbanks(n_fft // 2 + 1, fmin, fmax or sr / 2, n_mels, sr, "slaney" if norm else None,
                            "htk" if htk else "slaney")
    return banks.t().contiguous().numpy().astype(dtype)


def get_window(window, Nx, fftbins=True):
    from scipy.signal import get_window as scipy_window
    return scipy_window(window, Nx, fftbins)

`;

export const LIBROSA_UTIL = `
import numpy as np


def pad_center(data, size=None, axis=-1, **kwargs):
    n = data.shape[axis]
    before = (size - n) // 2
    width = [(0, 0)] * data.ndim
    width[axis] = (before, size - n - before)
    return np.pad(data, width)


def tiny(x):
    return 1.1754943508222875e-38


def normalize(S, norm=np.inf, axis=0, **kwargs):
    peak = np.abs(S).max() if norm == np.inf else np.sqrt((S ** 2).sum())
    return S / (peak + tiny(S))


def fix_length(data, size=None, axis=-1, **kwargs):
    n = data.shape[axis]
    return data[:size] if n > size else np.pad(data, [(0, size - n)])
`;

export const SCIPY_SIGNAL = `
import numpy as np


def _cosines(n, weights, sym):
    if n == 1:
        return np.ones(1)
    x = 2 * np.pi * np.arange(n) / (n - 1 if sym else n)
    out = np.zeros(n)
    for k, a in enumerate(weights):
        out = out + (-1) ** k * a * np.cos(k * x)
    return out


def hann(M, sym=True):
    return _cosines(M, [0.5, 0.5], sym)


hanning = hann


def hamming(M, sym=True):
    return _cosines(M, [0.54, 0.46], sym)


def blackman(M, sym=True):
    return _cosines(M, [0.42, 0.5, 0.08], sym)


def boxcar(M, sym=True):
    return np.ones(M)


def kaiser(M, beta, sym=True):
    return np.kaiser(M, beta)


def cosine(M, sym=True):
    n = M if sym else M + 1
    return np.sin(np.pi / n * (np.arange(0, n) + 0.5))[:M]


def gaussian(M, std, sym=True):
    n = np.arange(M) - (M - 1) / 2
    return np.exp(-0.5 * (n / std) ** 2)


def get_window(window, Nx, fftbins=True):
    name, rest = (window[0], window[1:]) if isinstance(window, tuple) else (window, ())
    makers = {"hann": hann, "hanning": hann, "hamming": hamming, "blackman": blackman, "boxcar": boxcar,
              "ones": boxcar, "kaiser": kaiser, "cosine": cosine, "gaussian": gaussian}
    if name not in makers:
        raise ValueError("Unknown window type.")
    return makers[name](Nx, *rest, sym=not fftbins)


def kaiser_beta(a):
    if a > 50:
        return 0.1102 * (a - 8.7)
    return 0.5842 * (a - 21) ** 0.4 + 0.07886 * (a - 21) if a > 21 else 0.0


def firwin(numtaps, cutoff, width=None, window="hamming", pass_zero=True, scale=True, fs=2.0, **kwargs):
    cutoff = cutoff / (fs / 2)
    m = np.arange(numtaps) - 0.5 * (numtaps - 1)
    h = cutoff * np.sinc(cutoff * m) * get_window(window, numtaps, fftbins=False)
    return h / h.sum() if scale else h
`;

/** a module's text by its name */
