// What a file's own code says of its modules and functions without compiling them: calls at module level, functions that
// need no arguments (factories, tests, demos), docstring examples. In: the program. Out: for each class and function the
// first call of it, with its arguments, and the instances that factories make.
import type * as ast from "../../../python/ast";
import { PythonFile } from "../../../python/file";
import { walk } from "../../../python/walk";
import { compileModule } from "../../code/compiler";
import type { SourceFile } from "../../code/instructions";
import { Interrupted, PyError } from "../../interp/api";
import { Frame, PyFunction } from "../../interp/frame";
import type { Machine } from "../../interp/machine";
import {
  PyClass,
  PyDict,
  PyInstance,
  PyList,
  type PyModule,
  PyTuple,
  PyUnknown,
  type Value,
} from "../../objects/values";
import type { Torch } from "../../torch/context";
import { PyTensor } from "../../torch/objects";
import { fillUnknown } from "../unknown_numbers";
import { buildersIn, driversIn, type Example, needsNothing } from "./elsewhere";

export interface Call {
  readonly target: PyInstance | PyFunction;
  readonly args: readonly Value[];
  readonly kwargs: ReadonlyMap<string, Value>;
  readonly grad: boolean;
  readonly training: boolean;
  /** "called at line 12" */
  readonly how: string;
}

export interface Instance {
  readonly value: PyInstance;
  /** "built by resnet18()" */
  readonly how: string;
}

/** steps that one driver may take, and how many are run: analysis goes on while one types */
const STEPS_PER_DRIVER = 3_000_000;
const DRIVERS = 24;
/** functions and tests of one other file that are run as scripts */
const DRIVERS_ELSEWHERE = 3;
/** and of all of them together: what they show is worth a second at most */
const STEPS_OF_DRIVERS = 8_000_000;

export class Evidence {
  readonly calls = new Map<PyClass | PyFunction, Call>();
  readonly instances = new Map<PyClass, Instance>();

  /** the example that is running; null: the program itself */
  private example: Example | null = null;

  constructor(
    private readonly vm: Machine,
    private readonly torch: Torch,
    private readonly main: PyModule,
  ) {}

  /**
   * Notes the outermost calls of modules, and of the file's functions, that plain code makes while `f` runs, and the modules
   * that it builds. What rests on values that nobody knows here is no evidence.
   */
  watching<T>(f: () => T): T {
    const { vm } = this;
    const outer = vm.frameHook;
    vm.frameHook = frame => {
      const taken = outer?.(frame);
      return taken === undefined ? this.see(frame) : taken;
    };
    try {
      return f();
    } finally {
      vm.frameHook = outer;
    }
  }

  /** the value of a frame that was run here; undefined: it is still to run */
  private see(frame: Frame): Value | undefined {
    if (this.torch.trace || frame.code.file.library !== "user" || !frame.func) return undefined;
    if (frame.code.name === "__init__") return this.seeConstructor(frame);
    this.seeCall(frame, frame.func);
    return undefined;
  }

  private seeCall(frame: Frame, func: PyFunction): void {
    const { torch, vm } = this;
    if (frame.code.name === "forward") {
      const self = frame.locals[0];
      if (!(self instanceof PyInstance) || !torch.isModule(self) || frame.locals.some(v => isUnknown(v ?? null)))
        return;
      if (this.insideOwnModule()) return;
      const cls = this.own(self.cls);
      if (!this.calls.has(cls)) this.calls.set(cls, this.call(frame, self));
      return;
    }
    if (frame.globals !== this.main.dict || this.main.dict.get(frame.code.name) !== func) return;
    if (vm.frames.some(f => f.code.name === "forward" && torch.isModule(f.locals[0] ?? null))) return;
    if (this.calls.has(func) || !frame.locals.some(v => hasTensor(v ?? null))) return;
    if (frame.locals.some(v => isUnknown(v ?? null))) return;
    this.calls.set(func, this.call(frame, func));
  }

  /** the class of the analysed file itself, where another file has imported a copy of it */
  private own(cls: PyClass): PyClass {
    const v = cls.place?.file === this.main.dict.get("__file__") ? this.main.dict.get(cls.name) : undefined;
    return v instanceof PyClass ? v : cls;
  }

  /** whether a module of the analysed file is running: what it calls are its parts */
  private insideOwnModule(): boolean {
    const path = this.main.dict.get("__file__");
    return this.vm.frames.some(f => {
      const self = f.code.name === "forward" ? f.locals[0] : undefined;
      return (
        self instanceof PyInstance && this.torch.isModule(self) && (!this.example || self.cls.place?.file === path)
      );
    });
  }

