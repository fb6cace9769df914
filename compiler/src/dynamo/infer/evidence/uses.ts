// What code does with the attributes and items of objects that it hands around as configurations. In: texts of Python files.
// Out: for the names that an object goes by and the name of an attribute, whether that is an object, a list or a method.

export type Use = "object" | "list" | "method";

/** attributes that tensors, arrays and enumerations have: what has them is no configuration */
const OWN_OF_VALUES = "(?:shape|dtype|device|ndim|T|is_cuda|value|weight|data)\\b";
const MEMBER = `(?:['"]\\])?(?:\\.(\\w+)|\\[['"](\\w+)['"]\\])`;
/** `cfg.model.width`, `cfg["model"]["width"]`, `cfg.model.get(...)`: behind `cfg`, overlapping ones too */
const OBJECTS = new RegExp(
  `\\b([A-Za-z_]\\w*)(?=${MEMBER}(?:\\[['"]|\\.get\\(|\\.(?!${OWN_OF_VALUES})[A-Za-z_]\\w*\\b(?!\\s*\\()))`,
  "g",
);
/** `for x in cfg.dims`, `len(cfg.dims)`, `*cfg.dims` */
const ITERATED =
  /(?:\bfor\s[\w, ()]+\sin|\b(?:len|enumerate|zip|reversed|list|tuple|sum)\(|[(,]\s*\*)\s*(?:\w+\.)*?(\w+)\.(\w+)\b(?!\s*[.[(\w])/g;
/** `cfg.dims[0]`, `cfg.dims[i + 1]` */
const INDEXED = /\b([A-Za-z_]\w*)(?=\.(\w+)\[(?:-?\d|[a-z_]\w*(?: [-+] 1)?\]))/g;

/** `dataset.num(field)`: called for its result */
const CALLED = /(?<![.\w])(?:self\.)?([A-Za-z_]\w*)\.([a-z_]\w*)\(/g;

/** Uses of attributes in some files, found once for all names. */
export class Uses {
  private readonly found = new Map<string, Use>();

  constructor(texts: readonly string[]) {
    for (const text of texts) {
      for (const [, owner, a, b] of text.matchAll(OBJECTS)) this.found.set(`${owner}.${a ?? b}`, "object");
      for (const test of [ITERATED, INDEXED]) {
        for (const [, owner, name] of text.matchAll(test)) {
          const key = `${owner}.${name}`;
          if (!this.found.has(key)) this.found.set(key, "list");
        }
      }
      for (const [, owner, name] of text.matchAll(CALLED)) {
        const key = `${owner}.${name}`;
        if (!this.found.has(key)) this.found.set(key, "method");
      }
    }
  }

  of(owners: readonly string[], name: string): Use | undefined {
    const all = owners.map(o => this.found.get(`${o}.${name}`));
    return all.find(u => u === "object") ?? all.find(u => u !== undefined);
  }
}
