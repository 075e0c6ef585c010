// Whether the rows of a roll-up are covered after a cycle. Verdicts are about normalised needs:
// a gang that was merged with its like is found in the verdict of the merged row.

import type { CycleOutput, Verdict } from '../model/cycle.ts';
import { type Need, needKey } from '../model/need.ts';
import { withoutSame } from '../model/profile.ts';
import { resourcesKey } from '../model/resources.ts';

export class Coverage {
  readonly #output: CycleOutput;
  readonly #places: ReadonlyMap<string, readonly number[]>;

  constructor(output: CycleOutput) {
    this.#output = output;
    this.#places = Map.groupBy(output.verdicts.keys(), (at) => needKey(this.#verdict(at).need));
  }

  /** A merged row can look like a plain one of the same size: then both must be covered. */
  isCovered(need: Need): boolean {
    const places = this.placesOf(need);
    return places.length > 0 && places.every((at) => this.#verdict(at).satisfied);
  }

  /** Indexes of the verdicts that speak for this row. */
  placesOf(need: Need): readonly number[] {
    const aggregate = resourcesKey(need.aggregate);
    const own = (this.#places.get(needKey(need)) ?? []).filter(
      (at) => resourcesKey(this.#verdict(at).need.aggregate) === aggregate,
    );
    if (own.length > 0 || need.profile.same === undefined) return own;
    const merged = { ...need, profile: withoutSame(need.profile), group: '' };
    return (this.#places.get(needKey(merged)) ?? []).filter(
      (at) => resourcesKey(this.#verdict(at).need.minUnit) === aggregate,
    );
  }

  verdictsOf(need: Need): readonly Verdict[] {
    return this.placesOf(need).map((at) => this.#verdict(at));
  }

  /** Machines that the row's verdicts claim, in id order of the claims map. */
  claimsOf(need: Need): string[] {
    const places = new Set(this.placesOf(need));
    return [...this.#output.claims].filter(([, at]) => places.has(at)).map(([id]) => id);
  }

  #verdict(at: number): Verdict {
    return this.#output.verdicts[at] as Verdict;
  }
}
