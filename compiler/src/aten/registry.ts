// The operator table as a whole. In: the families of ops/index.ts. Out: records by full name and by Python spelling.
// Promises: built once, in the order of the families; a name given twice is a bug and throws.
import { inplaceVariants } from "./inplace_variants";
import { families } from "./ops/index";
import type { OpRecord } from "./types";

interface Tables {
  readonly byName: ReadonlyMap<string, OpRecord>;
  readonly byPython: ReadonlyMap<string, readonly OpRecord[]>;
  readonly byPacket: ReadonlyMap<string, readonly OpRecord[]>;
}

let tables: Tables | undefined;

function build(): Tables {
  const byName = new Map<string, OpRecord>();
  const byPython = new Map<string, OpRecord[]>();
  const byPacket = new Map<string, OpRecord[]>();
  const push = (map: Map<string, OpRecord[]>, key: string, r: OpRecord): void => {
    const list = map.get(key);
    if (list === undefined) map.set(key, [r]);
    else if (!list.includes(r)) list.push(r);
  };
  const written = families.flat();
  for (const record of [...written, ...inplaceVariants(written)]) {
    if (byName.has(record.name)) throw new Error(`operator ${record.name} is in the table twice`);
    byName.set(record.name, record);
    for (const spelling of record.python ?? []) push(byPython, spelling, record);
    if (record.printedAs !== undefined) push(byPython, record.printedAs, record);
    push(byPacket, packetOf(record.name), record);
  }
  return { byName, byPython, byPacket };
}

const all = (): Tables => {
  tables ??= build();
  return tables;
};

/** "aten.add.Tensor" -> "aten.add" */
export function packetOf(name: string): string {
  return name.slice(0, name.lastIndexOf("."));
}

/** The record of a full overload name. */
export function lookup(name: string): OpRecord | undefined {
  const t = all();
  return (
    t.byName.get(name) ??
    (name.startsWith("aten.") && /^aten\.\w+$/.test(name) ? only(t.byPacket.get(name)) : undefined)
  );
}

const only = (records: readonly OpRecord[] | undefined): OpRecord | undefined =>
  records?.length === 1 ? records[0] : undefined;

/** The record of an operator that the table must have. @throws Error if it is absent (a bug of the table) */
export function mustLookup(name: string): OpRecord {
  const r = lookup(name);
  if (r === undefined) throw new Error(`the operator table lacks ${name}`);
  return r;
}

/**
 * The overloads behind a spelling in the order PyTorch tries them: "torch.add", "Tensor.add", "operator.add", the printed
 * form of a pre-grad graph ("torch._C._nn.gelu"), or a packet ("aten.add", "torch.ops.aten.add.Tensor").
 */
export function lookupPython(spelling: string): readonly OpRecord[] {
  const t = all();
  const found = t.byPython.get(spelling);
  if (found !== undefined) return found;
  const op = spelling.replace(/^torch\.ops\./, "");
  const one = t.byName.get(op);
  if (one !== undefined) return [one];
  return t.byPacket.get(op) ?? [];
}

export function allRecords(): readonly OpRecord[] {
  return [...all().byName.values()];
}

/** an operator of the program's own by how it is called: torch.ops.space.name, or with its overload */
export function customOperator(target: string): { readonly packet: string; readonly overload: string } | undefined {
  const m =
    /^(?:torch\.ops\.)?((?!torch\.)\w+\.\w+)\.(\w+)$/.exec(target) ??
    /^torch\.ops\.(\w+\.\w+)$/.exec(target) ??
    undefined;
  const [, packet] = m ?? [];
  return packet === undefined ? undefined : { packet, overload: `${packet}.${m?.[2] ?? "default"}` };
}
