// T5 (Raffel et al. 2020): its encoder, and the encoder with the decoder, under the names that transformers gives to their
// parts. Weights are never loaded. Python text, behind that of the other encoders.

export const T5 = `
class T5Config(LibraryConfig):
    # of the small model; others by words of the checkpoint's name
    _sizes = (("xxl", (4096, 24, 64, 10240)), ("11b", (1024, 24, 128, 65536)), ("-xl", (2048, 24, 32, 5120)),
              ("3b", (1024, 24, 32, 16384)), ("large", (1024, 24, 16, 4096)), ("base", (768, 12, 12, 3072)))

    def __init__(self, **kwargs):
        own = dict(vocab_size=32128, d_model=512, num_layers=6, num_decoder_layers=None, num_heads=8, d_ff=2048, d_kv=64,
                   relative_attention_num_buckets=32, relative_attention_max_distance=128, dropout_rate=0.1,
                   layer_norm_epsilon=1e-6, feed_forward_proj="relu", pad_token_id=0, eos_token_id=1,
                   decoder_start_token_id=0, is_encoder_decoder=True)
        given = {**own, **kwargs}
        super().__init__(**given)
        self.hidden_size, self.num_attention_heads, self.num_hidden_layers = self.d_model, self.num_heads, self.num_layers
        if self.num_decoder_layers is None:
            self.num_decoder_layers = self.num_layers
        self.is_gated_act = self.feed_forward_proj.startswith("gated")
        act = self.feed_forward_proj.split("-")[-1]
        self.dense_act_fn = "gelu_new" if act == "gelu" and self.is_gated_act else act

    @classmethod
    def from_pretrained(cls, name=None, *args, **kwargs):
        words = name.lower() if isinstance(name, str) else ""
        sizes = next((s for word, s in cls._sizes if word in words), (512, 8, 6, 1024) if "v1_1" in words else None)
        told = {} if sizes is None else dict(zip(("d_model", "num_layers", "num_heads", "d_ff"), sizes))
        if "v1_1" in words or "flan" in words or "mt5" in words:
            told["feed_forward_proj"] = "gated-gelu"
        return cls(**{**told, **{k: v for k, v in kwargs.items() if k not in _LOADING}})


MT5Config = T5Config


class T5LayerNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, x):
        variance = x.to(torch.float32).pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(variance + self.variance_epsilon)).to(self.weight.dtype)


class T5DenseActDense(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.wi = nn.Linear(config.d_model, config.d_ff, bias=False)
        self.wo = nn.Linear(config.d_ff, config.d_model, bias=False)
        self.dropout, self.act = nn.Dropout(config.dropout_rate), ACT2FN[config.dense_act_fn]

    def forward(self, x):
        return self.wo(self.dropout(self.act(self.wi(x))))


class T5DenseGatedActDense(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.wi_0, self.wi_1 = (nn.Linear(config.d_model, config.d_ff, bias=False) for _ in range(2))
        self.wo = nn.Linear(config.d_ff, config.d_model, bias=False)
        self.dropout, self.act = nn.Dropout(config.dropout_rate), ACT2FN[config.dense_act_fn]

    def forward(self, x):
        return self.wo(self.dropout(self.act(self.wi_0(x)) * self.wi_1(x)))


class T5LayerFF(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.DenseReluDense = (T5DenseGatedActDense if config.is_gated_act else T5DenseActDense)(config)
        self.layer_norm = T5LayerNorm(config.d_model, eps=config.layer_norm_epsilon)
        self.dropout = nn.Dropout(config.dropout_rate)

    def forward(self, x):
        return x + self.dropout(self.DenseReluDense(self.layer_norm(x)))


class T5Attention(nn.Module):
    def __init__(self, config, has_relative_attention_bias=False, is_decoder=False):
        super().__init__()
        self.n_heads, inner, self.is_decoder = config.num_heads, config.num_heads * config.d_kv, is_decoder
        self.buckets, self.farthest = config.relative_attention_num_buckets, config.relative_attention_max_distance
        self.q, self.k, self.v = (nn.Linear(config.d_model, inner, bias=False) for _ in range(3))
        self.o = nn.Linear(inner, config.d_model, bias=False)
        self.dropout = config.dropout_rate
        if has_relative_attention_bias:
            self.relative_attention_bias = nn.Embedding(self.buckets, self.n_heads)

    def compute_bias(self, queries, keys, device):
        # half of the buckets for each direction where there are two, half of those for distances of their own
        apart = torch.arange(keys, device=device)[None, :] - torch.arange(queries, device=device)[:, None]
        buckets, first = self.buckets, 0
        if self.is_decoder:
            apart = -torch.min(apart, torch.zeros_like(apart))
        else:
            buckets //= 2
            first, apart = (apart > 0).to(torch.long) * buckets, torch.abs(apart)
        exact = buckets // 2
        far = exact + (torch.log(apart.float() / exact) / math.log(self.farthest / exact) * (buckets - exact)).to(torch.long)
        far = torch.min(far, torch.full_like(far, buckets - 1))
        found = self.relative_attention_bias(first + torch.where(apart < exact, apart, far))
        return found.permute([2, 0, 1]).unsqueeze(0)

    def forward(self, x, bias, source=None):
        source = x if source is None else source
        query, key, value = _heads(self.q(x), self.n_heads), _heads(self.k(source), self.n_heads), _heads(self.v(source), self.n_heads)
        scores = torch.matmul(query, key.transpose(3, 2))
        if bias is not None:
            scores = scores + bias
        weights = F.dropout(F.softmax(scores.float(), dim=-1).type_as(scores), self.dropout, self.training)
        return self.o(_joined(torch.matmul(weights, value)))


class T5LayerSelfAttention(nn.Module):
    _name = "SelfAttention"

    def __init__(self, config, has_relative_attention_bias=False, is_decoder=False):
        super().__init__()
        setattr(self, self._name, T5Attention(config, has_relative_attention_bias, is_decoder))
        self.layer_norm = T5LayerNorm(config.d_model, eps=config.layer_norm_epsilon)
        self.dropout = nn.Dropout(config.dropout_rate)

    def forward(self, x, bias, source=None):
        return x + self.dropout(getattr(self, self._name)(self.layer_norm(x), bias, source))


class T5LayerCrossAttention(T5LayerSelfAttention):
    _name = "EncDecAttention"


class T5Block(nn.Module):
    def __init__(self, config, has_relative_attention_bias=False, is_decoder=False):
        super().__init__()
        self.is_decoder = is_decoder
        self.layer = nn.ModuleList([T5LayerSelfAttention(config, has_relative_attention_bias, is_decoder)])
        if is_decoder:
            self.layer.append(T5LayerCrossAttention(config))
        self.layer.append(T5LayerFF(config))

    def forward(self, x, bias, source=None, source_bias=None):
        x = self.layer[0](x, bias)
        if self.is_decoder:
            x = self.layer[1](x, source_bias, source)
        return self.layer[-1](x)


class T5PreTrainedModel(PreTrainedModel):
    config_class = T5Config
    base_model_prefix = "transformer"

    def get_input_embeddings(self):
        return self.shared

    def set_input_embeddings(self, value):
        self.shared = value
        for stack in (self.encoder, getattr(self, "decoder", None)):
            if stack is not None:
                stack.embed_tokens = value

    def get_encoder(self):
        return self.encoder

    def _shift_right(self, labels):
        start = labels.new_full(labels.shape[:-1] + (1,), self.config.decoder_start_token_id)
        shifted = torch.cat([start, labels[..., :-1]], dim=-1)
        return shifted.masked_fill(shifted == -100, self.config.pad_token_id)


class T5Stack(T5PreTrainedModel):
    def __init__(self, config, embed_tokens=None, is_decoder=False):
        super().__init__(config)
        self.embed_tokens, self.is_decoder = embed_tokens, is_decoder
        layers = config.num_decoder_layers if is_decoder else config.num_layers
        self.block = nn.ModuleList([T5Block(config, i == 0, is_decoder) for i in range(layers)])
        self.final_layer_norm = T5LayerNorm(config.d_model, eps=config.layer_norm_epsilon)
        self.dropout = nn.Dropout(config.dropout_rate)

    def forward(self, input_ids=None, attention_mask=None, encoder_hidden_states=None, encoder_attention_mask=None,
                inputs_embeds=None, head_mask=None, output_attentions=None, output_hidden_states=None, return_dict=None, **kwargs):
        x = self.embed_tokens(input_ids) if inputs_embeds is None else inputs_embeds
        length, least = x.shape[1], torch.finfo(x.dtype).min
        bias = self.block[0].layer[0].SelfAttention.compute_bias(length, length, x.device)
        if self.is_decoder:
            bias = bias.masked_fill(torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1), least)
        if attention_mask is not None:
            bias = bias + _additive_mask(attention_mask, length, x.dtype)
        other = None
        if encoder_hidden_states is not None and encoder_attention_mask is not None:
            other = _additive_mask(encoder_attention_mask, length, x.dtype)
        states = (self.dropout(x),)
        for block in self.block:
            states = states + (block(states[-1], bias, encoder_hidden_states, other),)
        last = self.dropout(self.final_layer_norm(states[-1]))
        return _outputs(return_dict, last_hidden_state=last,
                        hidden_states=states[:-1] + (last,) if output_hidden_states else None)


class T5EncoderModel(T5PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.shared = nn.Embedding(config.vocab_size, config.d_model)
        self.encoder = T5Stack(config, self.shared)

    def forward(self, input_ids=None, attention_mask=None, **kwargs):
        return self.encoder(input_ids, attention_mask, **kwargs)


class T5Model(T5PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.shared = nn.Embedding(config.vocab_size, config.d_model)
        self.encoder, self.decoder = T5Stack(config, self.shared), T5Stack(config, self.shared, True)

    def _run(self, input_ids, attention_mask, decoder_input_ids, decoder_attention_mask, encoder_outputs, inputs_embeds,
             decoder_inputs_embeds, output_hidden_states=None):
        if encoder_outputs is None:
            encoder_outputs = self.encoder(input_ids, attention_mask, inputs_embeds=inputs_embeds,
                                           output_hidden_states=output_hidden_states)
        source = encoder_outputs[0]
        found = self.decoder(decoder_input_ids, decoder_attention_mask, source, attention_mask, decoder_inputs_embeds,
                             output_hidden_states=output_hidden_states)
        return found, source

    def forward(self, input_ids=None, attention_mask=None, decoder_input_ids=None, decoder_attention_mask=None,
                encoder_outputs=None, inputs_embeds=None, decoder_inputs_embeds=None, output_hidden_states=None,
                return_dict=None, **kwargs):
        found, source = self._run(input_ids, attention_mask, decoder_input_ids, decoder_attention_mask, encoder_outputs,
                                  inputs_embeds, decoder_inputs_embeds, output_hidden_states)
        return _outputs(return_dict, last_hidden_state=found.last_hidden_state, encoder_last_hidden_state=source,
                        decoder_hidden_states=found.hidden_states)


class T5ForConditionalGeneration(T5Model):
    def __init__(self, config):
        super().__init__(config)
        self.model_dim = config.d_model
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)

    def get_output_embeddings(self):
        return self.lm_head

    def forward(self, input_ids=None, attention_mask=None, decoder_input_ids=None, decoder_attention_mask=None,
                encoder_outputs=None, inputs_embeds=None, decoder_inputs_embeds=None, labels=None, output_hidden_states=None,
                return_dict=None, **kwargs):
        if labels is not None and decoder_input_ids is None and decoder_inputs_embeds is None:
            decoder_input_ids = self._shift_right(labels)
        found, source = self._run(input_ids, attention_mask, decoder_input_ids, decoder_attention_mask, encoder_outputs,
                                  inputs_embeds, decoder_inputs_embeds, output_hidden_states)
        logits = self.lm_head(found.last_hidden_state)
        return _outputs(return_dict, loss=_entropy(logits, labels), logits=logits, encoder_last_hidden_state=source,
                        decoder_hidden_states=found.hidden_states)


MT5EncoderModel = T5EncoderModel
MT5Model = T5Model
MT5ForConditionalGeneration = T5ForConditionalGeneration
`;