  /** a module that the program builds for itself, not as a part of another; one whose constructor fails is none */
  private seeConstructor(frame: Frame): Value | undefined {
    const { torch, vm } = this;
    const self = frame.locals[0];
    if (!(self instanceof PyInstance) || !torch.isModule(self)) return undefined;
    const cls = this.own(self.cls);
    if (self.cls.place?.file !== this.main.dict.get("__file__") || this.instances.has(cls)) return undefined;
    const path = this.main.dict.get("__file__");
    const whole = (v: Value): boolean =>
      v instanceof PyInstance && torch.isModule(v) && v !== self && (!this.example || v.cls.place?.file === path);
    if (vm.frames.some(f => f.code.name === "__init__" && whole(f.locals[0] ?? null))) return undefined;
    const guessed = fillUnknown(frame);
    if (frame.locals.some(v => isUnknown(v ?? null))) return undefined;
    const how = [`as ${this.lineOf() ?? "an example"} builds it`, ...guessed].join(", ");
    const done = vm.run(frame);
    if (!this.instances.has(cls)) this.instances.set(cls, { value: self, how });
    return done;
  }

  private lineOf(): string | undefined {
    const user = [...this.vm.frames].reverse().find(f => f.code.file.library === "user");
    const line = user?.code.instructions[Math.max(0, user.pc - 1)]?.at.span.line;
    if (line === undefined) return undefined;
    return this.example ? `${this.example.shown}` : `line ${line}`;
  }

  private call(frame: Frame, target: PyInstance | PyFunction): Call {
    const { code } = frame;
    const slot = (name: string): Value => frame.locals[code.varnames.indexOf(name)] ?? null;
    const s = code.signature;
    const named = s ? [...s.posonlyargs, ...s.args].map(a => a.arg) : [];
    const rest = s?.vararg ? slot(s.vararg.arg) : null;
    const args = [
      ...named.map(slot).slice(target instanceof PyInstance ? 1 : 0),
      ...(rest instanceof PyTuple ? rest.items : []),
    ];
    const kwargs = new Map<string, Value>((s?.kwonlyargs ?? []).map(a => [a.arg, slot(a.arg)]));
    const more = s?.kwarg ? slot(s.kwarg.arg) : null;
    if (more instanceof PyDict) for (const [k, v] of more.entries()) kwargs.set(String(k), v);
    return {
      target,
      args,
      kwargs,
      grad: this.torch.gradEnabled,
      training: target instanceof PyInstance && target.attrs?.get("training") === true,
      how: `as ${this.lineOf() ?? "an example"} calls it`,
    };
  }

  // ---- functions that need no arguments, and examples

  /** `quietly` runs code that leaves nothing in the program's log */
  runDrivers(parsed: PythonFile, quietly: (f: () => void) => void): void {
    const { vm, main } = this;
    let left = DRIVERS;
    const end = vm.steps + STEPS_OF_DRIVERS;
    const spent = (): boolean => left === 0 || vm.steps >= end;
    for (const s of parsed.module.body) {
      if (s.kind !== "FunctionDef" || spent() || !needsNothing(s)) continue;
      const value = main.dict.get(s.name);
      if (!(value instanceof PyFunction)) continue;
      const classes = this.classesBehind(s, new Set());
      if (classes.length === 0 || classes.every(c => this.calls.has(c) || this.instances.has(c))) continue;
      left--;
      quietly(() => {
        const made = this.attempt(() => vm.call(value, []));
        if (made instanceof PyInstance && this.torch.isModule(made) && !this.instances.has(made.cls)) {
          this.instances.set(made.cls, { value: made, how: `built by ${s.name}()` });
        }
      });
    }
    for (const s of parsed.module.body) {
      if (s.kind !== "FunctionDef" && s.kind !== "ClassDef") continue;
      const text = exampleIn(s);
      const value = main.dict.get(s.name);
      const known = value instanceof PyFunction || value instanceof PyClass ? this.calls.has(value) : true;
      if (text === "" || known || spent()) continue;
      left--;
      quietly(() => this.attempt(() => this.runExample(text)));
    }
  }

