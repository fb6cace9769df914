// Audio front ends that models compute inside of forward: torchaudio, torchlibrosa, what librosa and scipy.signal give to
// constructors. Spectrograms by torch.stft, mel filters by Slaney's and O'Shaughnessy's scales, resampling by windowed sinc
// filters. In: nothing. Out: texts by module name; what a text lacks is unknown.

const MEL = `
import math


def _hz_to_mel(f, scale):
    if scale == "htk":
        return 2595.0 * math.log10(1.0 + f / 700.0)
    step = 200.0 / 3
    return f / step if f < 1000.0 else 15.0 + math.log(f / 1000.0) / (math.log(6.4) / 27.0)


def _mel_to_hz(m, scale):
    if scale == "htk":
        return 700.0 * (torch.pow(10.0, m / 2595.0) - 1.0)
    step = 200.0 / 3
    return torch.where(m < 15.0, m * step, 1000.0 * torch.exp((math.log(6.4) / 27.0) * (m - 15.0)))


def _triangles(points, n_freqs, sample_rate):
    freqs = torch.linspace(0, sample_rate // 2, n_freqs)
    width = points[1:] - points[:-1]
    slopes = points.unsqueeze(0) - freqs.unsqueeze(1)
    return torch.clamp(torch.minimum(-slopes[:, :-2] / width[:-1], slopes[:, 2:] / width[1:]), min=0.0)


def melscale_fbanks(n_freqs, f_min, f_max, n_mels, sample_rate, norm=None, mel_scale="htk"):
    mels = torch.linspace(_hz_to_mel(float(f_min), mel_scale), _hz_to_mel(float(f_max), mel_scale), n_mels + 2)
    points = _mel_to_hz(mels, mel_scale)
    banks = _triangles(points, n_freqs, sample_rate)
    if norm == "slaney":
        banks = banks * (2.0 / (points[2:n_mels + 2] - points[:n_mels])).unsqueeze(0)
    return banks
`;

