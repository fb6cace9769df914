// Walks the operator table: every record is complete, and what it calls is there.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { families } from "./ops/index";
import { allRecords, lookup, lookupPython } from "./registry";
import { parseSchema } from "./schema";
import type { OpRecord } from "./types";

const records = allRecords();

const OPS = join(__dirname, "ops");
const sources = readdirSync(OPS, { recursive: true, encoding: "utf8" })
  .filter(f => f.endsWith(".ts") && !f.endsWith(".test.ts"))
  .map(f => ({ file: f, text: readFileSync(join(OPS, f), "utf8") }));

/** results are integers or booleans whatever the arguments are, or there are none */
const hasTensorResult = (r: OpRecord): boolean => parseSchema(r.schema).returns.some(t => t.type.base === "Tensor");

const failing = (test: (r: OpRecord) => boolean): string[] => records.filter(r => !test(r)).map(r => r.name);

describe("the operator table", () => {
  it("names every operator once", () => {
    const names = families.flat().map(r => r.name);
    expect(names.filter((n, i) => names.indexOf(n) !== i)).toEqual([]);
  });

  it("gives every record a schema that parses, with the overload that its name says", () => {
    const wrong = failing(r => {
      const schema = parseSchema(r.schema);
      const [namespace, packet, overload] = r.name.split(".");
      if (namespace !== "aten" && namespace !== "prims") return true;
      return schema.packet === packet && schema.overload === overload;
    });
    expect(wrong).toEqual([]);
  });

  it("gives every operator a way down: a lowering, or a decomposition", () => {
    const wrong = failing(
      r =>
        r.lower !== undefined ||
        r.composite !== undefined ||
        r.decompose !== undefined ||
        r.functional !== undefined ||
        !hasTensorResult(r) ||
        (r.tags ?? []).includes("side_effect"),
    );
    expect(wrong).toEqual([]);
  });

  it("gives every operator that autograd meets a derivative, or says that it has none", () => {
    const wrong = failing(
      r =>
        r.composite !== undefined ||
        r.functional !== undefined ||
        r.derivative !== undefined ||
        r.decompose !== undefined ||
        !hasTensorResult(r) ||
        (r.tags ?? []).some(t => t === "factory" || t === "side_effect" || t === "random"),
    );
    expect(wrong).toEqual([]);
  });

  it("keeps formulas for arguments that the operator has", () => {
    const wrong = failing(r => {
      if (r.derivative === undefined || r.derivative.kind === "none") return true;
      const names = parseSchema(r.schema).parameters.map(p => p.name);
      const of = r.derivative.kind === "each" ? Object.keys(r.derivative.grads) : r.derivative.of;
      return of.every(n => names.includes(n));
    });
    expect(wrong).toEqual([]);
  });

  it("finds the functional form of every operator that writes", () => {
    const wrong = failing(r => r.functional === undefined || lookup(r.functional) !== undefined);
    expect(wrong).toEqual([]);
  });

  it("differentiates what writes: by a formula of its own or of the functional form, or composed of other writes", () => {
    const wrong = failing(r => {
      if (r.functional === undefined || r.composite !== undefined || r.derivative !== undefined) return true;
      return lookup(r.functional)?.derivative !== undefined;
    });
    expect(wrong).toEqual([]);
  });

  it("reaches every spelling", () => {
    const wrong = records.flatMap(r => (r.python ?? []).filter(s => !lookupPython(s).includes(r)));
    expect(wrong).toEqual([]);
  });

  it("calls only operators that it has", () => {
    const missing = new Set<string>();
    for (const { file, text } of sources) {
      for (const m of text.matchAll(/(?:\bb|\bg|\bm)\.call(?:Many)?\(\s*"([a-z]+\.\w+\.\w+)"/g)) {
        if (m[1] !== undefined && lookup(m[1]) === undefined) missing.add(`${file}: ${m[1]}`);
      }
      for (const m of text.matchAll(/\bf\(\s*"(\w+\.\w+)"/g)) {
        if (lookup(`aten.${m[1]}`) === undefined) missing.add(`${file}: aten.${m[1]}`);
      }
    }
    expect([...missing]).toEqual([]);
  });

  it("has records that know of no stage", () => {
    const wrong = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/from "([^"]+)"/g)]
        .map(m => m[1] as string)
        .filter(p => !/^(\.\.\/){1,2}types$|^\.\/(helpers\/)?\w+$/.test(p))
        .map(p => `${file}: ${p}`),
    );
    expect(wrong).toEqual([]);
  });
});
