// What preset `fuselens` would make of open documents, found out beside the typing: some time after the last edit, in the
// side thread, for one document at a time. In: analyses. Out: per program, the better schedules; `onFound` when there are
// some to show. An edit gives up what runs for the older text.
import type { SideRequest, SideThread } from "../analysis/side_thread";
import { BETTER_PRESET, type BetterSchedules, betterSchedules } from "../ide/better";
import type { EditorProgram } from "../ide/model";

/** after an edit people go on typing, and a second compile would only take processors from the first */
const PAUSE_MS = 1500;

interface Running {
  readonly timer: NodeJS.Timeout;
  readonly listeners: (() => void)[];
  cancelled: boolean;
}

export class Suggestions {
  private readonly found = new WeakMap<EditorProgram, BetterSchedules>();
  private readonly running = new Map<string, Running>();

  constructor(
    private readonly side: SideThread,
    private readonly onFound: () => void,
  ) {}

  /** undefined: not known (yet) */
  of(program: EditorProgram): BetterSchedules | undefined {
    return this.found.get(program);
  }

  /** A document was analysed; `request` asks for the other compile, under the other preset. */
  schedule(program: EditorProgram, request: () => SideRequest): void {
    this.drop(program.file);
    if (program.preset === BETTER_PRESET || !program.compilations.some(c => c.graph.kernels.length > 1)) return;
    const timer = setTimeout(() => void this.run(program, request(), entry), PAUSE_MS);
    timer.unref();
    const entry: Running = { timer, listeners: [], cancelled: false };
    this.running.set(program.file, entry);
  }

  drop(path: string): void {
    const entry = this.running.get(path);
    if (!entry) return;
    this.running.delete(path);
    clearTimeout(entry.timer);
    entry.cancelled = true;
    for (const l of entry.listeners) l();
  }

  dispose(): void {
    for (const path of [...this.running.keys()]) this.drop(path);
  }

  private async run(program: EditorProgram, request: SideRequest, entry: Running): Promise<void> {
    const cancellation = {
      get isCancellationRequested() {
        return entry.cancelled;
      },
      onCancellationRequested: (listener: () => void) => entry.listeners.push(listener),
    };
    try {
      const { graphs } = await this.side.run(request, { want: "schedules" }, cancellation);
      if (entry.cancelled) return;
      const better = betterSchedules(
        program.compilations.map(c => c.graph),
        graphs,
      );
      this.found.set(program, better);
      if (better.some(b => b !== null)) this.onFound();
    } catch {
      // cancelled, or the compiler failed on it: the document's own compile says so where it matters
    } finally {
      if (this.running.get(program.file) === entry) this.running.delete(program.file);
    }
  }
}
