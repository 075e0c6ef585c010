// The needs as readers of the feed know them: encoded rows, kept up to date by what the engine's
// thread says has changed. Kept only while somebody watches needs: a few hundred bytes per row.

import type { EngineHost } from '../../engine-host/engine-host.ts';
import { type NeedChange, refKey } from './cycle-changes.ts';

export class NeedMirror {
  readonly #host: Pick<EngineHost, 'needChanges'>;
  readonly #rows = new Map<string, NeedChange>();
  #isLive = false;
  /** How often it was dropped: a pull that was under way then has lost its first pages. */
  #drops = 0;
  /** The engine gives its changes to one asker: one at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(host: Pick<EngineHost, 'needChanges'>) {
    this.#host = host;
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  /** Fills it, unless it is kept up to date already. */
  start(): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#isLive) await this.#pull();
    });
  }

  /** What changed up to the last cycle, to be told to every reader. */
  update(): Promise<readonly NeedChange[]> {
    return this.#inTurn(() => this.#pull());
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work);
    // The next in line must not fail for this one's reason; the caller hears it.
    this.#last = next.catch(() => undefined);
    return next;
  }

  drop(): void {
    this.#isLive = false;
    this.#drops += 1;
    this.#rows.clear();
  }

  /** What comes and goes while they are read may be in it; the deltas say so again. */
  rows(): Iterable<NeedChange> {
    return this.#rows.values();
  }

  async #pull(): Promise<readonly NeedChange[]> {
    const changes: NeedChange[] = [];
    let isFresh = !this.#isLive;
    if (isFresh) this.#rows.clear();
    const drops = this.#drops;
    for (;;) {
      const page = await this.#host.needChanges(isFresh);
      isFresh = false;
      for (const change of page.changed) {
        this.#rows.set(refKey(change.ref), change);
        changes.push(change);
      }
      for (const ref of page.removed) {
        this.#rows.delete(refKey(ref));
        changes.push({ ref, bytes: undefined });
      }
      if (!page.hasMore || drops !== this.#drops) break;
    }
    if (drops === this.#drops) this.#isLive = true;
    else this.#rows.clear();
    return changes;
  }
}
