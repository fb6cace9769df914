// Answers to conditions that nobody can know here. In: questions in the order in which a compiled call asks them. Out:
// answers: those that are forced, then true. A call whose answers are known can be run again with another of them, so
// that both ways of a branch are compiled.

/** a condition asked so often at one place is a loop's: it ends */
const ROUNDS = 8;

export class Decisions {
  private forced: readonly boolean[] = [];
  private readonly given: boolean[] = [];
  private readonly asked = new Map<string, number>();

  begin(forced: readonly boolean[]): void {
    this.forced = forced;
    this.given.length = 0;
    this.asked.clear();
  }
  /** `place` tells one condition of the program from another */
  ask(place: string): boolean {
    const n = (this.asked.get(place) ?? 0) + 1;
    this.asked.set(place, n);
    const answer = this.forced[this.given.length] ?? n <= ROUNDS;
    this.given.push(answer);
    return answer;
  }
  get made(): readonly boolean[] {
    return this.given;
  }
  /** forgets answers of an attempt that starts again */
  rewind(length: number): void {
    this.given.length = Math.min(length, this.given.length);
  }
  /** whether what was compiled under these answers fits the ones to come */
  fits(answers: readonly boolean[]): boolean {
    return answers.every((a, i) => (this.forced[this.given.length + i] ?? true) === a);
  }
}

/** the other ways: each answer from `from` on turned, the ones before it kept */
export function otherWays(made: readonly boolean[], from: number): boolean[][] {
  return made.slice(from).map((answer, i) => [...made.slice(0, from + i), !answer]);
}
