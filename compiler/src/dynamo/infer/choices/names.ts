// What the names of parameters usually mean in models. In: a name. Out: a plausible value, or nothing. These are guesses
// and are said to be; the sizes fit each other (heads divide widths, patches divide images) so that models can be built.

/** sizes of inputs: those that constructors get by default fit them */
export const SIZES = {
  batch: 8,
  length: 128,
  width: 512,
  image: 224,
  map: 32,
  frames: 16,
  samples: 16_384,
  bands: 80,
  columns: 4,
} as const;

const NUMBERS: readonly (readonly [RegExp, number])[] = [
  [/kv_heads|key_value_heads|n_kv|num_kv|kv_groups|n_local_heads/, 4],
  [
    /^(n_?|num_?|nb_?)?(attn_?|attention_?|self_attn_?|cross_?)?heads?(_num|_count|_nums)?$|^n_?head$|^nheads?$|num_heads|n_heads|attention_heads|heads$|^head_num$/,
    8,
  ],
  [
    /head_dim|dim_head|head_size|d_head|^d_k$|^d_v$|^d_kv$|qk_dim|head_channels|dim_per_head|attention_dim_head|attention_head_dim/,
    64,
  ],
  [
    /vocab|num_tokens|n_tokens?$|num_embeddings|num_words|dict_size|ntoken|n_symbols|num_symbols|n_src|n_trg|n_tgt|n_speakers|num_speakers|^tgt_size$|num_phones/,
    32_000,
  ],
  [/num_experts_per|experts_per_tok|experts_top|n_activated_experts|top_?k|num_selected/, 2],
  [/experts?$|num_experts|n_routed|n_shared/, 4],
  [
    /^(n_?|num_?|nb_?)?(\w+_)?(layers?|blocks?|depths?|stages|repeats?|flows?|resnets?|res_blocks?|resblocks?|iters?|iterations?|cycles)$|^depth$|^n_layer$|_layers$|num_layers|n_layers|^layer_num$/,
    2,
  ],
  [
    /num_classes|n_classes|nclass(es)?|^classes$|num_labels|n_labels|num_class|class_num|^nc$|output_classes|label_size|num_outputs|^n_out$|n_cls/,
    10,
  ],
  [
    /image_size|img_size|input_resolution|image_res|^resolution$|^img_dim$|^image_(height|width)$|^input_size$|^size_img$|^img_(h|w)$/,
    224,
  ],
  [/spa[ct]ial_(dim|size|res(olution)?)s?$/, 8],
  [/patch_size|patch_dim|patch_(height|width)|^patch$/, 16],
  [/frame_patch/, 2],
  [/num_frames|^frames$|n_frames|tubelet|temporal|clip_len|^t_size$/, 8],
  [/window/, 7],
  [/num_groups|norm_groups|^groups_norm$|n_groups/, 8],
  [/kernel|^k$|ksize|^ks$|filter_size|conv_size/, 3],
  // a bank of filters of all sizes up to it; bits of a code
  [/_k$|(^|_)n?_?bits$/, 8],
  [
    /stride|dilation|^groups?$|expan(sion|d)$|expand_ratio|scale_factor|^factor$|reduction_ratio|^cardinality$|upscale|^level$|^s$|^d$|^p$|interval|downsample_rate/,
    1,
  ],
  [/mlp_ratio|ffn_ratio|hidden_ratio|^mult$|ff_mult|multiple|multiplier|expansion_factor|mlp_expansion|^r$|squeeze/, 4],
  [
    /padding|^pad$|pad_idx|pad_id|pad_token|drop|dropout|^p_|offset|_idx$|_index$|start_pos|^layer_?id(x)?$|^layer_idx$|^block_id$|^rank$|^cls_token_id$|^chunk_size_feed_forward$/,
    0,
  ],
  [/batch_size|^bsz?$/, SIZES.batch],
  [/world_size|mp_size|tp_size|num_gpus|^n_?gpu$|parallel/, 1],
  [/rank$|^r$|lora_r|d_state|state_size|state_dim|n_state_dim|ssm_state|^dt_rank$|codebook_dim/, 16],
  [/codebook_size|codebooks?_size|num_codes|n_e$|n_embed$|num_codebook_vectors|bins$/, 256],
  [/n_q$|num_quantizers|num_codebooks|n_codebooks/, 4],
  [/num_quer|num_latents|num_memory|num_mem|mem_len|num_landmarks|num_slots|num_registers|num_register_tokens/, 16],
  [
    /block_size|max_len|max_seq|seq_len|seqlen|context|n_ctx|^ctx|max_position|sequence|length|max_pos|n_position|max_time|_len$|num_patches|num_tokens|n_tokens|max_t$|^t_max$|timesteps/,
    512,
  ],
  [/n_mels?|num_mels?|mel_(channels|bins|dim)|n_mel_channels|num_bands|freq(uency)?_bins/, 80],
  [/n_fft|filter_length|fft_size|win_length|win_size/, 1024],
  [/hop/, 256],
  [/samp(le|ling)?_?rate|^sr$|^fs$/, 16000],
  [
    /^(in_?|input_?|img_?|image_?|rgb_?|n_)(chans?|channels?|channel_?num|planes|ch|c|nc|dim_in)$|in_chans|n_colors|^c_in$|img_channels|image_channels|^num_channels$|input_nc|output_nc|^channels$|^n_channels$|^chans$|^in_nc$|^out_nc$|^in_dim$|^num_in_ch$|^num_out_ch$/,
    3,
  ],
  [
    /^(out_?|output_?)?(chans?|channels?|planes|ch|width|filters?|features?|nf|ngf|ndf|c1|c2|cin|cout|inp|oup|nin|nout|inplanes|in_planes|inplace_channels|num_features|num_filters|n_filters|base_channels|model_channels|mid_channels|hid(den)?_channels|growth_rate|num_feat|nf|in_features|out_features)$|channels|planes|filters|_ch$/,
    64,
  ],
  [
    /intermediate|ffn|d_ff|dim_feedforward|mlp_dim|inner|ff_dim|d_inner|pf_dim|mlp_hidden|hidden_features|ffn_dim|expand_dim|d_hid/,
    2048,
  ],
  [
    /hidden|(^|_|n)hid$|dim|embd|embed|emb|d_model|n_state|width|units|features|nf$|^d$|^n$|d_word_vec|input_size|output_size|size$|latent|z_size|^c$|^in_c$|^out_c$|channels?$|^e$|proj|feat|base|nz|^h$|^w$|code(?!r)|^d_(in|out)(put)?$/,
    SIZES.width,
  ],
  [/batch/, SIZES.batch],
  [/^(n|num|count|k|m)$|^n_|^num_|^nb_|count$|^max_/, 4],
];

