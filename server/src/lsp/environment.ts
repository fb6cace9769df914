// What the workspace's folders tell without running anything: the torch version of its Python environment, and example
// inputs kept in .vscode/fuselens.json. In: folders. Out: a preset's name, a list of inputs.
import { readdirSync, readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type PresetName, presetNames } from "@fuselens/compiler/vocabulary";
import type { ExampleInputs } from "../analysis/messages";

const ENVIRONMENTS = [".venv", "venv", "env", ".env", ".conda", "__pypackages__"];

export interface FoundTorch {
  readonly version: string;
  readonly preset: PresetName;
}

/** The first torch found in a folder's environment, read from the name of its dist-info. */
export function findTorch(folders: readonly string[]): FoundTorch | null {
  for (const folder of folders) {
    for (const environment of ENVIRONMENTS) {
      for (const packages of sitePackages(join(folder, environment))) {
        for (const name of list(packages)) {
          const version = /^torch-(\d+\.\d+[^-]*)\.dist-info$/.exec(name)?.[1];
          if (version !== undefined) return { version, preset: nearestPreset(version) };
        }
      }
    }
  }
  return null;
}

function sitePackages(environment: string): string[] {
  const lib = join(environment, "lib");
  return [
    ...list(lib).flatMap(d => (/^python3/.test(d) ? [join(lib, d, "site-packages")] : [])),
    join(environment, "Lib", "site-packages"),
  ];
}

/** torch-X.Y presets stand for that version; every other one is newer than all of them. */
export function nearestPreset(version: string): PresetName {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const released = presetNames().flatMap(name => {
    const m = /^torch-(\d+)\.(\d+)$/.exec(name);
    return m ? [{ name, order: Number(m[1]) * 1000 + Number(m[2]) }] : [];
  });
  const wanted = major * 1000 + minor;
  const newest = Math.max(0, ...released.map(r => r.order));
  const nightly = presetNames().find(n => n.startsWith("nightly"));
  if (wanted > newest && nightly !== undefined) return nightly;
  const [nearest] = released.sort((x, y) => Math.abs(x.order - wanted) - Math.abs(y.order - wanted));
  return nearest?.name ?? (presetNames()[0] as PresetName);
}

/** `{"exampleInputs": {"model.py": {"f": "x=f32[8, 128]@cuda"}}}`, paths relative to the folder */
export function readExamples(folders: readonly string[]): ExampleInputs[] {
  return folders.flatMap(folder => {
    let parsed: unknown;
    try {
      parsed = JSON.parse(readFileSync(join(folder, ".vscode", "fuselens.json"), "utf8"));
    } catch {
      return []; // no file, or one that is being written
    }
    const files = (parsed as { exampleInputs?: unknown } | null)?.exampleInputs;
    if (typeof files !== "object" || files === null) return [];
    return Object.entries(files).flatMap(([file, roots]) =>
      typeof roots === "object" && roots !== null
        ? Object.entries(roots as Record<string, unknown>).flatMap(([root, inputs]) =>
            typeof inputs === "string" ? [{ path: isAbsolute(file) ? file : join(folder, file), root, inputs }] : [],
          )
        : [],
    );
  });
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
