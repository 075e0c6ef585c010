// List: an exact union of states, a hard ceiling, and cursors that may be threaded. A page cut by
// the ceiling returns the cursor of the last machine examined, not of the head, or whoever threads
// it would lose the rest. A capped sample without cursor starts elsewhere each time.

import type { FakeMachine } from './fake-machine.ts';

export interface Selection {
  /** Empty: any. */
  readonly states: ReadonlySet<number>;
  /** 0 or less: no ceiling. */
  readonly maxResults: number;
  /** Undefined: everything. */
  readonly since: number | undefined;
}

export interface Page {
  readonly machines: readonly FakeMachine[];
  /** Where to go on from. */
  readonly revision: number;
}

export interface Listable {
  readonly head: number;
  since(revision: number): Iterable<FakeMachine>;
}

export class Listing {
  readonly #log: Listable;
  #nextSample = 0;

  constructor(log: Listable) {
    this.#log = log;
  }

  list(selection: Selection): Page {
    const { states, maxResults, since } = selection;
    if (maxResults > 0 && states.size > 0 && since === undefined) return this.#sample(selection);
    const machines: FakeMachine[] = [];
    let examined = since ?? 0;
    for (const machine of this.#log.since(examined)) {
      if (maxResults > 0 && machines.length >= maxResults) return { machines, revision: examined };
      if (states.size === 0 || states.has(machine.state)) machines.push(machine);
      examined = machine.revision;
    }
    return { machines, revision: this.#log.head };
  }

  #sample({ states, maxResults }: Selection): Page {
    const matching = [...this.#log.since(0)].filter(({ state }) => states.has(state));
    const start = matching.length === 0 ? 0 : this.#nextSample % matching.length;
    const machines = [...matching.slice(start), ...matching.slice(0, start)].slice(0, maxResults);
    this.#nextSample = start + machines.length;
    return { machines, revision: 0 };
  }
}
