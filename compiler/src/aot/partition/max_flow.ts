// Minimum cut. In: a directed network of numbered nodes with capacities, source and sink. Out: the nodes on the sink's side
// of the cut that lies closest to the sink. Promises: the answer does not depend on which maximum flow is found. Method: Dinic's
// blocking flows (E. A. Dinic, 1970), then a search backwards from the sink over edges with capacity left.

export class FlowNetwork {
  private readonly heads: number[] = [];
  private readonly capacities: number[] = [];
  private readonly adjacency: number[][] = [];

  /** nodes are numbered in order */
  addNode(): number {
    return this.adjacency.push([]) - 1;
  }

  addEdge(from: number, to: number, capacity: number): void {
    (this.adjacency[from] as number[]).push(this.heads.length);
    this.heads.push(to);
    this.capacities.push(capacity);
    (this.adjacency[to] as number[]).push(this.heads.length);
    this.heads.push(from);
    this.capacities.push(0);
  }

  /** the nodes on the sink's side, `t`, when `s` is the source. @throws RangeError if no finite cut exists */
  sinkSide(s: number, t: number): ReadonlySet<number> {
    for (;;) {
      const level = this.levels(s, t);
      if ((level[t] as number) < 0) break;
      const next = this.adjacency.map(() => 0);
      while (this.augment(s, t, level, next)) {
        // one path at a time until the level graph is blocked
      }
    }
    const side = new Set<number>([t]);
    const queue = [t];
    for (let v = queue.pop(); v !== undefined; v = queue.pop()) {
      for (const e of this.adjacency[v] as number[]) {
        const u = this.heads[e] as number;
        if (!side.has(u) && (this.capacities[e ^ 1] as number) > 0) {
          side.add(u);
          queue.push(u);
        }
      }
    }
    return side;
  }

  private levels(s: number, t: number): number[] {
    const level = this.adjacency.map(() => -1);
    level[s] = 0;
    const queue = [s];
    for (let i = 0; i < queue.length; i++) {
      const v = queue[i] as number;
      if (v === t) break;
      for (const e of this.adjacency[v] as number[]) {
        const u = this.heads[e] as number;
        if ((level[u] as number) < 0 && (this.capacities[e] as number) > 0) {
          level[u] = (level[v] as number) + 1;
          queue.push(u);
        }
      }
    }
    return level;
  }

  /** pushes flow along one path of the level graph; false when none is left */
  private augment(s: number, t: number, level: readonly number[], next: number[]): boolean {
    const path: number[] = [];
    let v = s;
    while (v !== t) {
      const edges = this.adjacency[v] as number[];
      let found = false;
      for (; (next[v] as number) < edges.length; next[v] = (next[v] as number) + 1) {
        const e = edges[next[v] as number] as number;
        const u = this.heads[e] as number;
        if ((this.capacities[e] as number) > 0 && level[u] === (level[v] as number) + 1) {
          path.push(e);
          v = u;
          found = true;
          break;
        }
      }
      if (found) continue;
      const back = path.pop();
      if (back === undefined) return false;
      v = this.heads[back ^ 1] as number;
      next[v] = (next[v] as number) + 1;
    }
    const flow = Math.min(...path.map(e => this.capacities[e] as number));
    if (!Number.isFinite(flow)) throw new RangeError("no finite cut exists");
    for (const e of path) {
      this.capacities[e] = (this.capacities[e] as number) - flow;
      this.capacities[e ^ 1] = (this.capacities[e ^ 1] as number) + flow;
    }
    return true;
  }
}
