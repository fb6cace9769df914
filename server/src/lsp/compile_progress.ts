// Work-done progress of a compile that the reader would notice, with a cancel that holds until the next edit.
import type { Connection, WorkDoneProgressServerReporter } from "vscode-languageserver/node";

/** below this, a bar would only flicker */
const NOTICEABLE_MS = 700;

export class CompileProgress {
  enabled = false;
  private path: string | null = null;
  private timer: NodeJS.Timeout | undefined;
  private reporter: Promise<WorkDoneProgressServerReporter | null> | null = null;

  constructor(
    private readonly connection: Connection,
    private readonly cancel: (path: string) => void,
  ) {}

  /** null: nothing is compiled any more */
  running(path: string | null): void {
    this.path = path;
    if (path === null) {
      clearTimeout(this.timer);
      this.timer = undefined;
      const { reporter } = this;
      this.reporter = null;
      void reporter?.then(r => r?.done());
    } else if (this.enabled && this.timer === undefined) {
      this.timer = setTimeout(() => this.show(), NOTICEABLE_MS);
      this.timer.unref();
    }
  }

  private show(): void {
    if (this.path === null || this.reporter) return;
    const { path } = this;
    this.reporter = this.connection.window.createWorkDoneProgress().then(
      r => {
        r.begin("FuseLens", undefined, `compiling ${path.replace(/^.*[\\/]/, "")}`, true);
        r.token.onCancellationRequested(() => this.path !== null && this.cancel(this.path));
        return r;
      },
      () => null,
    );
  }
}
