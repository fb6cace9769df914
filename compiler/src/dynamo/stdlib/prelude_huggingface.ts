// Base classes and small helpers of transformers, diffusers and the hub, as far as a model's own code leans on them.
// In: nothing. Out: texts.
import { ATTRIBUTE_DICT, OWN_PLACE } from "./prelude_shared";
import { TOKENIZERS } from "./prelude_tokenizers";

const OUTPUTS = `
class ModelOutput(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for k, v in self.items():
            object.__setattr__(self, k, v)

    def __post_init__(self):
        # of a dataclass, whose __init__ takes the place of the one above: the fields that are not None are the items
        for k in self.__dataclass_fields__:
            v = getattr(self, k)
            if v is not None:
                super().__setitem__(k, v)

    def __getattr__(self, name):
        if name.startswith("__") or "__dataclass_fields__" in type(self).__dict__:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return self.get(name)

    def __setattr__(self, name, value):
        if name in self.keys() and value is not None:
            super().__setitem__(name, value)
        super().__setattr__(name, value)

    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        super().__setattr__(key, value)

    def __getitem__(self, k):
        if isinstance(k, str):
            return dict(self.items())[k]
        return self.to_tuple()[k]

    def to_tuple(self):
        return tuple(v for v in self.values() if v is not None)


BaseOutput = ModelOutput
`;