const TORCHAUDIO_FUNCTIONAL = `${MEL}
create_fb_matrix = melscale_fbanks


def linear_fbanks(n_freqs, f_min, f_max, n_filter, sample_rate):
    return _triangles(torch.linspace(f_min, f_max, n_filter + 2), n_freqs, sample_rate)


def create_dct(n_mfcc, n_mels, norm=None):
    n = torch.arange(float(n_mels))
    k = torch.arange(float(n_mfcc)).unsqueeze(1)
    dct = torch.cos(math.pi / float(n_mels) * (n + 0.5) * k)
    dct = dct * 2.0 if norm is None else dct * math.sqrt(2.0 / n_mels)
    return dct.t()


def spectrogram(waveform, pad, window, n_fft, hop_length, win_length, power, normalized, center=True,
                pad_mode="reflect", onesided=True, return_complex=None):
    if pad > 0:
        waveform = F.pad(waveform, (pad, pad))
    shape = waveform.size()
    spec = torch.stft(waveform.reshape(-1, shape[-1]), n_fft, hop_length=hop_length, win_length=win_length,
                      window=window, center=center, pad_mode=pad_mode, normalized=normalized == "frame_length",
                      onesided=onesided, return_complex=True)
    spec = spec.reshape(shape[:-1] + spec.shape[-2:])
    if normalized is True or normalized == "window":
        spec = spec / window.pow(2.0).sum().sqrt()
    if power is None:
        return spec
    return spec.abs() if power == 1.0 else spec.abs().pow(power)


def inverse_spectrogram(spectrogram, length, pad, window, n_fft, hop_length, win_length, normalized, center=True,
                        pad_mode="reflect", onesided=True):
    if normalized:
        spectrogram = spectrogram * window.pow(2.0).sum().sqrt()
    shape = spectrogram.size()
    wave = torch.istft(spectrogram.reshape(-1, shape[-2], shape[-1]), n_fft, hop_length, win_length, window, center,
                       onesided=onesided, length=length + 2 * pad if length is not None else None)
    if length is not None and pad > 0:
        wave = wave[:, pad:-pad]
    return wave.reshape(shape[:-2] + wave.shape[-1:])


def amplitude_to_DB(x, multiplier, amin, db_multiplier, top_db=None):
    db = multiplier * torch.log10(torch.clamp(x, min=amin)) - multiplier * db_multiplier
    if top_db is not None:
        shape = db.size()
        flat = db.reshape(-1, shape[-3] if db.dim() > 2 else 1, shape[-2], shape[-1])
        flat = torch.max(flat, (flat.amax(dim=(-3, -2, -1)) - top_db).view(-1, 1, 1, 1))
        db = flat.reshape(shape)
    return db


def DB_to_amplitude(x, ref, power):
    return ref * torch.pow(torch.pow(10.0, 0.1 * x), power)


def _sinc_kernel(orig, new, width, rolloff):
    base = min(orig, new) * rolloff
    half = math.ceil(width * orig / base)
    idx = torch.arange(-half, half + orig, dtype=torch.float64)[None, None] / orig
    t = (torch.arange(0, -new, -1, dtype=torch.float64)[:, None, None] / new + idx) * base
    t = t.clamp(-width, width)
    window = torch.cos(t * math.pi / width / 2) ** 2
    t = t * math.pi
    kernel = torch.where(t == 0, torch.ones_like(t), torch.sin(t) / t) * window * (base / orig)
    return kernel.float(), half


def resample(waveform, orig_freq, new_freq, lowpass_filter_width=6, rolloff=0.99,
             resampling_method="sinc_interp_hann", beta=None):
    gcd = math.gcd(int(orig_freq), int(new_freq))
    orig, new = int(orig_freq) // gcd, int(new_freq) // gcd
    if orig == new:
        return waveform
    kernel, half = _sinc_kernel(orig, new, lowpass_filter_width, rolloff)
    return _apply_sinc(waveform, orig, new, kernel.to(device=waveform.device, dtype=waveform.dtype), half)


def _apply_sinc(waveform, orig, new, kernel, half):
    shape = waveform.size()
    flat = F.pad(waveform.reshape(-1, shape[-1]), (half, half + orig))
    out = F.conv1d(flat[:, None], kernel, stride=orig).transpose(1, 2).reshape(flat.shape[0], -1)
    out = out[..., :math.ceil(new * shape[-1] / orig)]
    return out.reshape(shape[:-1] + out.shape[-1:])


def preemphasis(waveform, coeff=0.97):
    return torch.cat([waveform[..., :1], waveform[..., 1:] - coeff * waveform[..., :-1]], dim=-1)


def compute_deltas(specgram, win_length=5, mode="replicate"):
    shape = specgram.size()
    x = specgram.reshape(1, -1, shape[-1])
    n = (win_length - 1) // 2
    x = F.pad(x, (n, n), mode=mode)
    kernel = torch.arange(-n, n + 1, 1, device=x.device, dtype=x.dtype).repeat(x.shape[1], 1, 1)
    return (F.conv1d(x, kernel, groups=x.shape[1]) / (n * (n + 1) * (2 * n + 1) / 3)).reshape(shape)


def mask_along_axis(specgram, mask_param, mask_value, axis, p=1.0):
    size = specgram.size(axis)
    value = torch.rand(1, device=specgram.device) * mask_param
    start = torch.rand(1, device=specgram.device) * (size - value)
    at = torch.arange(0, size, device=specgram.device, dtype=specgram.dtype)
    mask = (at >= start) & (at < start + value)
    shape = [1] * specgram.dim()
    shape[axis] = size
    return specgram.masked_fill(mask.view(shape), mask_value)
`;

