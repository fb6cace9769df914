// Models of transformers that stand on its encoders: heads for sequences, tokens, answers and masked words; GPT-2 (Radford et
// al. 2019); with CLIP, T5 and decoders the Auto classes, which take an architecture by its name. Weights are never loaded. Python text.
import { BERT } from "./prelude_bert";
import { CLIP } from "./prelude_clip";
import { DECODERS } from "./prelude_decoders";
import { T5 } from "./prelude_t5";

const HEADS = `
def _entropy(logits, labels):
    return None if labels is None else F.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))


def _scored(return_dict, loss, logits, found):
    return _outputs(return_dict, loss=loss, logits=logits, hidden_states=found.hidden_states, attentions=found.attentions)


class _Headed(PreTrainedModel):
    # a base model under the name that its family has, and what a subclass puts on top
    _base, _pooled = BertModel, False

    @classmethod
    def _library_sizes(cls):
        return cls._base._library_sizes()

    def __init__(self, config):
        super().__init__(config)
        self.num_labels = config.num_labels
        self.base_model_prefix = self._base.base_model_prefix
        base = self._base(config)
        if not self._pooled and hasattr(base, "pooler"):
            base.pooler = None
        setattr(self, self.base_model_prefix, base)
        self._add_head(config)

    def _run(self, input_ids, attention_mask, token_type_ids, position_ids, inputs_embeds, **kwargs):
        more = {} if self.base_model_prefix == "distilbert" else dict(
            token_type_ids=token_type_ids, position_ids=position_ids)
        return getattr(self, self.base_model_prefix)(input_ids, attention_mask=attention_mask, inputs_embeds=inputs_embeds,
                                                      **more, **kwargs)

    def get_input_embeddings(self):
        return getattr(self, self.base_model_prefix).get_input_embeddings()

    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None, position_ids=None, head_mask=None,
                inputs_embeds=None, labels=None, output_attentions=None, output_hidden_states=None, return_dict=None,
                **kwargs):
        found = self._run(input_ids, attention_mask, token_type_ids, position_ids, inputs_embeds,
                          output_attentions=output_attentions, output_hidden_states=output_hidden_states)
        logits = self._logits(found)
        return _scored(return_dict, self._loss(logits, labels), logits, found)

    def _loss(self, logits, labels):
        return _entropy(logits, labels)


class _TokenHead(_Headed):
    def _add_head(self, config):
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, config.num_labels)

    def _logits(self, found):
        return self.classifier(self.dropout(found.last_hidden_state))


class _SequenceHead(_TokenHead):
    _pooled = True

    def _logits(self, found):
        return self.classifier(self.dropout(found.pooler_output))

    def _loss(self, logits, labels):
        if labels is not None and self.num_labels == 1:
            return F.mse_loss(logits.squeeze(), labels.squeeze())
        return super()._loss(logits, labels)


class RobertaClassificationHead(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.out_proj = nn.Linear(config.hidden_size, config.num_labels)

    def forward(self, features, **kwargs):
        x = self.dropout(features[:, 0, :])
        return self.out_proj(self.dropout(torch.tanh(self.dense(x))))


class _FirstTokenHead(_SequenceHead):
    _pooled = False

    def _add_head(self, config):
        self.classifier = RobertaClassificationHead(config)

    def _logits(self, found):
        return self.classifier(found.last_hidden_state)


class _AnswerHead(_Headed):
    def _add_head(self, config):
        self.qa_outputs = nn.Linear(config.hidden_size, 2)

    def forward(self, input_ids=None, attention_mask=None, token_type_ids=None, position_ids=None, head_mask=None,
                inputs_embeds=None, start_positions=None, end_positions=None, output_attentions=None,
                output_hidden_states=None, return_dict=None, **kwargs):
        found = self._run(input_ids, attention_mask, token_type_ids, position_ids, inputs_embeds)
        start, end = (x.squeeze(-1).contiguous() for x in self.qa_outputs(found.last_hidden_state).split(1, dim=-1))
        loss = None
        if start_positions is not None and end_positions is not None:
            loss = (_entropy(start, start_positions) + _entropy(end, end_positions)) / 2
        return _outputs(return_dict, loss=loss, start_logits=start, end_logits=end)


class BertPredictionHeadTransform(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.transform_act_fn = _activation(config)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, hidden_states):
        return self.LayerNorm(self.transform_act_fn(self.dense(hidden_states)))


class BertLMPredictionHead(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.transform = BertPredictionHeadTransform(config)
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)

    def forward(self, hidden_states):
        return self.decoder(self.transform(hidden_states))


class BertOnlyMLMHead(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.predictions = BertLMPredictionHead(config)

    def forward(self, sequence_output):
        return self.predictions(sequence_output)


class _MaskedHead(_Headed):
    _tied = True

    def _add_head(self, config):
        self.cls = BertOnlyMLMHead(config)
        self.cls.predictions.decoder.weight = self.get_input_embeddings().weight

    def _logits(self, found):
        return self.cls(found.last_hidden_state)


class BertForMaskedLM(_MaskedHead):
    pass


class BertForSequenceClassification(_SequenceHead):
    pass


class BertForTokenClassification(_TokenHead):
    pass


class BertForQuestionAnswering(_AnswerHead):
    pass


class RobertaForMaskedLM(_MaskedHead):
    _base = RobertaModel


class RobertaForSequenceClassification(_FirstTokenHead):
    _base = RobertaModel


class RobertaForTokenClassification(_TokenHead):
    _base = RobertaModel


class RobertaForQuestionAnswering(_AnswerHead):
    _base = RobertaModel


class ElectraForSequenceClassification(_FirstTokenHead):
    _base = ElectraModel


class ElectraForTokenClassification(_TokenHead):
    _base = ElectraModel


class DistilBertForSequenceClassification(_SequenceHead):
    _base, _pooled = DistilBertModel, False

    def _add_head(self, config):
        super()._add_head(config)
        self.pre_classifier = nn.Linear(config.hidden_size, config.hidden_size)

    def _logits(self, found):
        return self.classifier(self.dropout(F.relu(self.pre_classifier(found.last_hidden_state[:, 0]))))


class DistilBertForTokenClassification(_TokenHead):
    _base = DistilBertModel


class DistilBertForQuestionAnswering(_AnswerHead):
    _base = DistilBertModel


XLMRobertaForMaskedLM = RobertaForMaskedLM
XLMRobertaForSequenceClassification = RobertaForSequenceClassification
XLMRobertaForTokenClassification = RobertaForTokenClassification
XLMRobertaForQuestionAnswering = RobertaForQuestionAnswering
`;