export const TRANSFORMERS = `${OUTPUTS}${TOKENIZERS}
class PretrainedConfig:
    model_type = ""
    attribute_map = {}

    def __init__(self, **kwargs):
        defaults = dict(
            return_dict=True, output_hidden_states=False, output_attentions=False, use_cache=True, torch_dtype=None,
            tie_word_embeddings=True, is_encoder_decoder=False, is_decoder=False, add_cross_attention=False,
            cross_attention_hidden_size=None, chunk_size_feed_forward=0, pruned_heads={}, num_labels=2,
            problem_type=None, pad_token_id=None, bos_token_id=None, eos_token_id=None, sep_token_id=None,
            decoder_start_token_id=None, torchscript=False, _attn_implementation="sdpa", id2label=None, label2id=None)
        for k, v in {**defaults, **kwargs}.items():
            setattr(self, k, v)

    @property
    def use_return_dict(self):
        return self.return_dict

    def to_dict(self):
        return dict(self.__dict__)

    def get(self, name, default=None):
        return getattr(self, name, default)

    @classmethod
    def from_dict(cls, config_dict, **kwargs):
        return cls(**{**config_dict, **kwargs})

    @classmethod
    def from_json_file(cls, json_file):
        import json
        with open(json_file) as f:
            return cls(**json.load(f))

    @classmethod
    def from_pretrained(cls, *args, **kwargs):
        return cls(**{k: v for k, v in kwargs.items() if k not in ("cache_dir", "revision", "trust_remote_code")})


PreTrainedConfig = PretrainedConfig


# names of one size: a configuration that is given one of them answers the others with it
_SAME_SIZE = (
    ("hidden_size", "n_embd", "d_model"), ("num_hidden_layers", "n_layer", "num_layers"),
    ("num_attention_heads", "n_head", "num_heads", "num_key_value_heads"),
    ("max_position_embeddings", "n_positions", "n_ctx"), ("intermediate_size", "d_ff"))


class LibraryConfig(PretrainedConfig):
    # stands for a model's configuration; the sizes are those of the base models, under the names that BERT, GPT-2, T5 and
    # ViT give them
    def __init__(self, *args, **kwargs):
        if args and isinstance(args[0], int):
            kwargs = dict(vocab_size=args[0], **kwargs)
        sizes = dict(
            vocab_size=30522, hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072,
            hidden_act="gelu", hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1, max_position_embeddings=512,
            type_vocab_size=2, initializer_range=0.02, layer_norm_eps=1e-12, position_embedding_type="absolute",
            classifier_dropout=None, image_size=224, patch_size=16, num_channels=3, qkv_bias=True, n_embd=768,
            n_layer=12, n_head=12, n_positions=1024, n_ctx=1024, n_inner=None, scale_attn_weights=True,
            scale_attn_by_inverse_layer_idx=False, reorder_and_upcast_attn=False, activation_function="gelu_new", resid_pdrop=0.1,
            embd_pdrop=0.1, attn_pdrop=0.1, layer_norm_epsilon=1e-5, d_model=512, d_kv=64, d_ff=2048, num_layers=6,
            num_heads=8, dropout_rate=0.1, num_key_value_heads=12, rms_norm_eps=1e-6, rope_theta=10000.0, rope_scaling=None,
            attention_bias=False, mlp_bias=False, attention_dropout=0.0, sliding_window=None, pretraining_tp=1,
            embedding_size=128, hidden_dim=3072, dim=768)
        for names in _SAME_SIZE:
            given = [kwargs[n] for n in names if n in kwargs]
            if given:
                sizes.update((n, given[0]) for n in names)
        super().__init__(**{**sizes, **kwargs})

    @classmethod
    def from_pretrained(cls, name=None, *args, **kwargs):
        large = isinstance(name, str) and "large" in name and "albert" not in name
        sizes = dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)
        return super().from_pretrained(name, *args, **{**(sizes if large else {}), **kwargs})

    @staticmethod
    def register(model_type, config, exist_ok=False):
        pass


class DecoderConfig(LibraryConfig):
    # of Llama and what is built like it
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **{**dict(hidden_act="silu", vocab_size=32000, layer_norm_eps=1e-5), **kwargs})


class ModuleUtilsMixin:
    pass


def apply_chunking_to_forward(forward_fn, chunk_size, chunk_dim, *tensors):
    if chunk_size == 0:
        return forward_fn(*tensors)
    parts = zip(*(t.chunk(t.shape[chunk_dim] // chunk_size, dim=chunk_dim) for t in tensors))
    return torch.cat([forward_fn(*p) for p in parts], dim=chunk_dim)


# what from_pretrained takes for itself: it never reaches the model
_LOADING = ("cache_dir", "revision", "trust_remote_code", "torch_dtype", "dtype", "device_map", "low_cpu_mem_usage",
            "state_dict", "local_files_only", "force_download", "ignore_mismatched_sizes", "output_loading_info",
            "use_safetensors", "attn_implementation", "subfolder", "token", "use_auth_token")


class PreTrainedModel(nn.Module):
    config_class = None
    base_model_prefix = ""
    main_input_name = "input_ids"
    # of the base model, where they differ from LibraryConfig's
    _sizes = {}

    @classmethod
    def _library_sizes(cls):
        return {} if cls.config_class else cls._sizes

    @classmethod
    def from_pretrained(cls, name=None, *args, config=None, **kwargs):
        if not isinstance(config, PretrainedConfig):
            config = (cls.config_class or LibraryConfig).from_pretrained(name, **cls._library_sizes())
        kept = {k: v for k, v in kwargs.items() if k not in _LOADING}
        for k in [k for k in kept if hasattr(config, k)]:
            setattr(config, k, kept.pop(k))
        return cls(config, *args, **kept)

    @classmethod
    def _from_config(cls, config, **kwargs):
        return cls(config)

    def __init__(self, config=None, *inputs, **kwargs):
        super().__init__()
        self.config = config
        self.generation_config = None
        self.gradient_checkpointing = False

    def _init_weights(self, module):
        pass

    def post_init(self):
        self.init_weights()

    def init_weights(self):
        if hasattr(self, "_init_weights"):
            self.apply(self._init_weights)

    def gradient_checkpointing_enable(self, *args, **kwargs):
        pass

    gradient_checkpointing_disable = gradient_checkpointing_enable

    def tie_weights(self, *args, **kwargs):
        pass

    def resize_token_embeddings(self, new_num_tokens=None, *args, **kwargs):
        found = self.get_input_embeddings() if hasattr(self, "get_input_embeddings") else None
        if isinstance(found, nn.Embedding) and type(new_num_tokens) is int:
            found = nn.Embedding(new_num_tokens, found.embedding_dim)
            self.set_input_embeddings(found)
        return found

    def get_head_mask(self, head_mask, num_hidden_layers, is_attention_chunked=False):
        return [None] * num_hidden_layers

    def get_extended_attention_mask(self, attention_mask, input_shape=None, device=None, dtype=None):
        if attention_mask.dim() == 3:
            mask = attention_mask[:, None, :, :]
        else:
            mask = attention_mask[:, None, None, :]
        mask = mask.to(self.dtype)
        return (1.0 - mask) * torch.finfo(self.dtype).min

    invert_attention_mask = get_extended_attention_mask

    # a loop that data end
    def generate(self, *args, **kwargs):
        return _unknown("transformers.generate")(*args, *kwargs.values())

    def num_parameters(self, only_trainable=False):
        return sum(p.numel() for p in self.parameters())

${OWN_PLACE}

class GenerationMixin:
    pass


class QuickGELUActivation(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


class _Activations(dict):
    def __missing__(self, name):
        return nn.GELU()


ACT2FN = _Activations(
    gelu=nn.GELU(), gelu_new=nn.GELU(approximate="tanh"), gelu_fast=nn.GELU(approximate="tanh"),
    gelu_pytorch_tanh=nn.GELU(approximate="tanh"), quick_gelu=QuickGELUActivation(), relu=nn.ReLU(), silu=nn.SiLU(), swish=nn.SiLU(), tanh=nn.Tanh(),
    sigmoid=nn.Sigmoid(), mish=nn.Mish(), relu6=nn.ReLU6(), linear=nn.Identity(), leaky_relu=nn.LeakyReLU())


class GradientCheckpointingLayer(nn.Module):
    gradient_checkpointing = False


class LlamaRMSNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        kept = hidden_states.dtype
        hidden_states = hidden_states.to(torch.float32)
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        return self.weight * (hidden_states * torch.rsqrt(variance + self.variance_epsilon)).to(kept)


class Conv1D(nn.Module):
    def __init__(self, nf, nx):
        super().__init__()
        self.nf, self.nx = nf, nx
        self.weight = nn.Parameter(torch.empty(nx, nf))
        self.bias = nn.Parameter(torch.zeros(nf))

    def forward(self, x):
        size_out = x.size()[:-1] + (self.nf,)
        x = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
        return x.view(size_out)
`;

