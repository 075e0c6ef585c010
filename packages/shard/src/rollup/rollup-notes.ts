// Roll-ups that were refused or held since the last cycle, until its record takes them: by cluster
// and code, with the last detail. Bounded: an operator that sends garbage in a loop is one row, and
// of clusters beyond the bound only the number is kept. The log has a line for each of them.

import type { RefusedRollup, RefusedRollups } from '@bigfleet/engine';

const MAX_ROWS = 256;
const MAX_DETAIL_CHARS = 200;

export class RefusedRollupLog {
  #rows = new Map<string, RefusedRollup>();
  #unnamedCount = 0;

  note(cluster: string, code: string, detail: string): void {
    const key = `${code} ${cluster}`;
    const known = this.#rows.get(key);
    if (known === undefined && this.#rows.size >= MAX_ROWS) {
      this.#unnamedCount += 1;
      return;
    }
    const count = (known?.count ?? 0) + 1;
    this.#rows.set(key, { cluster, code, count, detail: detail.slice(0, MAX_DETAIL_CHARS) });
  }

  /** Everything noted so far; it is forgotten here. */
  take(): RefusedRollups {
    const taken = { rollups: [...this.#rows.values()], unnamedRollupCount: this.#unnamedCount };
    this.#rows = new Map();
    this.#unnamedCount = 0;
    return taken;
  }
}
