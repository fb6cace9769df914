// A fair sample; all prefixes and 2,000 mutations are a suite of their own (.ci/long/broken_files.sh).
import { describe, expect, it } from "vitest";
import { Random } from "../fuzz/random";
import { examples, mutations, prefixes, verdict } from "./broken_files";

const PREFIXES = 2;
const MUTATIONS = 2;

describe("a broken file", () => {
  const random = new Random(7);
  for (const { file, text } of examples()) {
    it(`is answered: ${file}`, () => {
      const cut = prefixes(file, text);
      const cases = [
        ...Array.from({ length: PREFIXES }, () => cut[random.below(cut.length)]),
        ...mutations(file, text, MUTATIONS, file.length),
      ];
      const wrong = cases.flatMap(c => {
        const said = c && verdict(c, false);
        return said === undefined ? [] : [`${c?.name}: ${said}`];
      });
      expect(wrong).toEqual([]);
    });
  }
});