  private attempt(f: () => Value): Value {
    const { vm, torch } = this;
    const { gradEnabled, autocast, defaultDtype, defaultDevice } = torch;
    try {
      return vm.withSteps(STEPS_PER_DRIVER, () => this.watching(f));
    } catch (e) {
      if (e instanceof Interrupted && (vm.steps >= vm.host.stepBudget || vm.host.shouldStop())) throw e;
      if (!(e instanceof PyError) && !(e instanceof Interrupted) && !(e instanceof Error)) throw e;
      return null;
    } finally {
      vm.frames.length = 0;
      torch.trace = null;
      vm.observer = null;
      Object.assign(torch, { gradEnabled, autocast, defaultDtype, defaultDevice });
    }
  }

  /**
   * Runs what other files show of a class until it has been called. `execute` runs a text of the project as a script and
   * gives its globals, which are returned: a class that was not built may be built by their functions.
   */
  runElsewhere(
    cls: PyClass,
    examples: readonly Example[],
    execute: (e: Example) => PyDict,
    quietly: (f: () => void) => void,
  ): readonly PyDict[] {
    const { vm } = this;
    const seen: PyDict[] = [];
    const run = (e: Example): PyDict | null => {
      let globals: PyDict | null = null;
      quietly(() =>
        this.attempt(() => {
          globals = execute(e);
          return null;
        }),
      );
      return globals;
    };
    for (const e of examples) {
      if (this.calls.has(cls)) break;
      this.example = e;
      try {
        const globals = run(e);
        if (globals !== null) seen.push(globals);
        if (this.calls.has(cls) || globals === null || !e.path.endsWith(".py")) continue;
        const { module } = new PythonFile(e.text);
        for (const name of buildersIn(module, cls.name).slice(0, 4)) {
          const f = globals.get(name);
          if (f instanceof PyFunction && !this.calls.has(cls)) quietly(() => this.attempt(() => vm.call(f, [])));
        }
        // a function that ends with an error before it comes to the class, and tests, as scripts that go on after it
        for (const driver of driversIn(module, e.text, cls.name).slice(0, DRIVERS_ELSEWHERE))
          if (!this.calls.has(cls) && !this.instances.has(cls)) run({ ...e, text: `${e.text}\n${driver}` });
      } finally {
        this.example = null;
      }
    }
    return seen;
  }

  private runExample(text: string): Value {
    const { vm, main } = this;
    const parsed = new PythonFile(text);
    const file: SourceFile = { name: "<example>", lines: text.split("\n"), library: "hidden" };
    const globals = vm.dict(main.dict.entries().map(([k, v]) => [String(k), v] as const));
    const frame = new Frame(compileModule(parsed.module, file, text), globals, null, []);
    frame.names = globals;
    vm.run(frame);
    return null;
  }

  /** the module classes of the file that a function builds, directly or through other functions of the file */
  private classesBehind(f: ast.FunctionDef, seen: Set<string>): PyClass[] {
    const out: PyClass[] = [];
    walk(f.body, n => {
      if (n.kind !== "Name" || seen.has(n.id)) return;
      const v = this.main.dict.get(n.id);
      if (this.torch.isModuleClass(v)) {
        seen.add(n.id);
        if (v.place?.file === this.main.dict.get("__file__")) out.push(v);
      } else if (v instanceof PyFunction && v.globals === this.main.dict && v.code.body) {
        seen.add(n.id);
        walk(v.code.body, m => {
          const c = m.kind === "Name" ? this.main.dict.get(m.id) : undefined;
          if (this.torch.isModuleClass(c)) out.push(c);
        });
      }
    });
    return out;
  }
}

/** the `>>>` lines of a docstring, and of its class's forward */
function exampleIn(def: ast.FunctionDef | ast.ClassDef): string {
  const docs = [def, ...(def.kind === "ClassDef" ? def.body.filter(s => s.kind === "FunctionDef") : [])].map(d => {
    const first = d.body[0];
    return first?.kind === "Expr" && first.value.kind === "Constant" && first.value.value.type === "str"
      ? first.value.value.value
      : "";
  });
  return docs
    .flatMap(d => d.split("\n"))
    .flatMap(l => {
      const m = /^\s*(?:>>>|\.\.\.) ?(.*)$/.exec(l);
      return m ? [m[1] ?? ""] : [];
    })
    .join("\n");
}

function hasTensor(v: Value): boolean {
  if (v instanceof PyTensor) return true;
  if (v instanceof PyTuple || v instanceof PyList) return v.items.some(hasTensor);
  return false;
}

function isUnknown(v: Value): boolean {
  if (v instanceof PyUnknown) return true;
  if (v instanceof PyDict) return v.values().some(x => x instanceof PyUnknown);
  return (v instanceof PyTuple || v instanceof PyList) && v.items.some(isUnknown);
}
