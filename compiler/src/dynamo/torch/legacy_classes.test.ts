// Classes of tensors from before dtypes: what is an instance of them, and what they make.
import { expect, test } from "vitest";
import { analysed, printed } from "../infer/testing/analysed";

test("a tensor is an instance of the class of its dtype and device, and a Variable", () => {
  const r = analysed(`
from torch.autograd.variable import Variable
import torch.autograd as autograd

x = torch.ones(2)
w = Variable(x, requires_grad=True)
print(isinstance(x, Variable), isinstance(w, autograd.Variable), isinstance([x], Variable), w.shape)
print([isinstance(x, c) for c in (torch.FloatTensor, torch.LongTensor, torch.cuda.FloatTensor, torch.Tensor)])
print(isinstance(x.long().cuda(), (torch.cuda.LongTensor, Variable)), isinstance(3, (torch.FloatTensor, Variable)))
`);
  expect(printed(r)).toBe("True True False torch.Size([2])\n[True, False, False, True]\nTrue False\n");
});

test("numbers are the sizes of a tensor, a range and lists are its values", () => {
  const r = analysed(`
print(torch.LongTensor(2, 3).shape, torch.LongTensor(range(4)).shape, torch.FloatTensor([1, 2]).shape)
`);
  expect(printed(r)).toBe("torch.Size([2, 3]) torch.Size([4]) torch.Size([2])\n");
});
