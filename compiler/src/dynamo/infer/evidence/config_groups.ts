// Files that a configuration is put together of: `noise/loglinear.yaml` holds what is read under `cfg.noise`. In: a project's
// texts, the name of a section. Out: the files of that section, the one that a list of defaults names (`- noise: loglinear`)
// first.

interface DataText {
  readonly path: string;
  readonly text: string;
}

export function groupFiles<T extends DataText>(texts: readonly T[], section: string): T[] {
  const data = texts.filter(f => /\.ya?ml$/i.test(f.path));
  const inside = data.filter(f => f.path.split("/").at(-2) === section);
  if (inside.length < 2) return inside;
  const named = new RegExp(`^\\s*-\\s*(?:override\\s+)?/?(?:\\w+/)*${section}(?:@[\\w.]+)?:\\s*([\\w./-]+)`, "m");
  const chosen = new Set(
    data.flatMap(f => {
      const name = f.text.includes(section) ? named.exec(f.text)?.[1] : undefined;
      return name === undefined ? [] : [name.replace(/\.ya?ml$/i, "")];
    }),
  );
  const stem = (f: T): string => (f.path.split("/").at(-1) ?? "").replace(/\.ya?ml$/i, "");
  return [...inside.filter(f => chosen.has(stem(f))), ...inside.filter(f => !chosen.has(stem(f)))];
}
