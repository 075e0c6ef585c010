// A wrong provider, as it stands in the registry: the kit's right one with one thing wrong in it,
// the bug out there that it stands for, and everything of the suite that must notice.

import type { Layers } from '../../harness/testing/layers.ts';

export interface Mutant {
  /** Kebab-case: how `--only` and the table call it. */
  readonly name: string;
  /** One sentence: what this provider does. */
  readonly wrong: string;
  /** One sentence: how a reasonable author comes to ship it. */
  readonly story: string;
  /** Every behaviour of the 93 that fails on it, in the order of the catalogue; no other does. */
  readonly caughtBy: readonly string[];
  /** Whether the baseline alone would have refused it. */
  readonly isSeenByBaseline: boolean;
  /** Made anew per provider, because some wrongs remember what they saw. */
  readonly make: () => Layers;
}

/** Ids with blanks between them: some mutants fail half of the catalogue. */
export function ids(text: string): readonly string[] {
  return text.split(/\s+/).filter((id) => id !== '');
}