const FLOATS: readonly (readonly [RegExp, number])[] = [
  [/mask(ing)?_(ratio|prob)|keep|^ratio$|_ratio$|fraction|threshold|quantile/, 0.5],
  [/(^|_)eps(ilon)?$/, 1e-5],
  [/drop|dropout|^p$|prob$|_p$/, 0],
  [/theta|rope_base|^base$/, 10000],
  [/momentum/, 0.1],
  [/temperature|^temp$|scale|gain|alpha|gamma|^std$|sigma|weight|lambda|coef|multiplier|ratio|mult/, 1],
  [/^lr$|learning_rate/, 1e-3],
];

const STRINGS: readonly (readonly [RegExp, string])[] = [
  [/act(ivation)?(_fn|_fun|_func|_type|_layer|_name)?$|nonlinearity|hidden_act/, "gelu"],
  [/padding_mode/, "zeros"],
  [/pad(_type|ding_type)?$/, "zero"],
  [/norm(_type|_layer|_name)?$/, "batch"],
  [/pool(ing)?(_type|_method)?$/, "mean"],
  [/init(_type|ialization|_scheme)?$|w_init_gain/, "linear"],
  [/^(backbone|arch|architecture|model_type|model_name|encoder_name|model|variant)$/, "resnet50"],
  [/^(phase|split|stage)$/, "train"],
  [/device/, "cuda"],
  [/dtype/, "float32"],
  [/reduction/, "mean"],
  [/^(mode|interpolation)$/, "nearest"],
  [/data_format/, "channels_last"],
  [/order/, "crn"],
  [/lang|language/, "en"],
  [/path|file|dir$|root|url|repo/, "model"],
  [/name|prefix|key|tag|type|version/, "default"],
];

