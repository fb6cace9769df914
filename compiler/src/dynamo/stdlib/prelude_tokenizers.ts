// What tokenizers of transformers give to the models that hold one: as many rows as there are texts, of the length that is asked
// for. In: nothing. Out: a text that the one of transformers takes in. Vocabularies lie in no file of a project, so which tokens
// they are nobody knows: a tokenizer keeps one table of them, and gives parts of it.

export const TOKENIZERS = `
_TOKENIZED = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[BOS]", "[EOS]")
_LIKELY_LENGTH, _MOST_TEXTS = 32, 64


class BatchEncoding(dict):
    def __getattr__(self, name):
        if name not in self:
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name, value):
        self[name] = value

    def to(self, device, **kwargs):
        return BatchEncoding({k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in self.items()})


class PreTrainedTokenizer:
    padding_side = truncation_side = "right"

    def __init__(self, *args, model_max_length=None, max_length=None, **kwargs):
        self.model_max_length = model_max_length or max_length or (77 if "CLIP" in type(self).__name__ else 512)
        self.vocab_size = 49408 if "CLIP" in type(self).__name__ else 30522
        self._added = {}
        for i, name in enumerate(("pad", "unk", "cls", "sep", "mask", "bos", "eos")):
            setattr(self, name + "_token", _TOKENIZED[i])
            setattr(self, name + "_token_id", i)
        self.additional_special_tokens, self.additional_special_tokens_ids = [], []
        self._table = torch.zeros(_MOST_TEXTS, max(self.model_max_length, 1), dtype=torch.int64) if self.model_max_length < 100000 else None
        self.add_special_tokens(kwargs.get("extra_special_tokens") or {})

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return _unknown(f"{type(self).__name__}.{name}")

    @classmethod
    def from_pretrained(cls, name=None, *args, **kwargs):
        made = cls(**kwargs)
        made.name_or_path = name
        return made

    def __len__(self):
        return self.vocab_size + len(self._added)

    def _id(self, token):
        if token in _TOKENIZED:
            return _TOKENIZED.index(token)
        return self._added.get(token, 100)

    def add_tokens(self, tokens, special_tokens=False):
        tokens = [tokens] if isinstance(tokens, str) else list(tokens)
        new = [t for t in tokens if t not in self._added]
        for t in new:
            self._added[str(t)] = len(self)
        return len(new)

    def add_special_tokens(self, special_tokens, **kwargs):
        added = 0
        for name, token in special_tokens.items():
            added += self.add_tokens(token)
            setattr(self, name, token)
            ids = self._id(token) if isinstance(token, str) else [self._id(t) for t in token]
            setattr(self, name + ("_id" if isinstance(token, str) else "_ids"), ids)
        return added

    def get_vocab(self):
        return dict(self._added)

    def convert_tokens_to_ids(self, tokens):
        return self._id(tokens) if isinstance(tokens, str) else [self._id(t) for t in tokens]

    def convert_ids_to_tokens(self, ids, **kwargs):
        return "[UNK]" if isinstance(ids, int) else ["[UNK]"] * len(ids)

    def tokenize(self, text, **kwargs):
        return text.split()

    def __call__(self, text=None, text_pair=None, padding=False, truncation=None, max_length=None, return_tensors=None,
                 return_token_type_ids=None, **kwargs):
        length = max_length or self.model_max_length
        if padding != "max_length":
            length = min(length, _LIKELY_LENGTH)
        rows = 1 if isinstance(text, str) else len(text)
        if return_tensors == "pt":
            ids = self._table[:rows, :length] if rows <= _MOST_TEXTS else self._table[:1, :length].repeat(rows, 1)
            made = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
            types = torch.zeros_like(ids)
        else:
            ids = [[100] * length for _ in range(rows)]
            made = {"input_ids": ids, "attention_mask": [[1] * length for _ in ids]}
            types = [[0] * length for _ in ids]
            if isinstance(text, str):
                made, types = {k: v[0] for k, v in made.items()}, types[0]
        if return_token_type_ids or (return_token_type_ids is None and "Bert" in type(self).__name__):
            made["token_type_ids"] = types
        return BatchEncoding(made)

    batch_encode_plus = encode_plus = __call__

    def encode(self, text, **kwargs):
        return self(text, **kwargs)["input_ids"]

    def decode(self, ids, **kwargs):
        return ""

    def batch_decode(self, ids, **kwargs):
        return [""] * len(ids)

    def save_pretrained(self, *args, **kwargs):
        return ()


PreTrainedTokenizerBase = PreTrainedTokenizerFast = AutoTokenizer = PreTrainedTokenizer


class BertTokenizer(PreTrainedTokenizer):
    pass


BertTokenizerFast = BertTokenizer


class CLIPTokenizer(PreTrainedTokenizer):
    pass


CLIPTokenizerFast = CLIPTokenizer
`;
