// Distances between images as networks see them (Zhang et al. 2018), as the lpips library and taming have them. In: nothing. Out:
// Python text; weights are never loaded.

const LPIPS = `
import torchvision.models as _models


class ScalingLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("shift", torch.tensor([-0.030, -0.088, -0.188])[None, :, None, None])
        self.register_buffer("scale", torch.tensor([0.458, 0.448, 0.450])[None, :, None, None])

    def forward(self, inp):
        return (inp - self.shift) / self.scale


class NetLinLayer(nn.Module):
    def __init__(self, chn_in, chn_out=1, use_dropout=False):
        super().__init__()
        self.model = nn.Sequential(*([nn.Dropout()] if use_dropout else []),
                                   nn.Conv2d(chn_in, chn_out, 1, stride=1, padding=0, bias=False))

    def forward(self, x):
        return self.model(x)


# the network, where its slices end, and how many channels they have
_NETS = {"alex": ("alexnet", [2, 5, 8, 10, 12], [64, 192, 384, 256, 256]),
         "vgg": ("vgg16", [4, 9, 16, 23, 30], [64, 128, 256, 512, 512]),
         "squeeze": ("squeezenet1_1", [2, 5, 8, 10, 11, 12, 13], [64, 128, 256, 384, 384, 512, 512])}


class _Slices(nn.Module):
    def __init__(self, name, ends):
        super().__init__()
        layers = getattr(_models, name)().features
        for i, end in enumerate(ends):
            setattr(self, "slice%d" % (i + 1), nn.Sequential(*layers[ends[i - 1] if i else 0:end]))
        self.N_slices = len(ends)

    def forward(self, x):
        found = []
        for i in range(self.N_slices):
            x = getattr(self, "slice%d" % (i + 1))(x)
            found.append(x)
        return found


def normalize_tensor(x, eps=1e-10):
    return x / (torch.sqrt(torch.sum(x ** 2, dim=1, keepdim=True)) + eps)


def spatial_average(x, keepdim=True):
    return x.mean([2, 3], keepdim=keepdim)


class LPIPS(nn.Module):
    def __init__(self, pretrained=True, net="alex", version="0.1", lpips=True, spatial=False, pnet_rand=False,
                 pnet_tune=False, use_dropout=True, model_path=None, eval_mode=True, verbose=True):
        super().__init__()
        name, ends, self.chns = _NETS["vgg" if net == "vgg16" else net]
        self.L, self.lpips, self.spatial = len(self.chns), lpips, spatial
        self.scaling_layer, self.net = ScalingLayer(), _Slices(name, ends)
        self.lins = nn.ModuleList([NetLinLayer(c, use_dropout=use_dropout) for c in self.chns]) if lpips else []
        for i, lin in enumerate(self.lins):
            setattr(self, "lin%d" % i, lin)
        if not pnet_tune:
            for p in self.net.parameters():
                p.requires_grad = False
        if eval_mode:
            self.eval()

    def forward(self, in0, in1, retPerLayer=False, normalize=False):
        if normalize:
            in0, in1 = 2 * in0 - 1, 2 * in1 - 1
        outs = [self.net(self.scaling_layer(x)) for x in (in0, in1)]
        found = []
        for i in range(self.L):
            apart = (normalize_tensor(outs[0][i]) - normalize_tensor(outs[1][i])) ** 2
            apart = self.lins[i](apart) if self.lpips else apart.sum(dim=1, keepdim=True)
            found.append(F.interpolate(apart, size=in0.shape[2:], mode="bilinear", align_corners=False) if self.spatial
                         else spatial_average(apart))
        total = found[0]
        for x in found[1:]:
            total = total + x
        return (total, found) if retPerLayer else total
`;

/** taming's is of VGG16 alone */
const TAMING_LPIPS = `
import lpips as _lpips


class LPIPS(_lpips.LPIPS):
    def __init__(self, use_dropout=True):
        super().__init__(net="vgg", use_dropout=use_dropout, eval_mode=False)

    def forward(self, input, target):
        return super().forward(input, target)
`;

const DISCRIMINATOR = `
import functools


def weights_init(m):
    pass


class NLayerDiscriminator(nn.Module):
    def __init__(self, input_nc=3, ndf=64, n_layers=3, use_actnorm=False):
        super().__init__()
        layers = [nn.Conv2d(input_nc, ndf, kernel_size=4, stride=2, padding=1), nn.LeakyReLU(0.2, True)]
        wide = ndf
        for n in range(1, n_layers + 1):
            before, wide = wide, ndf * min(2 ** n, 8)
            layers += [nn.Conv2d(before, wide, kernel_size=4, stride=2 if n < n_layers else 1, padding=1, bias=False),
                       nn.BatchNorm2d(wide), nn.LeakyReLU(0.2, True)]
        self.main = nn.Sequential(*layers, nn.Conv2d(wide, 1, kernel_size=4, stride=1, padding=1))

    def forward(self, input):
        return self.main(input)
`;

const ADVERSARIAL = `
from taming.modules.losses.lpips import LPIPS
from taming.modules.discriminator.model import NLayerDiscriminator, weights_init


def adopt_weight(weight, global_step, threshold=0, value=0.0):
    return value if global_step < threshold else weight


def hinge_d_loss(logits_real, logits_fake):
    return 0.5 * (torch.mean(F.relu(1.0 - logits_real)) + torch.mean(F.relu(1.0 + logits_fake)))


def vanilla_d_loss(logits_real, logits_fake):
    return 0.5 * (torch.mean(F.softplus(-logits_real)) + torch.mean(F.softplus(logits_fake)))
`;

export const PERCEPTUAL: Readonly<Record<string, string>> = {
  lpips: LPIPS,
  "taming.modules.losses.lpips": TAMING_LPIPS,
  "taming.modules.losses.vqperceptual": ADVERSARIAL,
  "taming.modules.discriminator.model": DISCRIMINATOR,
};

/** packages that hold them */
export const PERCEPTUAL_PACKAGES = ["taming.modules.losses", "taming.modules.discriminator"] as const;