const OBJECTS =
  /^(config|cfg|args|arg|params|conf|opt|opts|options|hparams?|hps|h|hp|model_args|model_config|configs?|settings|model_params|global_params|block_args|hyperparams?|c)$|_(config|cfg|args|params|hparams)$/;
const BOOLS =
  /^(is|has|use|do|with|should|apply|enable|disable|return|output|no|add|learn|train|freeze|share|tie|need|allow|force|want|only|keep|low|fused|flash|double|separate)_|^(bias|causal|training|train|inplace|affine|bilinear|batch_norm|pretrained|residual|shortcut|downsample|upsample|bidirectional|norm|normalize|last|first|final|verbose|debug|causality|qkv_bias|batch_first|gated|small|relu|masked|use(?!rs?(_|$))\w+|is\w+|dense|pre_norm|attention|attn|lora|flash|mask_future|skip|downsampling|se|deconv)$|_(only|enabled|flag|first|bias|checkpointing|attn|norm|residual|on|off)$/;
/** what a network gives or keeps has a size: output_size, train_steps */
const COUNTED =
  /^(output|low|need|keep|train|learn|double|only|share|separate)_(\w+_)?(sizes?|dims?|channels?|features?|len|length|width|height|units|ch|nc|classes|layers?|heads?|nodes|steps?|rate|prob|ratio|freq|rank|resolution)$/;
const MODULES =
  /^(net|model|unet|encoder|decoder|backbone|module|denoiser|transformer|vit|image_encoder|text_encoder|prompt_encoder|mask_decoder|generator|discriminator|vae|autoencoder|fn|function|student|teacher|layer|block|attn_layers|embedding|embed|embedder|tokenizer|quantizer|conditioner|diffusion_model|base_model|language_model|core|trunk|head|sublayer|submodule|cell|attention|feed_forward|self_attn|cross_attn|ff|position_embedding|\w+_(net|model|encoder|decoder|module|backbone|layer|block|head|embed|embedding|attn))$/;
const CLASSES =
  /(_layer|_block|_cls|_class|_func|_fn|_op|_module|_type)$|^(block|norm|act|activation|layer|norm_layer|act_layer|conv|cls|nonlinearity|pool|downsample_layer|attn_layer)$/;

/** a number for a parameter that takes one */
export function numberFor(name: string): number | undefined {
  const n = name.toLowerCase();
  return NUMBERS.find(([re]) => re.test(n))?.[1];
}

/** a float for a parameter whose name or annotation says that it is one */
export function floatFor(name: string): number | undefined {
  const n = name.toLowerCase();
  return FLOATS.find(([re]) => re.test(n))?.[1];
}

export const isFloatName = (name: string): boolean =>
  /(^|_)(eps|epsilon|dropout|drop|prob|masking_ratio|mask_ratio|keep_ratio|threshold|theta|temperature|momentum|lr|alpha|gamma|beta|sigma|std|lambda|rate|droppath|drop_path|weight_decay|init_values?|scale)$|dropout|_rate$|_prob$|^drop|_eps$|_p$/i.test(
    name,
  ) && !/growth_rate|samp(le|ling)?_?rate|frame_rate|bit_?rate/.test(name);

export function stringFor(name: string): string {
  const n = name.toLowerCase();
  return STRINGS.find(([re]) => re.test(n))?.[1] ?? "default";
}

export const isStringName = (name: string): boolean => STRINGS.some(([re]) => re.test(name.toLowerCase()));
export const isConfigName = (name: string): boolean => OBJECTS.test(name);
export const isBoolName = (name: string): boolean => BOOLS.test(name) && !COUNTED.test(name);
export const isModuleName = (name: string): boolean => MODULES.test(name) && !/^(d|dim|n|num)_/.test(name);
export const isClassName = (name: string): boolean => CLASSES.test(name) && !/^(n|nb|num|number)_/.test(name);
/** parameters that torch's own functions take as text */
export const isModeName = (name: string): boolean =>
  /^(\w+_)?(mode|interpolation|nonlinearity|reduction_type|padding_mode|pad_mode)$/.test(name);

// ---- inputs of forward

