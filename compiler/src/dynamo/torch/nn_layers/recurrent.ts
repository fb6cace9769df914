// Layers of torch.nn: recurrent layers and cells. Python text by unit, compiled when one of its classes is asked for.

export const RECURRENT: Readonly<Record<string, string>> = {
  RNNBase: `
class RNNBase(Module):
    _gates, _mode = 1, "RNN_TANH"

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
                 bidirectional=False, proj_size=0, nonlinearity="tanh", device=None, dtype=None):
        super().__init__()
        self.mode = self._mode if self._gates > 1 else ("RNN_TANH" if nonlinearity == "tanh" else "RNN_RELU")
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        directions = 2 if bidirectional else 1
        rows = self._gates * hidden_size
        real = proj_size if proj_size > 0 else hidden_size
        self._flat_weights_names = []
        self._all_weights = []
        for layer in range(num_layers):
            for direction in range(directions):
                columns = input_size if layer == 0 else real * directions
                suffix = f"_l{layer}" + ("_reverse" if direction == 1 else "")
                shapes = [("weight_ih", (rows, columns)), ("weight_hh", (rows, real)), ("bias_ih", (rows,)),
                          ("bias_hh", (rows,))] + ([("weight_hr", (proj_size, hidden_size))] if proj_size > 0 else [])
                # biases are drawn where they are not kept, too
                made = {name: Parameter(torch.empty(shape, device=device, dtype=dtype)) for name, shape in shapes}
                names = [name + suffix for name in made if bias or not name.startswith("bias")]
                for name, parameter in made.items():
                    if name + suffix in names:
                        setattr(self, name + suffix, parameter)
                self._flat_weights_names += names
                self._all_weights.append(names)

    @property
    def all_weights(self):
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self):
        pass

    def _sizes(self, input):
        rows = input.size(0 if self.batch_first else 1)
        layers = self.num_layers * (2 if self.bidirectional else 1)
        return (layers, rows, self.proj_size if self.proj_size > 0 else self.hidden_size), (layers, rows, self.hidden_size)

    def _check(self, input):
        weight = getattr(self, self._flat_weights_names[0])
        if not torch.is_autocast_enabled() and input.dtype != weight.dtype:
            raise ValueError(f"input must have the type {weight.dtype}, got type {input.dtype}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}")

    def _check_state(self, state, wanted, named):
        if tuple(state.shape) != wanted:
            raise RuntimeError(f"Expected {named} size {wanted}, got {list(state.shape)}")

    def _run(self, input, hx):
        if input.dim() not in (2, 3):
            raise ValueError(f"{self._get_name()}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        batched = input.dim() == 3
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        self._check(input)
        wanted = self._sizes(input)
        lstm = self.mode == "LSTM"
        if hx is None:
            states = [torch.zeros(s, dtype=input.dtype, device=input.device) for s in wanted]
        else:
            states = list(hx) if lstm else [hx]
            rank = 3 if batched else 2
            if any(s.dim() != rank for s in states):
                kind = "batched 3-D" if batched else "unbatched 2-D"
                dims = ", ".join(f"{s.dim()}-D" for s in states)
                raise RuntimeError(f"For {kind} input, hx and cx should also be {rank}-D but got ({dims}) tensors" if lstm
                                   else f"For {kind} input, hx should also be {rank}-D but got {dims} tensor")
            if not batched:
                states = [s.unsqueeze(1) for s in states]
            for i, (state, size) in enumerate(zip(states, wanted)):
                self._check_state(state, size, f"hidden[{i}]" if lstm else "hidden")
        weights = [getattr(self, name) for name in self._flat_weights_names]
        call = getattr(torch, self.mode.lower())
        out, *states = call(input, states[:2] if lstm else states[0], weights, self.bias, self.num_layers, self.dropout,
                            self.training, self.bidirectional, self.batch_first)
        if not batched:
            out = out.squeeze(0 if self.batch_first else 1)
            states = [s.squeeze(1) for s in states]
        return out, tuple(states) if lstm else states[0]

    def forward(self, input, hx=None):
        return _recurrent(self, input, hx)


class RNN(RNNBase):
    pass


class LSTM(RNNBase):
    _gates, _mode = 4, "LSTM"


class GRU(RNNBase):
    _gates, _mode = 3, "GRU"


class RNNCellBase(Module):
    _gates = 1

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias, self.nonlinearity = input_size, hidden_size, bias, nonlinearity
        rows = self._gates * hidden_size
        self.weight_ih = Parameter(torch.empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(torch.empty((rows, hidden_size), device=device, dtype=dtype))
        if bias:
            self.bias_ih = Parameter(torch.empty(rows, device=device, dtype=dtype))
            self.bias_hh = Parameter(torch.empty(rows, device=device, dtype=dtype))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)


class RNNCell(RNNCellBase):
    def forward(self, input, hx=None):
        single = input.dim() == 1
        hidden = hx is not None and hx.dim() == 1
        input = input.unsqueeze(0) if single else input
        if hx is None:
            hx = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
        elif hidden:
            hx = hx.unsqueeze(0)
        cell = torch.rnn_relu_cell if self.nonlinearity == "relu" else torch.rnn_tanh_cell
        ret = cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return ret.squeeze(0) if single else ret


class LSTMCell(RNNCellBase):
    _gates = 4

    def forward(self, input, hx=None):
        single = input.dim() == 1
        if hx is not None:
            for value in hx:
                value.dim()
        input = input.unsqueeze(0) if single else input
        if hx is None:
            zeros = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
            hx = (zeros, zeros)
        elif single:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        ret = torch.lstm_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return (ret[0].squeeze(0), ret[1].squeeze(0)) if single else ret


class GRUCell(RNNCellBase):
    _gates = 3

    def forward(self, input, hx=None):
        single = input.dim() == 1
        hidden = hx is not None and hx.dim() == 1
        input = input.unsqueeze(0) if single else input
        if hx is None:
            hx = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
        elif hidden:
            hx = hx.unsqueeze(0)
        ret = torch.gru_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return ret.squeeze(0) if single else ret
`,
};
