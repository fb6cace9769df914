import torch
import torch.nn as nn

layer = nn.TransformerEncoderLayer(16, 2, 24, dropout=0.0, batch_first=True, norm_first=True).cuda()
net = torch.compile(layer)
x = torch.randn(3, 7, 16, device="cuda")
pad = torch.zeros(3, 7, dtype=torch.bool, device="cuda")
net(x, src_mask=nn.Transformer.generate_square_subsequent_mask(7, device="cuda"), src_key_padding_mask=pad.float()).sum().backward()