const GPT = `
from transformers import Conv1D


class GPT2Attention(nn.Module):
    def __init__(self, config, is_cross_attention=False, layer_idx=None):
        super().__init__()
        width = config.hidden_size
        self.num_heads = config.num_attention_heads
        self.c_attn, self.c_proj = Conv1D(3 * width, width), Conv1D(width, width)
        self.attn_dropout, self.resid_dropout = nn.Dropout(config.attn_pdrop), nn.Dropout(config.resid_pdrop)

    def forward(self, x, attention_mask=None, output_attentions=False):
        query, key, value = (_heads(t, self.num_heads) for t in self.c_attn(x).split(x.shape[-1], dim=2))
        attended, weights = _attend(query, key, value, attention_mask, self.attn_dropout.p, self.training,
                                    output_attentions, causal=attention_mask is None)
        return self.resid_dropout(self.c_proj(_joined(attended))), weights


class GPT2MLP(nn.Module):
    def __init__(self, intermediate_size, config):
        super().__init__()
        self.c_fc = Conv1D(intermediate_size, config.hidden_size)
        self.c_proj = Conv1D(config.hidden_size, intermediate_size)
        self.act, self.dropout = ACT2FN[config.activation_function], nn.Dropout(config.resid_pdrop)

    def forward(self, x):
        return self.dropout(self.c_proj(self.act(self.c_fc(x))))


class GPT2Block(nn.Module):
    def __init__(self, config, layer_idx=None):
        super().__init__()
        self.ln_1 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_epsilon)
        self.attn = GPT2Attention(config)
        self.ln_2 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_epsilon)
        self.mlp = GPT2MLP(4 * config.hidden_size, config)

    def forward(self, x, attention_mask=None, output_attentions=False):
        attended, weights = self.attn(self.ln_1(x), attention_mask, output_attentions)
        x = x + attended
        return x + self.mlp(self.ln_2(x)), weights


class GPT2PreTrainedModel(PreTrainedModel):
    base_model_prefix = "transformer"
    _sizes = dict(vocab_size=50257, max_position_embeddings=1024)


class GPT2Model(GPT2PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embed_dim = config.hidden_size
        self.wte = nn.Embedding(config.vocab_size, config.hidden_size)
        self.wpe = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.drop = nn.Dropout(config.embd_pdrop)
        self.h = nn.ModuleList([GPT2Block(config, i) for i in range(config.num_hidden_layers)])
        self.ln_f = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_epsilon)

    def get_input_embeddings(self):
        return self.wte

    def set_input_embeddings(self, value):
        self.wte = value

    def _mask(self, attention_mask, x):
        length = x.shape[1]
        later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
        least = torch.finfo(x.dtype).min
        return _additive_mask(attention_mask, length, x.dtype).masked_fill(later, least)

    def forward(self, input_ids=None, past_key_values=None, attention_mask=None, token_type_ids=None, position_ids=None,
                head_mask=None, inputs_embeds=None, encoder_hidden_states=None, encoder_attention_mask=None, use_cache=None,
                output_attentions=None, output_hidden_states=None, return_dict=None, **kwargs):
        x = self.wte(input_ids) if inputs_embeds is None else inputs_embeds
        if position_ids is None:
            position_ids = torch.arange(x.shape[1], device=x.device).unsqueeze(0)
        mask = None if attention_mask is None else self._mask(attention_mask, x)
        x = x + self.wpe(position_ids)
        if token_type_ids is not None:
            x = x + self.wte(token_type_ids)
        states, weights = (self.drop(x),), ()
        for block in self.h:
            x, w = block(states[-1], mask, bool(output_attentions))
            states, weights = states + (x,), weights + (w,)
        last = self.ln_f(states[-1])
        return _outputs(return_dict, last_hidden_state=last, attentions=weights if output_attentions else None,
                        hidden_states=states[:-1] + (last,) if output_hidden_states else None)


class GPT2LMHeadModel(GPT2PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.transformer = GPT2Model(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def get_input_embeddings(self):
        return self.transformer.wte

    def forward(self, input_ids=None, past_key_values=None, attention_mask=None, token_type_ids=None, position_ids=None,
                head_mask=None, inputs_embeds=None, labels=None, output_hidden_states=None, return_dict=None, **kwargs):
        found = self.transformer(input_ids, None, attention_mask, token_type_ids, position_ids, None, inputs_embeds,
                                 output_hidden_states=output_hidden_states)
        logits = self.lm_head(found.last_hidden_state)
        loss = None if labels is None else _entropy(logits[:, :-1], labels[:, 1:])
        return _outputs(return_dict, loss=loss, logits=logits, hidden_states=found.hidden_states)
`;