const TORCHAUDIO_TRANSFORMS = `
import math
from torchaudio import functional as AF


class Spectrogram(nn.Module):
    def __init__(self, n_fft=400, win_length=None, hop_length=None, pad=0, window_fn=torch.hann_window, power=2.0,
                 normalized=False, wkwargs=None, center=True, pad_mode="reflect", onesided=True, return_complex=None):
        super().__init__()
        self.n_fft = n_fft
        self.win_length = win_length if win_length is not None else n_fft
        self.hop_length = hop_length if hop_length is not None else self.win_length // 2
        self.register_buffer("window", window_fn(self.win_length, **(wkwargs or {})))
        self.pad, self.power, self.normalized = pad, power, normalized
        self.center, self.pad_mode, self.onesided = center, pad_mode, onesided

    def forward(self, waveform):
        return AF.spectrogram(waveform, self.pad, self.window, self.n_fft, self.hop_length, self.win_length, self.power,
                              self.normalized, self.center, self.pad_mode, self.onesided)


class InverseSpectrogram(Spectrogram):
    def forward(self, spectrogram, length=None):
        return AF.inverse_spectrogram(spectrogram, length, self.pad, self.window, self.n_fft, self.hop_length,
                                      self.win_length, self.normalized, self.center, self.pad_mode, self.onesided)


class MelScale(nn.Module):
    def __init__(self, n_mels=128, sample_rate=16000, f_min=0.0, f_max=None, n_stft=201, norm=None, mel_scale="htk"):
        super().__init__()
        self.n_mels, self.sample_rate = n_mels, sample_rate
        self.f_max = f_max if f_max is not None else float(sample_rate // 2)
        self.register_buffer("fb", AF.melscale_fbanks(n_stft, f_min, self.f_max, n_mels, sample_rate, norm, mel_scale))

    def forward(self, specgram):
        return torch.matmul(specgram.transpose(-1, -2), self.fb).transpose(-1, -2)


class MelSpectrogram(nn.Module):
    def __init__(self, sample_rate=16000, n_fft=400, win_length=None, hop_length=None, f_min=0.0, f_max=None, pad=0,
                 n_mels=128, window_fn=torch.hann_window, power=2.0, normalized=False, wkwargs=None, center=True,
                 pad_mode="reflect", onesided=None, norm=None, mel_scale="htk"):
        super().__init__()
        self.sample_rate, self.n_fft, self.n_mels = sample_rate, n_fft, n_mels
        self.win_length = win_length if win_length is not None else n_fft
        self.hop_length = hop_length if hop_length is not None else self.win_length // 2
        self.spectrogram = Spectrogram(n_fft, self.win_length, self.hop_length, pad, window_fn, power, normalized,
                                       wkwargs, center, pad_mode)
        self.mel_scale = MelScale(n_mels, sample_rate, f_min, f_max, n_fft // 2 + 1, norm, mel_scale)

    def forward(self, waveform):
        return self.mel_scale(self.spectrogram(waveform))


class AmplitudeToDB(nn.Module):
    def __init__(self, stype="power", top_db=None):
        super().__init__()
        self.stype, self.top_db = stype, top_db
        self.multiplier = 10.0 if stype == "power" else 20.0

    def forward(self, x):
        return AF.amplitude_to_DB(x, self.multiplier, 1e-10, 0.0, self.top_db)


class MFCC(nn.Module):
    def __init__(self, sample_rate=16000, n_mfcc=40, dct_type=2, norm="ortho", log_mels=False, melkwargs=None):
        super().__init__()
        self.log_mels = log_mels
        self.amplitude_to_DB = AmplitudeToDB("power", 80.0)
        self.MelSpectrogram = MelSpectrogram(sample_rate=sample_rate, **(melkwargs or {}))
        self.register_buffer("dct_mat", AF.create_dct(n_mfcc, self.MelSpectrogram.n_mels, norm))

    def forward(self, waveform):
        mel = self.MelSpectrogram(waveform)
        mel = torch.log(mel + 1e-6) if self.log_mels else self.amplitude_to_DB(mel)
        return torch.matmul(mel.transpose(-1, -2), self.dct_mat).transpose(-1, -2)


class Resample(nn.Module):
    def __init__(self, orig_freq=16000, new_freq=16000, resampling_method="sinc_interp_hann", lowpass_filter_width=6,
                 rolloff=0.99, beta=None, *, dtype=None):
        super().__init__()
        gcd = math.gcd(int(orig_freq), int(new_freq))
        self.orig, self.new = int(orig_freq) // gcd, int(new_freq) // gcd
        if self.orig != self.new:
            kernel, self.half = AF._sinc_kernel(self.orig, self.new, lowpass_filter_width, rolloff)
            self.register_buffer("kernel", kernel)

    def forward(self, waveform):
        if self.orig == self.new:
            return waveform
        return AF._apply_sinc(waveform, self.orig, self.new, self.kernel, self.half)


class _AxisMasking(nn.Module):
    def __init__(self, mask_param, axis, p=1.0):
        super().__init__()
        self.mask_param, self.axis, self.p = mask_param, axis, p

    def forward(self, specgram, mask_value=0.0):
        return AF.mask_along_axis(specgram, self.mask_param, mask_value, self.axis + specgram.dim() - 3, self.p)


class FrequencyMasking(_AxisMasking):
    def __init__(self, freq_mask_param, iid_masks=False):
        super().__init__(freq_mask_param, 1)


class TimeMasking(_AxisMasking):
    def __init__(self, time_mask_param, iid_masks=False, p=1.0):
        super().__init__(time_mask_param, 2, p)


class ComputeDeltas(nn.Module):
    def __init__(self, win_length=5, mode="replicate"):
        super().__init__()
        self.win_length, self.mode = win_length, mode

    def forward(self, specgram):
        return AF.compute_deltas(specgram, self.win_length, self.mode)


class Preemphasis(nn.Module):
    def __init__(self, coeff=0.97):
        super().__init__()
        self.coeff = coeff

    def forward(self, waveform):
        return AF.preemphasis(waveform, self.coeff)


class Vol(nn.Module):
    def __init__(self, gain, gain_type="amplitude"):
        super().__init__()
        self.gain = gain

    def forward(self, waveform):
        return torch.clamp(waveform * self.gain, -1.0, 1.0)
`;

