// Encoders of transformers' kind: BERT (Devlin et al. 2018), RoBERTa and ELECTRA, which differ in their positions and heads,
// and DistilBERT, under the names that transformers gives to their parts. Weights are never loaded. Python text.

const ATTENTION = `
import math
from transformers import ACT2FN, DecoderConfig, LibraryConfig, LlamaRMSNorm, ModelOutput, PreTrainedModel, _LOADING


class _Output(ModelOutput):
    # code for older releases takes outputs apart like a tuple
    def __iter__(self):
        return iter(self.to_tuple())


def _outputs(return_dict, **values):
    kept = {k: v for k, v in values.items() if v is not None}
    return tuple(kept.values()) if return_dict is False else _Output(**kept)


def _additive_mask(mask, queries, dtype):
    # from 1 where a key counts, by batch and key or by batch, query and key
    if mask.dim() == 2:
        mask = mask[:, None, None, :].expand(mask.shape[0], 1, queries, mask.shape[1])
    elif mask.dim() == 3:
        mask = mask[:, None, :, :]
    dropped = 1.0 - mask.to(dtype)
    return dropped.masked_fill(dropped.to(torch.bool), torch.finfo(dtype).min)


def _attend(query, key, value, mask, dropout, training, weights_too, causal=False):
    rate = dropout if training else 0.0
    if not weights_too:
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=rate, is_causal=causal), None
    scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(query.size(-1))
    if causal:
        later = torch.ones(query.size(-2), key.size(-2), dtype=torch.bool, device=query.device).triu(1)
        scores = scores.masked_fill(later, torch.finfo(scores.dtype).min)
    if mask is not None:
        scores = scores + mask
    weights = F.dropout(F.softmax(scores, dim=-1), rate, training)
    return torch.matmul(weights, value), weights


def _heads(x, heads):
    return x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def _joined(x):
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)
`;

const LAYERS = `
class BertSelfAttention(nn.Module):
    def __init__(self, config, position_embedding_type=None, layer_idx=None):
        super().__init__()
        width = config.hidden_size
        self.num_attention_heads = config.num_attention_heads
        self.attention_head_size = width // config.num_attention_heads
        self.all_head_size = self.num_attention_heads * self.attention_head_size
        self.query = nn.Linear(width, self.all_head_size)
        self.key = nn.Linear(width, self.all_head_size)
        self.value = nn.Linear(width, self.all_head_size)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def transpose_for_scores(self, x):
        return _heads(x, self.num_attention_heads)

    def forward(self, hidden_states, attention_mask=None, head_mask=None, encoder_hidden_states=None,
                encoder_attention_mask=None, past_key_value=None, output_attentions=False):
        source = hidden_states if encoder_hidden_states is None else encoder_hidden_states
        mask = attention_mask if encoder_hidden_states is None else encoder_attention_mask
        query = self.transpose_for_scores(self.query(hidden_states))
        key, value = self.transpose_for_scores(self.key(source)), self.transpose_for_scores(self.value(source))
        attended, weights = _attend(query, key, value, mask, self.dropout.p, self.training, output_attentions)
        return (_joined(attended), weights) if output_attentions else (_joined(attended),)


class BertSelfOutput(nn.Module):
    def __init__(self, config, width=None):
        super().__init__()
        self.dense = nn.Linear(width or config.hidden_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, hidden_states, input_tensor):
        return self.LayerNorm(self.dropout(self.dense(hidden_states)) + input_tensor)


class BertAttention(nn.Module):
    def __init__(self, config, position_embedding_type=None, layer_idx=None):
        super().__init__()
        self.self = BertSelfAttention(config)
        self.output = BertSelfOutput(config)

    def forward(self, hidden_states, *args, **kwargs):
        found = self.self(hidden_states, *args, **kwargs)
        return (self.output(found[0], hidden_states),) + found[1:]


def _activation(config):
    return ACT2FN[config.hidden_act] if isinstance(config.hidden_act, str) else config.hidden_act


class BertIntermediate(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.intermediate_size)
        self.intermediate_act_fn = _activation(config)

    def forward(self, hidden_states):
        return self.intermediate_act_fn(self.dense(hidden_states))


class BertOutput(BertSelfOutput):
    def __init__(self, config):
        super().__init__(config, config.intermediate_size)


class BertLayer(nn.Module):
    def __init__(self, config, layer_idx=None):
        super().__init__()
        self.attention = BertAttention(config)
        self.is_decoder = getattr(config, "is_decoder", False)
        self.add_cross_attention = getattr(config, "add_cross_attention", False)
        if self.add_cross_attention:
            self.crossattention = BertAttention(config)
        self.intermediate = BertIntermediate(config)
        self.output = BertOutput(config)

    def feed_forward_chunk(self, attention_output):
        return self.output(self.intermediate(attention_output), attention_output)

    def forward(self, hidden_states, attention_mask=None, head_mask=None, encoder_hidden_states=None,
                encoder_attention_mask=None, past_key_value=None, output_attentions=False):
        x, *weights = self.attention(hidden_states, attention_mask, output_attentions=output_attentions)
        if self.add_cross_attention and encoder_hidden_states is not None:
            x, *more = self.crossattention(x, None, None, encoder_hidden_states, encoder_attention_mask,
                                           output_attentions=output_attentions)
            weights += more
        return (self.feed_forward_chunk(x), *weights)


class BertEncoder(nn.Module):
    def __init__(self, config, layer_idx=None):
        super().__init__()
        self.config = config
        self.layer = nn.ModuleList([BertLayer(config) for _ in range(config.num_hidden_layers)])

    def forward(self, hidden_states, attention_mask=None, head_mask=None, encoder_hidden_states=None,
                encoder_attention_mask=None, past_key_values=None, use_cache=None, output_attentions=False,
                output_hidden_states=False, return_dict=True):
        states, weights = (hidden_states,), ()
        for layer in self.layer:
            found = layer(states[-1], attention_mask, None, encoder_hidden_states, encoder_attention_mask, None,
                          output_attentions)
            states += (found[0],)
            weights += tuple(found[1:2])
        return _outputs(return_dict, last_hidden_state=states[-1], hidden_states=states if output_hidden_states else None,
                        attentions=weights if output_attentions else None)


class BertPooler(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.activation = nn.Tanh()

    def forward(self, hidden_states):
        return self.activation(self.dense(hidden_states[:, 0]))
`;