const AUTO = `
# words of a checkpoint's name, and the family that they stand for; other words stand for models that are not here
_FAMILIES = (("distilbert", "DistilBert"), ("distilgpt", "GPT2"), ("gpt2", "GPT2"), ("roberta", "Roberta"),
             ("camembert", "Roberta"), ("electra", "Electra"), ("bert", "Bert"), ("minilm", "Bert"), ("clip-vit", "CLIP"),
             ("t5-", "T5"), ("llama", "Llama"), ("vicuna", "Llama"), ("mistral-7b", "Mistral"), ("qwen2-", "Qwen2"), ("qwen2.5-", "Qwen2"))
_OTHERS = ("albert", "deberta", "modernbert", "mobilebert", "flaubert", "squeezebert", "convbert", "bart",
           "codet5", "longt5", "byt5", "opt-", "xlnet", "longformer", "bigbird", "dino", "videomae", "wav2vec",
           "hubert", "wavlm", "whisper", "bloom", "pegasus", "mixtral", "mistral-small", "qwen3", "qwen-", "-vl",
           "llava", "llama-4", "llama-3.2-11", "gemma", "phi-", "falcon", "gpt-neo", "gpt-j", "mpnet", "led-",
           "blip", "swin", "openai-gpt", "codegen", "mamba", "rwkv", "ernie", "nomic", "funnel", "reformer",
           "transfo-xl", "layoutlm")


def _family(name):
    name = name.lower() if isinstance(name, str) else ""
    # image encoders, but for those of CLIP under the names of its first release
    if any(w in name for w in _OTHERS) or ("vit" in name or "clip" in name) and "clip-vit" not in name:
        return None
    for word, family in _FAMILIES:
        if word in name:
            return family
    return "Bert"


class _Auto:
    _head = "Model"

    @classmethod
    def register(cls, config_class, model_class, exist_ok=False):
        pass

    @classmethod
    def _class(cls, name):
        family = _family(name)
        return None if family is None else globals().get(family + cls._head)

    @classmethod
    def from_pretrained(cls, name=None, *args, **kwargs):
        found = cls._class(name)
        if found is None:
            return _unknown("transformers." + cls.__name__ + ".from_pretrained")(name)
        return found.from_pretrained(name, *args, **kwargs)

    @classmethod
    def from_config(cls, config, **kwargs):
        found = cls._class(getattr(config, "name_or_path", None))
        return _unknown("transformers." + cls.__name__ + ".from_config")(config) if found is None else found(config)


class AutoModel(_Auto):
    pass


class AutoModelForSequenceClassification(_Auto):
    _head = "ForSequenceClassification"


class AutoModelForTokenClassification(_Auto):
    _head = "ForTokenClassification"


class AutoModelForQuestionAnswering(_Auto):
    _head = "ForQuestionAnswering"


class AutoModelForMaskedLM(_Auto):
    _head = "ForMaskedLM"


GPT2ForCausalLM = GPT2LMHeadModel


class AutoModelForCausalLM(_Auto):
    _head = "ForCausalLM"


class AutoModelForSeq2SeqLM(_Auto):
    _head = "ForConditionalGeneration"
`;

export const LANGUAGE_MODELS = `${BERT}${HEADS}${GPT}${CLIP}${T5}${DECODERS}${AUTO}`;

const NAMES = new Set(
  [...LANGUAGE_MODELS.matchAll(/^class ([A-Z]\w*)|^([A-Z]\w*)(?= = )/gm)].map(m => m[1] ?? m[2] ?? ""),
);

/** the name under which this text has what a module of transformers, or of a release before it, exports; undefined: it has not */
export function languageModel(module: string, name: string): string | undefined {
  if (!isTransformers(module)) return undefined;
  if (!NAMES.has(name)) return undefined;
  if (name !== "BertModel" || module.startsWith("transformers")) return name;
  return module.startsWith("pytorch_transformers") ? "EarlyBertModel" : "PretrainedBertModel";
}

/** whether a module is of transformers, under any of the names that it has had */
export const isTransformers = (module: string): boolean =>
  /^(transformers|pytorch_transformers|pytorch_pretrained_bert)(\.|$)/.test(module);