const TORCHLIBROSA = `${MEL}

class STFT(nn.Module):
    def __init__(self, n_fft=2048, hop_length=None, win_length=None, window="hann", center=True, pad_mode="reflect",
                 freeze_parameters=True):
        super().__init__()
        self.n_fft, self.win_length = n_fft, win_length or n_fft
        self.hop_length = hop_length or self.win_length // 4
        self.center, self.pad_mode = center, pad_mode
        self.conv_real = nn.Conv1d(1, n_fft // 2 + 1, n_fft, stride=self.hop_length, bias=False)
        self.conv_imag = nn.Conv1d(1, n_fft // 2 + 1, n_fft, stride=self.hop_length, bias=False)
        if freeze_parameters:
            for p in self.parameters():
                p.requires_grad = False

    def forward(self, input):
        x = input[:, None, :]
        if self.center:
            x = F.pad(x, pad=(self.n_fft // 2, self.n_fft // 2), mode=self.pad_mode)
        real = self.conv_real(x)
        imag = self.conv_imag(x)
        return real[:, None, :, :].transpose(2, 3), imag[:, None, :, :].transpose(2, 3)


class Spectrogram(nn.Module):
    def __init__(self, n_fft=2048, hop_length=None, win_length=None, window="hann", center=True, pad_mode="reflect",
                 power=2.0, freeze_parameters=True):
        super().__init__()
        self.power = power
        self.stft = STFT(n_fft, hop_length, win_length, window, center, pad_mode, True)

    def forward(self, input):
        real, imag = self.stft(input)
        spectrogram = real ** 2 + imag ** 2
        return spectrogram if self.power == 2.0 else spectrogram ** (self.power / 2.0)


class LogmelFilterBank(nn.Module):
    def __init__(self, sr=22050, n_fft=2048, n_mels=64, fmin=0.0, fmax=None, is_log=True, ref=1.0, amin=1e-10,
                 top_db=80.0, freeze_parameters=True):
        super().__init__()
        self.is_log, self.ref, self.amin, self.top_db = is_log, ref, amin, top_db
        banks = melscale_fbanks(n_fft // 2 + 1, fmin, fmax or sr // 2, n_mels, sr, "slaney", "slaney")
        self.melW = nn.Parameter(banks, requires_grad=not freeze_parameters)

    def forward(self, input):
        mel = torch.matmul(input, self.melW)
        return self.power_to_db(mel) if self.is_log else mel

    def power_to_db(self, input):
        log_spec = 10.0 * torch.log10(torch.clamp(input, min=self.amin, max=float("inf")))
        log_spec = log_spec - 10.0 * math.log10(max(self.amin, self.ref))
        if self.top_db is not None:
            log_spec = torch.clamp(log_spec, min=log_spec.max().item() - self.top_db, max=float("inf"))
        return log_spec


class DropStripes(nn.Module):
    def __init__(self, dim, drop_width, stripes_num):
        super().__init__()
        self.dim, self.drop_width, self.stripes_num = dim, drop_width, stripes_num

    def forward(self, input):
        if not self.training:
            return input
        size = input.shape[self.dim]
        at = torch.arange(size, device=input.device)
        for _ in range(self.stripes_num):
            width = torch.randint(0, self.drop_width, (input.shape[0], 1), device=input.device)
            start = (torch.rand(input.shape[0], 1, device=input.device) * (size - width)).long()
            keep = ((at < start) | (at >= start + width)).to(input.dtype)
            shape = [input.shape[0], 1, 1, 1]
            shape[self.dim] = size
            input = input * keep.view(shape)
        return input


class SpecAugmentation(nn.Module):
    def __init__(self, time_drop_width, time_stripes_num, freq_drop_width, freq_stripes_num):
        super().__init__()
        self.time_dropper = DropStripes(2, time_drop_width, time_stripes_num)
        self.freq_dropper = DropStripes(3, freq_drop_width, freq_stripes_num)

    def forward(self, input):
        return self.freq_dropper(self.time_dropper(input))
`;