const TOKENS =
  /^(idx|ids|input_ids|tokens?|token_ids|src_tokens|tgt_tokens|prev_output_tokens|input_tokens|positions?|position_ids|indices|index|word_ids|src_seq|trg_seq|src|tgt|trg|captions?|text|texts|phonemes?|prompt_ids|labels?|targets?|y|class_labels|classes|cls|class_ids|input_pos|segment_(ids|info|label)|token_type_ids|t|ts|time|timesteps?|times|steps?)$|_(ids|tokens|idx|indices|targets|labels)$|^(input|output|token|start|end|masked(_lm)?|query)_positions?$|^decoder_input/;
const IMAGES =
  /^(img|image|images|imgs|pixel_values|pixels|frames?_rgb|im|photo|rgb|lr|lq|samples|tensor_list|pixel_value)$|^(im|img|image|frame)_?([0-9abclr]|left|right|ref|cur|prev)$|^(left|right|ref|input|inp|source|target|style|content|cur|prev|rgb|noisy|hazy|blurred)_?(im|img|image)s?$/;
const MASKS = /(^|_)mask(s|ed)?($|_)|^(attn|attention|key_padding|src|tgt)_?mask/;
const LENGTHS = /len(gth)?s?$|_lens$/;
const TIMES = /^(t|ts|time|timesteps?|times|noise_(levels?|scales?)|sigmas?|r|log_snr|steps?|noise_labels|guidance)$/;
const VIDEO = /^(video|videos|vid|clip|frames)$/;
const AUDIO = /^(wav|wave|waveform|audio|audios|raw_audio|signal|wavs)$/;

/** one of so many for each item of the batch: a class, a speaker, a user and what is recommended to it */
const LABELS =
  /^(y|labels?|class_labels|classes|class_ids|cls|sid|(spk|speaker)(s|_?ids?)?|(users?|items?)(_?(ids?|idx|nums?|indices))?|(pos|neg)_items?)$/;

/** columns of a table by their kind: categories are counted, the others are numbers */
const CATEGORIES =
  /^(x_?)(cat|categ|categorical|categories|cats|discrete|sparse)(_?features?)?$|^(cat|categ|categorical|categories|discrete|sparse)_(x|features?|feats?|inputs?|values?|data|cols?|columns?)$|^(categorical|categories)$/;
const NUMBERS_OF_TABLES =
  /^(x_?)(num|numer|numerical|numeric|cont|conts|continuous|dense)(_?features?)?$|^(num|numer|numerical|numeric|cont|conts|continuous|dense)_(x|features?|feats?|inputs?|values?|data|cols?|columns?)$|^(numerical|numeric|continuous|conts)$/;

/** where tokens stand in a cache: one row for the whole batch, given although it may be left out */
export const isCachePosition = (name: string): boolean => /^(input_pos|cache_positions?)$/.test(name);

/** bands of a spectrogram over time */
export const isSpectrogram = (name: string): boolean =>
  /^(mels?|(mel_?)?(specs?|spectrograms?))(_(input|target|gt))?s?$/.test(name);

/** where points of an image lie: a pair of numbers each */
export const isPointList = (name: string): boolean =>
  /^(points?|clicks?|prompts?|key_?points?)_(coords?|coordinates|xy)$|^(coords?|points?)_(xy|2d)$/.test(name);

/** channels of a map of the image's size: where each pixel moves to, how far off it is, how much it covers */
export const channelsOf = (name: string): number | undefined => MAPS.find(([re]) => re.test(name.toLowerCase()))?.[1];

const MAPS: readonly (readonly [RegExp, number])[] = [
  [/^(optical_?)?flows?(_(init|gt|prev))?$|^flo$/, 2],
  [/^(depth|disp|disparity|alpha|trimap|saliency)(_?(map|gt|init))?s?$/, 1],
  [/^normals?_?maps?$/, 3],
];

/** what a camera does to points, a matrix each: intrinsics, poses, projections and their inverses */
export const isCameraMatrix = (name: string): boolean =>
  /^(K|P|E|(inv|inverse)_?K|K_?inv|(\w+_)?(intrinsics?|extrinsics?)(_inv|_mat(rix)?)?|(inv|inverse)_?intrinsics?|cam(era)?_?(K|mat(rix|rices)?|poses?)|(c2w|w2c|cam2world|world2cam|T_?cam\w*|cam_T_cam)s?|(proj(ection)?|pose|affine)_?mat(rix|rices)?)$/.test(
    name,
  );

