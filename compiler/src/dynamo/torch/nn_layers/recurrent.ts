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
                shapes = [("weight_ih", (rows, columns)), ("weight_hh", (rows, real))]
                if bias:
                    shapes += [("bias_ih", (rows,)), ("bias_hh", (rows,))]
                if proj_size > 0:
                    shapes += [("weight_hr", (proj_size, hidden_size))]
                for name, shape in shapes:
                    setattr(self, name + suffix, Parameter(torch.empty(shape, device=device, dtype=dtype)))
                    self._flat_weights_names.append(name + suffix)
                self._all_weights.append([name + suffix for name, _ in shapes])

    @property
    def all_weights(self):
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self):
        pass

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
