// torchlibrosa: its spectrogram and log-mel modules. Python text.
import { MEL } from "./mel";

export const TORCHLIBROSA = `${MEL}

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
