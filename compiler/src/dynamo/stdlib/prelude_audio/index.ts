// Audio front ends that models compute inside of forward: torchaudio, torchlibrosa, what librosa and scipy.signal give to
// constructors. In: nothing. Out: texts by module name; what a text lacks is unknown.
import { LIBROSA_FILTERS, LIBROSA_UTIL, SCIPY_SIGNAL } from "./constructors";
import { TORCHAUDIO_FUNCTIONAL, TORCHAUDIO_TRANSFORMS } from "./torchaudio";
import { TORCHLIBROSA } from "./torchlibrosa";

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
