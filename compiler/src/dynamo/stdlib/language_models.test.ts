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

test("CLIP's encoders are those of a checkpoint's name", () => {
  const r = analysed(`
from transformers import AutoModel, CLIPModel, CLIPTextModel, CLIPTokenizer, CLIPVisionConfig, CLIPVisionModelWithProjection

class Prompt(nn.Module):
    def __init__(self, name="openai/clip-vit-large-patch14"):
        super().__init__()
        self.tokenizer = CLIPTokenizer.from_pretrained(name, max_length=77)
        self.text = CLIPTextModel.from_pretrained(name).eval().requires_grad_(False)

    def forward(self, texts):
        told = self.tokenizer(texts, truncation=True, max_length=77, padding="max_length", return_tensors="pt")
        return self.text(input_ids=told["input_ids"].cuda(), attention_mask=None, output_hidden_states=False)["pooler_output"]

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.clip = CLIPModel.from_pretrained("openai/clip-vit-base-patch32")
        self.image = CLIPVisionModelWithProjection(CLIPVisionConfig(num_hidden_layers=2, image_size=64, patch_size=16))

    def forward(self, input_ids, pixel_values):
        return self.clip(input_ids, pixel_values).logits_per_image, self.image(pixel_values[..., :64, :64]).image_embeds

text = Prompt().text
print(text.config.hidden_size, text.dtype, AutoModel.from_pretrained("openai/clip-vit-base-patch16").vision_model.embeddings.num_patches)
with torch.no_grad():
    print(text(torch.ones(2, 7, dtype=torch.long), output_hidden_states=True).hidden_states[-2].shape)
`);
  expect(printed(r)).toBe("768 torch.float32 196\ntorch.Size([2, 7, 768])\n");
  expect([attentions(r, "Prompt"), attentions(r, "Pair")]).toEqual([12, 26]);
  expect(framesOf(r, "Prompt").flatMap(f => f.graph.nodes.filter(n => n.meta.opaque))).toEqual([]);
});

test("T5 adds distances to its scores, and its decoder is taught by labels", () => {
  const r = analysed(`
from transformers import AutoModelForSeq2SeqLM, T5Config, T5EncoderModel, T5ForConditionalGeneration

class Text(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = T5EncoderModel(T5Config(d_model=32, num_layers=2, num_heads=2, d_kv=16, feed_forward_proj="gated-gelu"))

    def forward(self, input_ids, attention_mask):
        return self.encoder(input_ids, attention_mask=attention_mask).last_hidden_state

class Answer(nn.Module):
    def __init__(self):
        super().__init__()
        self.lm = T5ForConditionalGeneration(T5Config(d_model=32, num_layers=1, num_heads=2))

    def forward(self, input_ids, labels):
        return self.lm(input_ids, labels=labels).loss

print(type(AutoModelForSeq2SeqLM.from_pretrained("t5-base")).__name__, T5Config.from_pretrained("google/t5-v1_1-xxl").d_model)
`);
  expect(printed(r)).toBe("T5ForConditionalGeneration 4096\n");
  const softmaxes = (name: string) => operatorsOf(r, name).filter(t => t.endsWith("softmax")).length;
  expect([softmaxes("Text"), softmaxes("Answer")]).toEqual([2, 3]);
  expect(operatorsOf(r, "Answer").join()).toContain("cross_entropy");
});

test("decoders share keys and values between heads, and end in a loss of the next token", () => {
  const r = analysed(`
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2Model

class Speaker(nn.Module):
    def __init__(self):
        super().__init__()
        self.lm = LlamaForCausalLM(LlamaConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2))

    def forward(self, input_ids, attention_mask, labels):
        return self.lm(input_ids, attention_mask, labels=labels).loss

print(Qwen2Model(Qwen2Config(hidden_size=64, num_hidden_layers=1, num_attention_heads=4)).layers[0].self_attn.q_proj.bias.shape)
print(Speaker().lm.model.layers[0].self_attn.k_proj.weight.shape)
big = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf")
print(type(big).__name__, big.config.num_hidden_layers, type(AutoModelForCausalLM.from_pretrained("gpt2")).__name__)
`);
  expect(printed(r)).toBe("torch.Size([64])\ntorch.Size([32, 64])\nLlamaForCausalLM 32 GPT2LMHeadModel\n");
  expect(attentions(r, "Speaker")).toBe(2);
});