const LIBROSA_FILTERS = `${MEL}
import numpy as np


def mel(sr=22050, n_fft=2048, n_mels=128, fmin=0.0, fmax=None, htk=False, norm="slaney", dtype=np.float32, **kwargs):
    banks = melscale_fbanks(n_fft // 2 + 1, fmin, fmax or sr / 2, n_mels, sr, "slaney" if norm else None,
                            "htk" if htk else "slaney")
    return banks.t().contiguous().numpy().astype(dtype)


def get_window(window, Nx, fftbins=True):
    from scipy.signal import get_window as scipy_window
    return scipy_window(window, Nx, fftbins)

`;

const LIBROSA_UTIL = `
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

const SCIPY_SIGNAL = `
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


def gaussian(M, std, sym=True):
    n = np.arange(M) - (M - 1) / 2
    return np.exp(-0.5 * (n / std) ** 2)


def get_window(window, Nx, fftbins=True):
    name, rest = (window[0], window[1:]) if isinstance(window, tuple) else (window, ())
    makers = {"hann": hann, "hanning": hann, "hamming": hamming, "blackman": blackman, "boxcar": boxcar,
              "ones": boxcar, "kaiser": kaiser, "gaussian": gaussian}
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
export const AUDIO: Readonly<Record<string, string>> = {
  "torchaudio.functional": TORCHAUDIO_FUNCTIONAL,
  "torchaudio.functional.functional": TORCHAUDIO_FUNCTIONAL,
  "torchaudio.transforms": TORCHAUDIO_TRANSFORMS,
  "torchlibrosa.stft": TORCHLIBROSA,
  "torchlibrosa.augmentation": TORCHLIBROSA,
  "librosa.filters": LIBROSA_FILTERS,
  "librosa.util": LIBROSA_UTIL,
  "scipy.signal": SCIPY_SIGNAL,
  "scipy.signal.windows": SCIPY_SIGNAL,
};

/** packages that hold them: unknown but for these submodules */
export const AUDIO_PACKAGES = ["torchaudio", "torchlibrosa", "librosa", "scipy"] as const;