const MODELS = `
class BertEmbeddings(nn.Module):
    _padding = None

    def __init__(self, config):
        super().__init__()
        self.padding_idx = self._padding if self._padding is not None else config.pad_token_id
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=self.padding_idx)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        positions = torch.arange(config.max_position_embeddings).expand((1, -1))
        self.register_buffer("position_ids", positions, persistent=False)
        self.register_buffer("token_type_ids", torch.zeros(positions.size(), dtype=torch.long), persistent=False)

    def _positions(self, input_ids, length):
        return self.position_ids[:, :length]

    def forward(self, input_ids=None, token_type_ids=None, position_ids=None, inputs_embeds=None, past_key_values_length=0):
        if inputs_embeds is None:
            inputs_embeds = self.word_embeddings(input_ids)
        batch, length = inputs_embeds.shape[:2]
        if position_ids is None:
            position_ids = self._positions(input_ids, length)
        if token_type_ids is None:
            token_type_ids = self.token_type_ids[:, :length].expand(batch, length)
        x = inputs_embeds + self.token_type_embeddings(token_type_ids) + self.position_embeddings(position_ids)
        return self.dropout(self.LayerNorm(x))


class RobertaEmbeddings(BertEmbeddings):
    _padding = 1

    def _positions(self, input_ids, length):
        # tokens are counted from behind the padding's number, padding aside
        if input_ids is None:
            return self.position_ids[:, self.padding_idx + 1:length + self.padding_idx + 1]
        mask = input_ids.ne(self.padding_idx).int()
        return (torch.cumsum(mask, dim=1).type_as(mask) * mask).long() + self.padding_idx


class BertPreTrainedModel(PreTrainedModel):
    base_model_prefix = "bert"


class BertModel(BertPreTrainedModel):
    _embeddings = BertEmbeddings

    def __init__(self, config, add_pooling_layer=True, *args, **kwargs):
        super().__init__(config)
        self.embeddings = self._embeddings(config)
        self.encoder = BertEncoder(config)
        self.pooler = BertPooler(config) if add_pooling_layer else None

    def get_input_embeddings(self):
        return self.embeddings.word_embeddings

    def set_input_embeddings(self, value):
        self.embeddings.word_embeddings = value

    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None, position_ids=None, head_mask=None,
                inputs_embeds=None, encoder_hidden_states=None, encoder_attention_mask=None, past_key_values=None,
                use_cache=None, output_attentions=None, output_hidden_states=None, return_dict=None, **kwargs):
        x = self.embeddings(input_ids, token_type_ids, position_ids, inputs_embeds)
        if attention_mask is None:
            attention_mask = torch.ones(x.shape[:2], device=x.device)
        mask = _additive_mask(attention_mask, x.shape[1], x.dtype)
        if encoder_hidden_states is not None:
            if encoder_attention_mask is None:
                encoder_attention_mask = torch.ones(encoder_hidden_states.shape[:2], device=x.device)
            encoder_attention_mask = _additive_mask(encoder_attention_mask, x.shape[1], x.dtype)
        config = self.config
        found = self.encoder(
            x, mask, None, encoder_hidden_states, encoder_attention_mask,
            output_attentions=config.output_attentions if output_attentions is None else output_attentions,
            output_hidden_states=config.output_hidden_states if output_hidden_states is None else output_hidden_states)
        last = found.last_hidden_state
        return _outputs(return_dict, last_hidden_state=last, pooler_output=None if self.pooler is None else self.pooler(last),
                        hidden_states=found.hidden_states, attentions=found.attentions)


class PretrainedBertModel(BertModel):
    # as the first release of the library had it: the states of all layers, and arguments in another order
    def forward(self, input_ids, token_type_ids=None, attention_mask=None, output_all_encoded_layers=True):
        found = super().forward(input_ids, attention_mask, token_type_ids, output_hidden_states=True)
        states = list(found.hidden_states[1:]) if output_all_encoded_layers else found.last_hidden_state
        return states, found.pooler_output


class EarlyBertModel(BertModel):
    # as the release between that one and transformers had it
    def forward(self, input_ids, token_type_ids=None, attention_mask=None, position_ids=None, head_mask=None):
        return super().forward(input_ids, attention_mask, token_type_ids, position_ids).to_tuple()


class RobertaPreTrainedModel(BertPreTrainedModel):
    base_model_prefix = "roberta"


class RobertaModel(BertModel):
    base_model_prefix = "roberta"
    _embeddings = RobertaEmbeddings
    _sizes = dict(vocab_size=50265, max_position_embeddings=514, type_vocab_size=1, layer_norm_eps=1e-5)


class ElectraModel(BertModel):
    base_model_prefix = "electra"

    def __init__(self, config, *args, **kwargs):
        super().__init__(config, False)


XLMRobertaModel = RobertaModel
CamembertModel = RobertaModel
XLMRobertaPreTrainedModel = RobertaPreTrainedModel
ElectraPreTrainedModel = BertPreTrainedModel
`;

