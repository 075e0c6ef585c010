// Which machines of a cluster are eligible for which of its needs: places in the cluster's
// supply, in keep order, once per set of eligible classes. They change only with the cluster's
// machines and needs, so a pass over an unchanged cluster looks at no machine in vain.
//
// A list may hold machines that are not eligible, never too few: where sets are so many that
// lists would outgrow the machines, the rest of the sets share the list of all.

import type { EligibleSet } from '../match/eligible-set.ts';
import { grown } from '../store/classes.ts';
import { CELL, CLASS, type ClusterSupply } from '../store/cluster-supply.ts';

/** Places listed per machine, on average; the bound on memory. */
const MAX_PLACES_PER_MACHINE = 16;

export class CandidateCells {
  #sets: readonly EligibleSet[] = [];
  #arrangement = -1;
  /** Places in `cells` of the supply. */
  places: Int32Array = new Int32Array(0);
  /** List `s` is `places` from `starts[s]` to `ends[s]`. */
  starts: Int32Array = new Int32Array(0);
  ends: Int32Array = new Int32Array(0);
  /** During crediting: places before it are claimed, or their class is of no use to the set. */
  cursors: Int32Array = new Int32Array(0);

  /** One list per set, without duplicates. */
  setUp(sets: readonly EligibleSet[]): void {
    this.#sets = sets;
    this.#arrangement = -1;
    if (this.starts.length >= sets.length) return;
    this.starts = new Int32Array(sets.length);
    this.ends = new Int32Array(sets.length);
    this.cursors = new Int32Array(sets.length);
  }

  /** Follows the supply, of which nothing is claimed yet. */
  begin(supply: ClusterSupply): void {
    if (this.#arrangement !== supply.arrangement) {
      this.#arrangement = supply.arrangement;
      this.#rebuild(supply);
    }
    this.cursors.set(this.starts);
  }

  #rebuild({ cells, boundEnd }: ClusterSupply): void {
    const count = boundEnd / CELL;
    let end = 0;
    for (let set = 0; set < this.#sets.length; set++) {
      this.#reserve(end + count);
      if (end > count * MAX_PLACES_PER_MACHINE) return this.#shareAll(set, end, boundEnd);
      const { flags } = (this.#sets[set] as EligibleSet).set;
      this.starts[set] = end;
      for (let at = 0; at < boundEnd; at += CELL) {
        if (flags[cells[at + CLASS]!] === 1) this.places[end++] = at;
      }
      this.ends[set] = end;
    }
  }

  #shareAll(firstSet: number, start: number, boundEnd: number): void {
    let end = start;
    for (let at = 0; at < boundEnd; at += CELL) this.places[end++] = at;
    this.starts.fill(start, firstSet);
    this.ends.fill(end, firstSet);
  }

  #reserve(needed: number): void {
    if (needed <= this.places.length) return;
    const room = Math.max(needed, this.places.length * 2);
    this.places = grown(this.places, new Int32Array(room));
  }
}
