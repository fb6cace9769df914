// torchaudio: spectrograms by torch.stft, mel scales, resampling by windowed sinc filters. Python text.
import { MEL } from "./mel";

export const TORCHAUDIO_FUNCTIONAL = `${MEL}
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
                      window=window, center=center, pad_mode=pad_mode or "reflect", normalized=normalized == "frame_length",
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

export const TORCHAUDIO_TRANSFORMS = `
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
