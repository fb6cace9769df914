// Models of transformers that programs load by name: what they compute, and under which names and configurations.
import { describe, expect, test } from "vitest";
import { analysed, assumedOf, framesOf, operatorsOf, printed } from "../infer/testing/analysed";

const attentions = (r: ReturnType<typeof analysed>, name: string): number =>
  operatorsOf(r, name).filter(t => /scaled_dot_product_attention/.test(t)).length;

describe("models of transformers", () => {
  test("are traced without opaque operators, and answer attributes, items and unpacking", () => {
    const r = analysed(`
from transformers import BertModel, GPT2LMHeadModel
import transformers

class Encoders(nn.Module):
    def __init__(self):
        super().__init__()
        self.bert = BertModel.from_pretrained("bert-base-uncased", output_hidden_states=True)
        self.small = transformers.DistilBertModel.from_pretrained("distilbert-base-uncased")
        self.head = nn.Linear(self.bert.config.hidden_size, 3)

    def forward(self, input_ids, attention_mask):
        last, pooled, states = self.bert(input_ids, attention_mask=attention_mask)
        return self.head(last + states[1] + self.small(input_ids)[0]), pooled

class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.gpt = GPT2LMHeadModel.from_pretrained("gpt2")

    def forward(self, input_ids):
        return self.gpt(input_ids, labels=input_ids).loss
`);
    expect(attentions(r, "Encoders")).toBe(18);
    expect(attentions(r, "Language")).toBe(12);
    expect(
      [...framesOf(r, "Encoders"), ...framesOf(r, "Language")].flatMap(f => f.graph.nodes.filter(n => n.meta.opaque)),
    ).toEqual([]);
  });

  test("are found by the names of checkpoints, with the sizes of theirs", () => {
    const r = analysed(`
from transformers import AutoModel, AutoModelForSequenceClassification

class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.large = AutoModel.from_pretrained("roberta-large")
        self.scores = AutoModelForSequenceClassification.from_pretrained("bert-base-cased", num_labels=7)

    def forward(self, input_ids):
        return self.large(input_ids).last_hidden_state, self.scores(input_ids).logits

net = Named()
print(net.large.config.hidden_size, len(net.large.encoder.layer), net.scores.classifier.out_features)
`);
    expect(attentions(r, "Named")).toBe(36);
    expect(printed(r)).toBe("1024 24 7\n");
  });

  test("that are not here stay unknown", () => {
    const r = analysed(`
from transformers import AutoModel

class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = AutoModel.from_pretrained("facebook/bart-base")

    def forward(self, input_ids):
        return self.model(input_ids)[0] + 1
`);
    expect(framesOf(r, "Other").flatMap(f => f.graph.nodes.filter(n => n.meta.opaque))).toHaveLength(1);
  });

  test("have the arguments and results of the first releases under the names of those", () => {
    const r = analysed(`
from pytorch_pretrained_bert import BertModel
from pytorch_pretrained_bert.modeling import BertPreTrainedModel

class Early(BertPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.bert = BertModel(config)

    def forward(self, input_ids, segment_ids, input_mask):
        layers, pooled = self.bert(input_ids, segment_ids, input_mask)
        return layers[-1], pooled
`);
    expect(operatorsOf(r, "Early")).toContain("torch.tanh");
  });

  test("get what tokenizers give where a program hands a mapping on", () => {
    const r = analysed(`
from transformers import AutoModel

class Encoder(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.model = AutoModel.from_pretrained(args.model_name)

    def forward(self, batch):
        return self.model(**batch).pooler_output
`);
    expect(assumedOf(r, "Encoder")).toMatch(/batch is \{"input_ids": int64/);
    expect(attentions(r, "Encoder")).toBe(12);
  });
});

test("arguments come in the order of the release that a program imports", () => {
  const r = analysed(`
from pytorch_transformers import BertConfig, BertModel

class Summary(nn.Module):
    def __init__(self):
        super().__init__()
        self.bert = BertModel(BertConfig(400, hidden_size=48, num_hidden_layers=1, num_attention_heads=4))

    def forward(self, src, segs, mask):
        top, _ = self.bert(src, segs, attention_mask=mask)
        return top
`);
  expect(attentions(r, "Summary")).toBe(1);
});

test("configurations of decoders name the activation that these have", () => {
  const r = analysed(`
from transformers import BertConfig, LlamaConfig
from transformers.models.qwen2.configuration_qwen2 import Qwen2Config

print(LlamaConfig().hidden_act, Qwen2Config(hidden_size=64).hidden_size, BertConfig().hidden_act, LlamaConfig().attention_bias)
`);
  expect(printed(r)).toBe("silu 64 gelu False\n");
});

test("tokenizers give rows of token numbers, as many as there are texts and as long as they are told", () => {
  const r = analysed(`
from transformers import AutoTokenizer, BertTokenizer, T5Tokenizer

class Captioned(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.tokenizer = BertTokenizer.from_pretrained("bert-base-uncased")
        self.tokenizer.add_special_tokens({"additional_special_tokens": ["[ENC]"], "bos_token": "[DEC]"})
        self.words = nn.Embedding(len(self.tokenizer), width)

    def forward(self, image, caption):
        text = self.tokenizer(caption, padding="longest", truncation=True, max_length=20, return_tensors="pt").to(image.device)
        text.input_ids[:, 0] = self.tokenizer.bos_token_id
        return image.mean() + self.words(text.input_ids) * text.attention_mask[..., None]

told = AutoTokenizer.from_pretrained("t5-small")(["a b", "c"], padding="max_length", max_length=12, return_tensors="pt")
print(told["input_ids"].shape, sorted(told), len(T5Tokenizer.from_pretrained("t5-small").encode("a")))
t = BertTokenizer()
print(t.add_special_tokens({"additional_special_tokens": ["[ENC]"]}), t.additional_special_tokens_ids, len(t), t.tokenize("a b"))
named = AutoTokenizer.from_pretrained("x", extra_special_tokens={"image_token": "<img>"})
print(named.image_token, named.image_token_id == named.convert_tokens_to_ids("<img>"), named.grid_token_id)
`);
  expect(printed(r).trimEnd().split("\n")).toEqual([
    "torch.Size([2, 12]) ['attention_mask', 'input_ids'] 32",
    "1 [30522] 30523 ['a', 'b']",
    "<img> True <unknown PreTrainedTokenizer.grid_token_id>",
  ]);
  expect(operatorsOf(r, "Captioned")).toContain("torch.nn.functional.embedding");
  expect(framesOf(r, "Captioned").flatMap(f => f.graph.nodes.filter(n => n.meta.opaque))).toEqual([]);
});