const DISTILLED = `
class DistilBertLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config.hidden_size
        self.attention = nn.Module()
        for name in ("q_lin", "k_lin", "v_lin", "out_lin"):
            setattr(self.attention, name, nn.Linear(width, width))
        self.heads, self.rate = config.num_attention_heads, config.attention_probs_dropout_prob
        self.sa_layer_norm = nn.LayerNorm(width, eps=1e-12)
        self.ffn = nn.Sequential(nn.Linear(width, config.intermediate_size), nn.GELU(),
                                 nn.Linear(config.intermediate_size, width), nn.Dropout(config.hidden_dropout_prob))
        self.output_layer_norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, x, mask, weights_too):
        a = self.attention
        query, key, value = (_heads(layer(x), self.heads) for layer in (a.q_lin, a.k_lin, a.v_lin))
        attended, weights = _attend(query, key, value, mask, self.rate, self.training, weights_too)
        x = self.sa_layer_norm(a.out_lin(_joined(attended)) + x)
        return self.output_layer_norm(self.ffn(x) + x), weights


class DistilBertEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=0)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=1e-12)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        positions = torch.arange(config.max_position_embeddings).expand((1, -1))
        self.register_buffer("position_ids", positions, persistent=False)

    def forward(self, input_ids=None, input_embeds=None):
        x = self.word_embeddings(input_ids) if input_embeds is None else input_embeds
        return self.dropout(self.LayerNorm(x + self.position_embeddings(self.position_ids[:, :x.shape[1]])))


class DistilBertPreTrainedModel(PreTrainedModel):
    base_model_prefix = "distilbert"
    _sizes = dict(num_hidden_layers=6)


class DistilBertModel(DistilBertPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embeddings = DistilBertEmbeddings(config)
        self.transformer = nn.Module()
        self.transformer.layer = nn.ModuleList([DistilBertLayer(config) for _ in range(config.num_hidden_layers)])

    def get_input_embeddings(self):
        return self.embeddings.word_embeddings

    def forward(self, input_ids=None, attention_mask=None, head_mask=None, inputs_embeds=None, output_attentions=None,
                output_hidden_states=None, return_dict=None, **kwargs):
        states, weights = (self.embeddings(input_ids, inputs_embeds),), ()
        mask = None if attention_mask is None else _additive_mask(attention_mask, states[0].shape[1], states[0].dtype)
        for layer in self.transformer.layer:
            x, w = layer(states[-1], mask, bool(output_attentions))
            states, weights = states + (x,), weights + (w,)
        return _outputs(return_dict, last_hidden_state=states[-1], hidden_states=states if output_hidden_states else None,
                        attentions=weights if output_attentions else None)
`;

export const BERT = `${ATTENTION}${LAYERS}${MODELS}${DISTILLED}`;
