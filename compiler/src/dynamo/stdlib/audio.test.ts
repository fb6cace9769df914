// Audio front ends that stand in for absent libraries: shapes and first values as the libraries give them.
import { expect, test } from "vitest";
import { analysed, framesOf, operatorsOf, printed } from "../infer/testing/analysed";

test("windows and mel filters are numbers that constructors compute with", () => {
  const r = analysed(`
import librosa
from librosa.filters import mel
from scipy import signal
w = signal.get_window("hann", 8, fftbins=True)
print(w.shape, round(float(w[1]), 6), librosa.util.pad_center(w, size=12).shape)
m = mel(sr=22050, n_fft=1024, n_mels=80, fmin=0, fmax=8000)
print(m.shape, m.dtype)
`);
  expect(printed(r)).toBe("(8,) 0.146447 (12,)\n(80, 513) float32\n");
});

test("torchaudio's transforms are torch's operators", () => {
  const r = analysed(`
import torchaudio
import torchaudio.transforms as T

class Front(nn.Module):
    def __init__(self):
        super().__init__()
        self.mel = T.MelSpectrogram(sample_rate=16000, n_fft=400, hop_length=160, n_mels=64)
        self.db = T.AmplitudeToDB(top_db=80)

    def forward(self, waveform):
        return self.db(self.mel(torchaudio.functional.resample(waveform, 32000, 16000)))

print(Front()(torch.randn(2, 32000)).shape)
`);
  expect(printed(r)).toBe("torch.Size([2, 64, 101])\n");
  expect(operatorsOf(r, "Front").map(t => t.split(".").pop())).toEqual(
    expect.arrayContaining(["conv1d", "stft", "matmul", "log10"]),
  );
  expect(framesOf(r, "Front").flatMap(f => f.graph.nodes.filter(n => n.meta.opaque))).toEqual([]);
});

test("torchlibrosa's spectrograms are convolutions, masks in training alone", () => {
  const r = analysed(`
from torchlibrosa.stft import Spectrogram, LogmelFilterBank
from torchlibrosa.augmentation import SpecAugmentation

class Front(nn.Module):
    def __init__(self):
        super().__init__()
        self.spectrogram = Spectrogram(n_fft=1024, hop_length=320)
        self.logmel = LogmelFilterBank(sr=32000, n_fft=1024, n_mels=64, top_db=None)
        self.augment = SpecAugmentation(64, 2, 8, 2)

    def forward(self, waveform):
        return self.augment(self.logmel(self.spectrogram(waveform)))

print(Front().eval()(torch.randn(2, 32000)).shape)
`);
  expect(printed(r)).toBe("torch.Size([2, 1, 101, 64])\n");
  expect(operatorsOf(r, "Front").filter(t => t === "torch.conv1d")).toHaveLength(2);
});

test("the way in which frames at the ends are padded may be None where they are not", () => {
  const r = analysed(`
import torchaudio

class Scales(nn.Module):
    def __init__(self):
        super().__init__()
        self.spec = torchaudio.transforms.Spectrogram(n_fft=64, hop_length=16, center=False, pad_mode=None, power=None)

    def forward(self, wav):
        return self.spec(wav).abs()
`);
  expect(operatorsOf(r, "Scales").join()).toContain("stft");
});
