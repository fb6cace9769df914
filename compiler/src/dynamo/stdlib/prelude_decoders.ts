// Decoders of Llama's kind (Touvron et al. 2023): Llama, Mistral and Qwen2, which has biases, under the names that transformers
// gives to their parts. Weights are never loaded. Python text, behind that of the encoders.

export const DECODERS = `
class LlamaRotaryEmbedding(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        steps = torch.arange(0, width, 2, dtype=torch.int64).float() / width
        self.register_buffer("inv_freq", 1.0 / (config.rope_theta ** steps), persistent=False)

    def forward(self, x, position_ids):
        angles = position_ids[:, :, None].float() * self.inv_freq[None, None, :].float().to(x.device)
        both = torch.cat((angles, angles), dim=-1)
        return both.cos().to(x.dtype), both.sin().to(x.dtype)


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def apply_rotary_pos_emb(q, k, cos, sin, position_ids=None, unsqueeze_dim=1):
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


def repeat_kv(hidden_states, n_rep):
    return hidden_states if n_rep == 1 else hidden_states.repeat_interleave(n_rep, dim=1)


class LlamaAttention(nn.Module):
    _biased = False

    def __init__(self, config, layer_idx=None):
        super().__init__()
        width, biased = config.hidden_size, self._biased or config.attention_bias
        self.config, self.layer_idx, self.num_heads = config, layer_idx, config.num_attention_heads
        self.num_key_value_heads = config.num_key_value_heads or self.num_heads
        self.head_dim = getattr(config, "head_dim", None) or width // self.num_heads
        self.num_key_value_groups = self.num_heads // self.num_key_value_heads
        self.q_proj = nn.Linear(width, self.num_heads * self.head_dim, bias=biased)
        self.k_proj = nn.Linear(width, self.num_key_value_heads * self.head_dim, bias=biased)
        self.v_proj = nn.Linear(width, self.num_key_value_heads * self.head_dim, bias=biased)
        self.o_proj = nn.Linear(self.num_heads * self.head_dim, width, bias=config.attention_bias)

    def forward(self, hidden_states, position_embeddings, attention_mask=None, weights_too=False):
        query = _heads(self.q_proj(hidden_states), self.num_heads)
        key, value = (_heads(p(hidden_states), self.num_key_value_heads) for p in (self.k_proj, self.v_proj))
        query, key = apply_rotary_pos_emb(query, key, *position_embeddings)
        key, value = repeat_kv(key, self.num_key_value_groups), repeat_kv(value, self.num_key_value_groups)
        attended, weights = _attend(query, key, value, attention_mask, self.config.attention_dropout, self.training,
                                    weights_too, causal=attention_mask is None)
        return self.o_proj(_joined(attended)), weights


class LlamaMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, inner = config.hidden_size, config.intermediate_size
        self.gate_proj, self.up_proj = (nn.Linear(width, inner, bias=config.mlp_bias) for _ in range(2))
        self.down_proj = nn.Linear(inner, width, bias=config.mlp_bias)
        self.act_fn = ACT2FN[config.hidden_act]

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))


class LlamaDecoderLayer(nn.Module):
    _attention = LlamaAttention

    def __init__(self, config, layer_idx=None):
        super().__init__()
        self.self_attn, self.mlp = self._attention(config, layer_idx), LlamaMLP(config)
        self.input_layernorm = LlamaRMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.post_attention_layernorm = LlamaRMSNorm(config.hidden_size, eps=config.rms_norm_eps)

    def forward(self, x, position_embeddings, attention_mask=None, weights_too=False):
        attended, weights = self.self_attn(self.input_layernorm(x), position_embeddings, attention_mask, weights_too)
        x = x + attended
        return x + self.mlp(self.post_attention_layernorm(x)), weights


class LlamaPreTrainedModel(PreTrainedModel):
    config_class = DecoderConfig
    base_model_prefix = "model"
    # of seven billion weights, where the checkpoint's name says so
    _library_checkpoints = (("7b", dict(hidden_size=4096, num_hidden_layers=32, num_attention_heads=32, intermediate_size=11008)),
                            ("13b", dict(hidden_size=5120, num_hidden_layers=40, num_attention_heads=40, intermediate_size=13824)))

    @classmethod
    def from_pretrained(cls, name=None, *args, config=None, **kwargs):
        words = name.lower() if isinstance(name, str) else ""
        if config is None and cls.config_class is DecoderConfig:
            config = DecoderConfig(**next((s for word, s in cls._library_checkpoints if word in words), {}))
        return super().from_pretrained(name, *args, config=config, **kwargs)


class LlamaModel(LlamaPreTrainedModel):
    _layer = LlamaDecoderLayer

    def __init__(self, config):
        super().__init__(config)
        self.padding_idx, self.vocab_size = config.pad_token_id, config.vocab_size
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size, self.padding_idx)
        self.layers = nn.ModuleList([self._layer(config, i) for i in range(config.num_hidden_layers)])
        self.norm = LlamaRMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.rotary_emb = LlamaRotaryEmbedding(config)

    def get_input_embeddings(self):
        return self.embed_tokens

    def set_input_embeddings(self, value):
        self.embed_tokens = value

    def _mask(self, attention_mask, x):
        if attention_mask is None or attention_mask.dim() == 4:
            return attention_mask
        length, least = x.shape[1], torch.finfo(x.dtype).min
        later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        return _additive_mask(attention_mask, length, x.dtype).masked_fill(later, least)

    def forward(self, input_ids=None, attention_mask=None, position_ids=None, past_key_values=None, inputs_embeds=None,
                use_cache=None, output_attentions=None, output_hidden_states=None, return_dict=None, cache_position=None, **kwargs):
        x = self.embed_tokens(input_ids) if inputs_embeds is None else inputs_embeds
        if position_ids is None:
            position_ids = torch.arange(x.shape[1], device=x.device).unsqueeze(0)
        mask, positions = self._mask(attention_mask, x), self.rotary_emb(x, position_ids)
        states, weights = (x,), ()
        for layer in self.layers:
            x, w = layer(states[-1], positions, mask, bool(output_attentions))
            states, weights = states + (x,), weights + (w,)
        last = self.norm(states[-1])
        wanted = self.config.output_hidden_states if output_hidden_states is None else output_hidden_states
        return _outputs(return_dict, last_hidden_state=last, hidden_states=states[:-1] + (last,) if wanted else None,
                        attentions=weights if output_attentions else None)


class LlamaForCausalLM(LlamaPreTrainedModel):
    _base = LlamaModel

    def __init__(self, config):
        super().__init__(config)
        self.model, self.vocab_size = self._base(config), config.vocab_size
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def get_input_embeddings(self):
        return self.model.embed_tokens

    def set_input_embeddings(self, value):
        self.model.embed_tokens = value

    def get_output_embeddings(self):
        return self.lm_head

    def get_model(self):
        return self.model

    get_decoder = get_model

    def forward(self, input_ids=None, attention_mask=None, position_ids=None, past_key_values=None, inputs_embeds=None,
                labels=None, use_cache=None, output_attentions=None, output_hidden_states=None, return_dict=None, **kwargs):
        found = self.model(input_ids, attention_mask, position_ids, None, inputs_embeds, None, output_attentions,
                           output_hidden_states)
        logits = self.lm_head(found.last_hidden_state)
        loss = None if labels is None else _entropy(logits[:, :-1], labels[:, 1:])
        return _outputs(return_dict, loss=loss, logits=logits, hidden_states=found.hidden_states, attentions=found.attentions)


MistralAttention = LlamaAttention
MistralMLP = LlamaMLP
MistralDecoderLayer = LlamaDecoderLayer
MistralPreTrainedModel = LlamaPreTrainedModel
MistralModel = LlamaModel
MistralForCausalLM = LlamaForCausalLM
MistralRotaryEmbedding = LlamaRotaryEmbedding


class Qwen2Attention(LlamaAttention):
    _biased = True


class Qwen2DecoderLayer(LlamaDecoderLayer):
    _attention = Qwen2Attention


class Qwen2Model(LlamaModel):
    _layer = Qwen2DecoderLayer


class Qwen2ForCausalLM(LlamaForCausalLM):
    _base = Qwen2Model


Qwen2MLP = LlamaMLP
Qwen2PreTrainedModel = LlamaPreTrainedModel
Qwen2RotaryEmbedding = LlamaRotaryEmbedding
`;