/** maps of one channel that stand beside an image */
export const isMapBesideImage = (name: string): boolean =>
  /^(edges?|sketch(es)?|lines?|heat_?maps?|gray(scale)?s?|holes?|valid|conf(idence)?|attn_?maps?)(_?(map|gt|img))?$/.test(
    name,
  );

/** another image beside an image: what it is to become, what became of it */
export const isOtherImage = (name: string): boolean =>
  /^(gts?|ground_truth|hr|sr|hq|(fake|real|recon|reconstructed|restored|generated|predicted|clean|sharp|noisy|warped)(_?(a|b|img|image|x|y))?|outputs?|preds?|predictions?|x_?(hat|rec|recon|gt|t)|y_?hat)$/i.test(
    name,
  );

/** pairs of nodes, one column an edge */
export const isEdgeList = (name: string): boolean => /^(edges|edge_(index|indices|list)|edges?_idx)$/.test(name);

/** the two of a pair: left and right, img1 and img2, x_a and x_b */
export const areMates = (a: string, b: string): boolean => a !== b && unpaired(a) === unpaired(b);

/** a name without what tells the one of a pair from the other */
const unpaired = (name: string): string =>
  name.toLowerCase().replace(/left|right|first|second|(?<=[a-z]_?)[12]$|(?<=[a-z]_|img|im|image)[ablr]$/, "*");

/** x_target beside x: another of the same shape */
export const isVariantOf = (lead: string, name: string): boolean =>
  name.startsWith(`${lead}_`) &&
  /^(target|tgt|gt|hat|ref|rec|recon|true|real|fake|noisy|clean|orig|prev|next|[lh]r|low|high|small|half|down)$/.test(
    name.slice(lead.length + 1),
  );

/** which nodes of a graph are joined: a square matrix */
export const isAdjacency = (name: string): boolean =>
  /^(norm_)?(adjs?|adjacency|laplacian|lap)(_?(m|mx|mat|matrix|matrices|t|norm|hat))?$/i.test(name);

/** a forward's flags that its callers always give */
export const isFlag = (name: string): boolean => /^(sparse|flag|deterministic|inference|evaluate|is_?test)$/.test(name);

export type InputKind =
  | "tokens"
  | "image"
  | "mask"
  | "lengths"
  | "time"
  | "video"
  | "audio"
  | "label"
  | "categories"
  | "numbers"
  | "other";

export function inputKind(name: string): InputKind {
  const n = name.toLowerCase();
  if (MASKS.test(n)) return "mask";
  if (TIMES.test(n)) return "time";
  if (LABELS.test(n)) return "label";
  if (LENGTHS.test(n)) return "lengths";
  if (TOKENS.test(n)) return "tokens";
  if (IMAGES.test(n)) return "image";
  if (VIDEO.test(n)) return "video";
  if (AUDIO.test(n)) return "audio";
  if (CATEGORIES.test(n)) return "categories";
  if (NUMBERS_OF_TABLES.test(n)) return "numbers";
  return "other";
}

/** a size for a dimension by the name that the code gives it */
export function sizeFor(name: string): number | undefined {
  const n = name.toLowerCase().replace(/^_+/, "");
  if (/^(b|bs|bsz|batch|n_?batch|batch_size|bz|nb|n_samples|num_samples)$/.test(n)) return SIZES.batch;
  if (/^(h|w|height|width|hh|ww|x|y|img_h|img_w|in_h|in_w)$/.test(n)) return SIZES.map;
  if (
    /^(t|l|s|seq|seq_len|seqlen|seq_length|time|length|n_tokens|num_tokens|tgt_len|src_len|len|q_len|k_len|sequence_length|slen|n_seq|i|j|qlen|frames?)$/.test(
      n,
    )
  )
    return SIZES.length;
  if (/^(c|ch|channels?|d|\w*dim|e|emb|embed(ding)?s?|d_model|features?|hidden(_size)?|(n(um)?_)?hid|f|c_in)$/.test(n))
    return SIZES.width;
  if (/^(h|heads?|nh|num_heads)$/.test(n)) return 8;
  return undefined;
}