export const DIFFUSERS = `${OUTPUTS}${ATTRIBUTE_DICT}
import functools
import inspect


class ConfigMixin:
    config_name = "config.json"

    def register_to_config(self, **kwargs):
        config = AttributeDict(self.__dict__.get("_internal_dict") or {})
        config.update(kwargs)
        self.__dict__["_internal_dict"] = config

    @property
    def config(self):
        return self.__dict__["_internal_dict"]


def register_to_config(init):
    @functools.wraps(init)
    def inner(self, *args, **kwargs):
        given = {}
        names = [n for n in inspect.signature(init).parameters if n != "self"]
        for n in names:
            default = inspect.signature(init).parameters[n].default
            if default is not inspect.Parameter.empty:
                given[n] = default
        given.update(dict(zip(names, args)))
        given.update(kwargs)
        self.register_to_config(**given)
        init(self, *args, **kwargs)
    return inner


class ModelMixin(nn.Module):
    _supports_gradient_checkpointing = False

    def __init__(self, *args, **kwargs):
        super().__init__()

${OWN_PLACE}

class FromOriginalModelMixin:
    pass


PeftAdapterMixin = UNet2DConditionLoadersMixin = FromSingleFileMixin = FromOriginalModelMixin
`;

export const HUB = `
class PyTorchModelHubMixin:
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__()


ModelHubMixin = PyTorchModelHubMixin
`;
