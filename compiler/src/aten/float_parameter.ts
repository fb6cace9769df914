// Floats that a compile takes as parameters. In: a float of a captured graph. Out: the same float, which tells whether it
// was asked for its value. What is only handed on, from an operator's argument to a constant of a kernel, is printed as a
// mark, and a compile that never asked for the number is the compile of every other number too
// (docs/decisions/0006-float-parameters.md).
import { type InternTable, internTable } from "../inductor/symbolic/intern";
import { PyFloat } from "./types";

/** One number of a session: equal floats are one identity, so that telling parameters apart does not ask for their values. */
interface Identity {
  readonly id: number;
  readonly value: number;
  /** something has asked for the value, now or in a compile whose intermediate results are kept */
  read: boolean;
}

/** around an identity's number in texts; private use, so no text of PyTorch's has them */
const [OPEN, CLOSE] = ["\uE000", "\uE001"];
const MARKS = /\uE000(\d+)\uE001/g;

/** ids are never used twice, so a mark of one session says nothing in another */
let nextId = 0;

const identities = (table = internTable()): Map<number, Identity> => table.memo("float identities");
const byId = (): Map<number, Identity> => internTable().memo("float identities by id");
const literals = (table = internTable()): Map<number, true> => table.memo("float literals");

const markText = ({ id }: Identity): string => `${OPEN}${id}${CLOSE}`;

export class FloatParameter extends PyFloat {
  constructor(private readonly identity: Identity) {
    super(identity.value);
  }

  /** From here on what is compiled holds for this number alone. */
  override get value(): number {
    this.identity.read = true;
    return this.number;
  }

  /** A parameter is no whole number; where it is equal to another, that fixes both. */
  override is(value: number): boolean {
    return this.number === noteLiteral(value);
  }

  get id(): number {
    return this.identity.id;
  }

  get wasRead(): boolean {
    return this.identity.read;
  }

  /** what stands in texts for the number's repr */
  get mark(): string {
    return markText(this.identity);
  }

  /** arithmetic on it asks for the value */
  [Symbol.toPrimitive](): number {
    return this.value;
  }
}

/**
 * Numbers that may be parameters: no stage treats one of them in a way of its own unless it asks. Whole numbers are the
 * neutral elements, exponents and sizes, and are compared with ints; those far out leave the range of a dtype.
 */
export function mayBeParameter(value: number): boolean {
  const magnitude = Math.abs(value);
  return Number.isFinite(value) && !Number.isInteger(value) && magnitude > 1e-12 && magnitude < 1e12;
}

/** The float as a parameter; null where the number stands for itself. */
export function floatParameter(value: number): FloatParameter | null {
  if (!mayBeParameter(value) || isLiteral(value)) return null;
  const known = identities();
  let identity = known.get(value);
  if (!identity) {
    identity = { id: nextId++, value, read: false };
    known.set(value, identity);
    byId().set(identity.id, identity);
  }
  return new FloatParameter(identity);
}

/** whether the number stands for itself: its value was asked for, or something that is no parameter goes by it */
export function isLiteral(value: number): boolean {
  return literals().has(value) || identities().get(value)?.read === true;
}

/**
 * Text that is equal for equal floats of any origin. A number that is no parameter but equal to one fixes it: that the two
 * are equal was seen.
 */
export function floatKey(f: PyFloat | number): string {
  if (f instanceof FloatParameter) return `$${f.id}`;
  const value = noteLiteral(typeof f === "number" ? f : f.value);
  const identity = mayBeParameter(value) ? identities().get(value) : undefined;
  if (identity) return `$${identity.id}`;
  return Object.is(value, -0) ? "-0" : String(value);
}

/** Tells of a number that parameters may be compared with from now on, by text or by key. */
export function noteLiteral(value: number): number {
  if (!mayBeParameter(value)) return value;
  literals().set(value, true);
  const identity = identities().get(value);
  if (identity) identity.read = true;
  return value;
}

/** The mark of a parameter, and of a number that is equal to one, which fixes it; null where the number has none. */
export function markOf(f: FloatParameter | number): string | null {
  if (f instanceof FloatParameter) return f.mark;
  noteLiteral(f);
  const identity = identities().get(f);
  return identity ? markText(identity) : null;
}

/** how many numbers a table holds on to */
export function floatsKept(table: InternTable): number {
  return identities(table).size + literals(table).size;
}

/** whether a text of the program itself could be taken for one with marks */
export function hasMark(text: string): boolean {
  return text.includes(OPEN);
}

/**
 * Writes `repr` of numbers for the marks of a text: those of `values`, by id, else the number that the mark was made for.
 * It belongs to the table in scope, and may be called when that no longer is.
 */
export function markFiller(
  values: ReadonlyMap<number, number>,
  repr: (value: number) => string,
): (text: string) => string {
  const known = byId();
  const fill = (mark: string, digits: string): string => {
    const id = Number(digits);
    const value = values.get(id) ?? known.get(id)?.value;
    return value === undefined ? mark : repr(value);
  };
  return text => (hasMark(text) ? text.replace(MARKS, fill) : text);
}
