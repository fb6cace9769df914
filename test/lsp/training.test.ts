// A module that its file never calls, shown in inference or in training.
import { afterEach, beforeEach, expect, it } from "vitest";
import { TestClient } from "./client";
import { TWO_SUMS } from "./fixtures";

const MODULE = `import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, dim: int = 256):
        super().__init__()
        self.up = nn.Linear(dim, dim)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return x + self.drop(torch.relu(self.up(x)))
`;

let client: TestClient;
beforeEach(async () => {
  client = await TestClient.start();
});
afterEach(async () => {
  expect(await client.stop()).toBe(0);
});

const titles = async (uri: string): Promise<string[]> => (await client.lenses(uri)).map(l => l.command.title);

it("a lens switches to training, forward and backward, and back", async () => {
  const uri = await client.openNew(MODULE);
  const before = await titles(uri);
  expect(before).toContain("Show training");
  expect(before[0]).toMatch(/^\d+ kernels?, .*assumed: eval/);
  const { summary } = await client.execute<{ summary: string }>("fuselens.switchMode", { uri, root: "Block" });
  expect(summary).toBe("Block is shown in training, forward and backward");
  const trained = await titles(uri);
  expect(trained[0]).toMatch(/^\d+ kernels in 2 graphs, .* saved for backward \(assumed: train/);
  expect(trained).toContain("Show inference");
  await client.execute("fuselens.switchMode", { uri, root: "Block" });
  expect(await titles(uri)).toEqual(before);
});

it("what the file calls itself is shown as it is called", async () => {
  const uri = await client.openNew(TWO_SUMS);
  expect(await titles(uri)).not.toContain("Show training");
  await expect(client.execute("fuselens.switchMode", { uri })).rejects.toThrow("the file itself says");
});
