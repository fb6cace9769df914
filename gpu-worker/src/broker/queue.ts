// A fair queue: clients take turns, each client's jobs stay in order. No client waits while another gets two turns.

export class FairQueue<T> {
  private readonly byClient = new Map<string, T[]>();
  private turns: string[] = [];

  get length(): number {
    let n = 0;
    for (const jobs of this.byClient.values()) n += jobs.length;
    return n;
  }

  push(client: string, job: T): void {
    const jobs = this.byClient.get(client);
    if (jobs) jobs.push(job);
    else {
      this.byClient.set(client, [job]);
      this.turns.push(client);
    }
  }

  /** puts a job back where it was: first of its client, and that client's turn next */
  unshift(client: string, job: T): void {
    const jobs = this.byClient.get(client);
    if (jobs) jobs.unshift(job);
    else this.byClient.set(client, [job]);
    this.turns = [client, ...this.turns.filter(c => c !== client)];
  }

  shift(accept: (job: T) => boolean = () => true): T | undefined {
    for (const [position, client] of this.turns.entries()) {
      const jobs = this.byClient.get(client) ?? [];
      const at = jobs.findIndex(accept);
      if (at < 0) continue;
      const [job] = jobs.splice(at, 1);
      this.turns.splice(position, 1);
      if (jobs.length) this.turns.push(client);
      else this.byClient.delete(client);
      return job;
    }
    return undefined;
  }

  remove(matches: (job: T) => boolean): T[] {
    const removed: T[] = [];
    for (const [client, jobs] of [...this.byClient]) {
      const kept = jobs.filter(j => !matches(j));
      removed.push(...jobs.filter(matches));
      if (kept.length) this.byClient.set(client, kept);
      else {
        this.byClient.delete(client);
        this.turns = this.turns.filter(c => c !== client);
      }
    }
    return removed;
  }
}
