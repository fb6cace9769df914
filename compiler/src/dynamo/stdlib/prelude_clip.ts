// CLIP's text and image encoders (Radford et al. 2021), under the names that transformers gives to their parts. Weights are
// never loaded. Python text, behind that of the other encoders.

export const CLIP = `
class _CLIPPartConfig(LibraryConfig):
    # sizes of the base model, and of others by words of the checkpoint's name
    _base, _named = {}, ()

    def __init__(self, **kwargs):
        common = dict(hidden_act="quick_gelu", layer_norm_eps=1e-5, attention_dropout=0.0, projection_dim=512)
        super().__init__(**{**common, **self._base, **kwargs})

    @classmethod
    def from_pretrained(cls, name=None, *args, **kwargs):
        words = name.lower() if isinstance(name, str) else ""
        sizes = next((sizes for word, sizes in cls._named if word in words), {})
        return cls(**{**sizes, **{k: v for k, v in kwargs.items() if k not in _LOADING}})


def _sized(width, layers, heads, projection, **more):
    return dict(hidden_size=width, intermediate_size=4 * width, num_hidden_layers=layers, num_attention_heads=heads,
                projection_dim=projection, **more)


class CLIPTextConfig(_CLIPPartConfig):
    _base = dict(vocab_size=49408, max_position_embeddings=77, bos_token_id=49406, eos_token_id=49407, **_sized(512, 12, 8, 512))
    # text encoders of image generators are the large model's
    _named = (("base-patch", {}), ("vit-b", {}), ("vit-h", _sized(1024, 24, 16, 1024, hidden_act="gelu")),
              ("bigg", _sized(1280, 32, 20, 1280, hidden_act="gelu")), ("large", _sized(768, 12, 12, 768)),
              ("vit-l", _sized(768, 12, 12, 768)), ("diffusion", _sized(768, 12, 12, 768)))


class CLIPVisionConfig(_CLIPPartConfig):
    _base = dict(image_size=224, patch_size=32, num_channels=3, **_sized(768, 12, 12, 512))
    _named = (("patch14-336", _sized(1024, 24, 16, 768, patch_size=14, image_size=336)),
              ("vit-h", _sized(1280, 32, 16, 1024, patch_size=14, hidden_act="gelu")),
              ("bigg", _sized(1664, 48, 16, 1280, patch_size=14, hidden_act="gelu")),
              ("large", _sized(1024, 24, 16, 768, patch_size=14)), ("vit-l", _sized(1024, 24, 16, 768, patch_size=14)),
              ("patch16", dict(patch_size=16)))


class CLIPConfig(LibraryConfig):
    def __init__(self, text_config=None, vision_config=None, projection_dim=512, **kwargs):
        super().__init__(**kwargs)
        part = lambda cls, given: given if isinstance(given, LibraryConfig) else cls(**(given or {}))
        self.text_config, self.vision_config = part(CLIPTextConfig, text_config), part(CLIPVisionConfig, vision_config)
        self.projection_dim, self.logit_scale_init_value = projection_dim, 2.6592

    @classmethod
    def from_pretrained(cls, name=None, *args, **kwargs):
        text, vision = CLIPTextConfig.from_pretrained(name), CLIPVisionConfig.from_pretrained(name)
        return cls(text, vision, projection_dim=text.projection_dim)


class CLIPAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_dim, self.num_heads = config.hidden_size, config.num_attention_heads
        self.head_dim, self.dropout = self.embed_dim // self.num_heads, config.attention_dropout
        self.k_proj, self.v_proj, self.q_proj, self.out_proj = (nn.Linear(self.embed_dim, self.embed_dim) for _ in range(4))

    def forward(self, x, mask, causal, weights_too):
        query, key, value = (_heads(p(x), self.num_heads) for p in (self.q_proj, self.k_proj, self.v_proj))
        attended, weights = _attend(query, key, value, mask, self.dropout, self.training, weights_too, causal)
        return self.out_proj(_joined(attended)), weights


class CLIPMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.activation_fn = ACT2FN[config.hidden_act]
        self.fc1 = nn.Linear(config.hidden_size, config.intermediate_size)
        self.fc2 = nn.Linear(config.intermediate_size, config.hidden_size)

    def forward(self, x):
        return self.fc2(self.activation_fn(self.fc1(x)))


class CLIPEncoderLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self_attn = CLIPAttention(config)
        self.layer_norm1 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.mlp = CLIPMLP(config)
        self.layer_norm2 = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, x, mask=None, causal=False, weights_too=False):
        attended, weights = self.self_attn(self.layer_norm1(x), mask, causal, weights_too)
        x = x + attended
        return x + self.mlp(self.layer_norm2(x)), weights


class CLIPEncoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layers = nn.ModuleList([CLIPEncoderLayer(config) for _ in range(config.num_hidden_layers)])

    def forward(self, inputs_embeds, mask=None, causal=False, output_attentions=None, output_hidden_states=None):
        states, weights = (inputs_embeds,), ()
        for layer in self.layers:
            x, w = layer(states[-1], mask, causal, bool(output_attentions))
            states, weights = states + (x,), weights + (w,)
        return _Output(last_hidden_state=states[-1], hidden_states=states if output_hidden_states else None,
                       attentions=weights if output_attentions else None)


class CLIPTextEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.token_embedding = nn.Embedding(config.vocab_size, config.hidden_size)
        self.position_embedding = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        positions = torch.arange(config.max_position_embeddings).expand((1, -1))
        self.register_buffer("position_ids", positions, persistent=False)

    def forward(self, input_ids=None, position_ids=None, inputs_embeds=None):
        x = self.token_embedding(input_ids) if inputs_embeds is None else inputs_embeds
        return x + self.position_embedding(self.position_ids[:, :x.shape[1]] if position_ids is None else position_ids)


class CLIPTextTransformer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config, self.eos_token_id = config, config.eos_token_id
        self.embeddings, self.encoder = CLIPTextEmbeddings(config), CLIPEncoder(config)
        self.final_layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, input_ids=None, attention_mask=None, position_ids=None, output_attentions=None,
                output_hidden_states=None, return_dict=None, **kwargs):
        x = self.embeddings(input_ids.view(-1, input_ids.shape[-1]), position_ids)
        mask = None
        if attention_mask is not None:
            length = x.shape[1]
            later = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
            mask = _additive_mask(attention_mask, length, x.dtype).masked_fill(later, torch.finfo(x.dtype).min)
        config = self.config
        found = self.encoder(
            x, mask, mask is None, output_attentions,
            config.output_hidden_states if output_hidden_states is None else output_hidden_states)
        last = self.final_layer_norm(found.last_hidden_state)
        ends = input_ids.to(dtype=torch.int, device=last.device).argmax(dim=-1)
        pooled = last[torch.arange(last.shape[0], device=last.device), ends]
        return _outputs(return_dict, last_hidden_state=last, pooler_output=pooled, hidden_states=found.hidden_states,
                        attentions=found.attentions)


class CLIPVisionEmbeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        size = config.patch_size
        self.class_embedding = nn.Parameter(torch.randn(config.hidden_size))
        self.patch_embedding = nn.Conv2d(config.num_channels, config.hidden_size, size, stride=size, bias=False)
        self.num_patches = (config.image_size // size) ** 2
        self.num_positions = self.num_patches + 1
        self.position_embedding = nn.Embedding(self.num_positions, config.hidden_size)
        self.register_buffer("position_ids", torch.arange(self.num_positions).expand((1, -1)), persistent=False)

    def forward(self, pixel_values):
        patches = self.patch_embedding(pixel_values.to(self.patch_embedding.weight.dtype)).flatten(2).transpose(1, 2)
        first = self.class_embedding.expand(patches.shape[0], 1, -1)
        return torch.cat([first, patches], dim=1) + self.position_embedding(self.position_ids)


class CLIPVisionTransformer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embeddings, self.encoder = CLIPVisionEmbeddings(config), CLIPEncoder(config)
        self.pre_layrnorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.post_layernorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, pixel_values=None, output_attentions=None, output_hidden_states=None, return_dict=None, **kwargs):
        config = self.config
        found = self.encoder(
            self.pre_layrnorm(self.embeddings(pixel_values)), None, False, output_attentions,
            config.output_hidden_states if output_hidden_states is None else output_hidden_states)
        last = found.last_hidden_state
        return _outputs(return_dict, last_hidden_state=last, pooler_output=self.post_layernorm(last[:, 0, :]),
                        hidden_states=found.hidden_states, attentions=found.attentions)


class CLIPPreTrainedModel(PreTrainedModel):
    config_class = CLIPConfig
    base_model_prefix = "clip"


class CLIPTextModel(CLIPPreTrainedModel):
    config_class = CLIPTextConfig

    def __init__(self, config):
        super().__init__(config)
        self.text_model = CLIPTextTransformer(config)

    def get_input_embeddings(self):
        return self.text_model.embeddings.token_embedding

    def set_input_embeddings(self, value):
        self.text_model.embeddings.token_embedding = value

    def forward(self, input_ids=None, attention_mask=None, position_ids=None, **kwargs):
        return self.text_model(input_ids, attention_mask, position_ids, **kwargs)


class CLIPVisionModel(CLIPPreTrainedModel):
    config_class = CLIPVisionConfig
    main_input_name = "pixel_values"

    def __init__(self, config):
        super().__init__(config)
        self.vision_model = CLIPVisionTransformer(config)

    def get_input_embeddings(self):
        return self.vision_model.embeddings.patch_embedding

    def forward(self, pixel_values=None, **kwargs):
        return self.vision_model(pixel_values, **kwargs)


class CLIPTextModelWithProjection(CLIPTextModel):
    def __init__(self, config):
        super().__init__(config)
        self.text_projection = nn.Linear(config.hidden_size, config.projection_dim, bias=False)

    def forward(self, input_ids=None, attention_mask=None, position_ids=None, return_dict=None, **kwargs):
        found = self.text_model(input_ids, attention_mask, position_ids, **kwargs)
        return _outputs(return_dict, text_embeds=self.text_projection(found.pooler_output),
                        last_hidden_state=found.last_hidden_state, hidden_states=found.hidden_states)


class CLIPVisionModelWithProjection(CLIPVisionModel):
    def __init__(self, config):
        super().__init__(config)
        self.visual_projection = nn.Linear(config.hidden_size, config.projection_dim, bias=False)

    def forward(self, pixel_values=None, return_dict=None, **kwargs):
        found = self.vision_model(pixel_values, **kwargs)
        return _outputs(return_dict, image_embeds=self.visual_projection(found.pooler_output),
                        last_hidden_state=found.last_hidden_state, hidden_states=found.hidden_states)


class CLIPModel(CLIPPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.text_model, self.vision_model = CLIPTextTransformer(config.text_config), CLIPVisionTransformer(config.vision_config)
        self.visual_projection = nn.Linear(config.vision_config.hidden_size, config.projection_dim, bias=False)
        self.text_projection = nn.Linear(config.text_config.hidden_size, config.projection_dim, bias=False)
        self.logit_scale = nn.Parameter(torch.tensor(config.logit_scale_init_value))

    def get_text_features(self, input_ids=None, attention_mask=None, position_ids=None, **kwargs):
        return self.text_projection(self.text_model(input_ids, attention_mask, position_ids).pooler_output)

    def get_image_features(self, pixel_values=None, **kwargs):
        return self.visual_projection(self.vision_model(pixel_values).pooler_output)

    def forward(self, input_ids=None, pixel_values=None, attention_mask=None, position_ids=None, return_loss=None,
                return_dict=None, **kwargs):
        image = F.normalize(self.get_image_features(pixel_values), dim=-1)
        text = F.normalize(self.get_text_features(input_ids, attention_mask, position_ids), dim=-1)
        scores = text @ image.t() * self.logit_scale.exp()
        loss = None
        if return_loss:
            own = torch.arange(scores.shape[0], device=scores.device)
            loss = (F.cross_entropy(scores, own) + F.cross_entropy(scores.t(), own)) / 2
        return _outputs(return_dict, loss=loss, logits_per_image=scores.t(), logits_per_text=scores, text_embeds=text,
                        image_embeds=image)
`;
