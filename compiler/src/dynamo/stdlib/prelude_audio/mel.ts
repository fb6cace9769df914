// Mel filters by Slaney's and O'Shaughnessy's scales. Python text.

export const MEL = `
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
