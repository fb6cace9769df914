// ema_pytorch: a copy of a model whose weights follow the model's own. In: nothing. Out: its text.

export const EMA_TEXT = `
import copy


class EMA(nn.Module):
    def __init__(self, model, ema_model=None, beta=0.9999, update_after_step=100, update_every=10, inv_gamma=1.0,
                 power=2 / 3, min_value=0.0, include_online_model=True, **kwargs):
        super().__init__()
        self.beta, self.inv_gamma, self.power, self.min_value = beta, inv_gamma, power, min_value
        self.update_after_step, self.update_every = update_after_step, update_every
        self.include_online_model = include_online_model
        # a model that is not a part of this one is kept out of its parameters
        self._online = None if include_online_model else [model]
        if include_online_model:
            self.online_model = model
        self.ema_model = copy.deepcopy(model) if ema_model is None else ema_model() if callable(
            ema_model) and not isinstance(ema_model, nn.Module) else ema_model
        self.ema_model.requires_grad_(False)
        self.register_buffer("initted", torch.tensor(False))
        self.register_buffer("step", torch.tensor(0))

    @property
    def model(self):
        return self.online_model if self.include_online_model else self._online[0]

    def eval(self):
        return self.train(False)

    def _pairs(self):
        return zip(self.ema_model.parameters(), self.model.parameters())

    @torch.no_grad()
    def copy_params_from_model_to_ema(self):
        for kept, own in self._pairs():
            kept.copy_(own)

    @torch.no_grad()
    def copy_params_from_ema_to_model(self):
        for kept, own in self._pairs():
            own.copy_(kept)

    @torch.no_grad()
    def update_moving_average(self, ma_model=None, current_model=None):
        for kept, own in self._pairs():
            kept.lerp_(own, 1.0 - self.beta)

    def update(self):
        self.step += 1
        self.update_moving_average()

    def forward_eval(self, *args, **kwargs):
        training = self.ema_model.training
        found = self.ema_model.eval()(*args, **kwargs)
        self.ema_model.train(training)
        return found

    def forward(self, *args, **kwargs):
        return self.ema_model(*args, **kwargs)
`;
