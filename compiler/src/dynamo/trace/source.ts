// Where a value of a traced frame comes from: L['x'], G['cell']._modules['ih'], ... In: steps of access. Out: the text
// that names graph inputs and guards, and a way to fetch the value again at a later call.
import type { Frame } from "../interp/frame";
import { PyDict, PyList, PyModule, PyObject, PyTuple, type Value } from "../objects/values";

/** the frame as it stands when it is entered or resumed */
export interface Entry {
  readonly frame: Frame;
}

export interface Source {
  readonly name: string;
  readonly fetch: (e: Entry) => Value | undefined;
  /** reached through a module's _parameters or _buffers: sizes stay static */
  readonly owned: "parameter" | "buffer" | "attribute" | null;
}

export function localSource(name: string): Source {
  return {
    name: `L['${name}']`,
    owned: null,
    fetch: ({ frame }) => {
      const slot = frame.code.varnames.indexOf(name);
      if (slot >= 0 && frame.locals[slot] !== undefined) return frame.locals[slot];
      const cell = frame.code.cellNames.indexOf(name);
      if (cell >= 0) return frame.cells[cell]?.value;
      const free = frame.code.freeNames.indexOf(name);
      return free < 0 ? undefined : frame.cells[frame.code.cellNames.length + free]?.value;
    },
  };
}

export function stackSource(i: number): Source {
  return { name: `L['___stack${i}']`, owned: null, fetch: ({ frame }) => frame.stack[i] };
}

export function globalSource(name: string): Source {
  return { name: `G['${name}']`, owned: null, fetch: ({ frame }) => frame.globals.get(name) };
}

export function closureSource(base: Source, index: number): Source {
  return {
    name: `${base.name}.__closure__[${index}].cell_contents`,
    owned: null,
    fetch: e => {
      const f = base.fetch(e);
      const closure = f instanceof PyObject && "closure" in f ? (f.closure as readonly { value?: Value }[]) : [];
      return closure[index]?.value;
    },
  };
}

function attributes(v: Value | undefined): PyDict | null {
  if (v instanceof PyModule) return v.dict;
  return v instanceof PyObject ? v.attrs : null;
}

export function attributeSource(base: Source, name: string, inModule: boolean): Source {
  return {
    name: `${base.name}.${name}`,
    owned: inModule ? "attribute" : null,
    fetch: e => {
      const o = base.fetch(e);
      const own = attributes(o)?.get(name);
      if (own !== undefined) return own;
      return o instanceof PyObject ? o.cls.lookup(name) : undefined;
    },
  };
}

/** a member of nn.Module: the dict that holds it is part of the name */
export function memberSource(base: Source, dict: "_parameters" | "_buffers" | "_modules", name: string): Source {
  return {
    name: `${base.name}.${dict}['${name}']`,
    owned: dict === "_parameters" ? "parameter" : dict === "_buffers" ? "buffer" : base.owned,
    fetch: e => {
      const d = attributes(base.fetch(e))?.get(dict);
      return d instanceof PyDict ? d.get(name) : undefined;
    },
  };
}

export function itemSource(base: Source, key: Value): Source | undefined {
  if (typeof key === "number") {
    return {
      name: `${base.name}[${key}]`,
      owned: base.owned,
      fetch: e => {
        const o = base.fetch(e);
        return o instanceof PyList || o instanceof PyTuple
          ? o.items[key]
          : o instanceof PyDict
            ? o.getKey(key)
            : undefined;
      },
    };
  }
  if (typeof key !== "string") return undefined;
  const dict = base.name.endsWith("._parameters") ? "parameter" : base.name.endsWith("._buffers") ? "buffer" : null;
  return {
    name: `${base.name}['${key}']`,
    owned: dict ?? base.owned,
    fetch: e => {
      const o = base.fetch(e);
      return o instanceof PyDict ? o.get(key) : undefined;
    },
  };
}

/** the placeholder's target: runs of other characters become one underscore */
export function placeholderName(source: string): string {
  return source.replace(/[^a-zA-Z0-9]+/g, "_");
}
