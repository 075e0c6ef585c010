// Engine §10: what Phase 2 left unresolved, by fingerprint. Summed over all needs that share it and
// aged once per cycle: several gangs of one shape must neither age an entry several times nor
// overwrite each other's deficit. What this cycle did not see is forgotten.

import { compareText } from '@bigfleet/base';
import type { CycleMemory, Shortfall, Verdict } from '../model/cycle.ts';
import { add, isZero, max } from '../model/resources.ts';
import { byPriority, type Ledger } from './ledger.ts';

const SHORTFALLS_REPORTED = 100;

export function nextShortfalls(
  ledger: Ledger,
  verdicts: readonly Verdict[],
): ReadonlyMap<string, Shortfall> {
  const shortfalls = new Map<string, Shortfall>();
  for (const { index, need, unresolved } of byPriority(ledger.entries)) {
    const reasonCode = verdicts[index]?.reasonCode;
    if (isZero(unresolved) || reasonCode === undefined) continue;
    const { fingerprint } = need.profile;
    const known = shortfalls.get(fingerprint);
    if (known === undefined) {
      shortfalls.set(fingerprint, {
        profile: need.profile,
        deficit: unresolved,
        minUnit: need.minUnit,
        ageCycles: ageOf(ledger.input.memory, fingerprint) + 1,
        reasonCode,
        clusters: [need.cluster],
      });
      continue;
    }
    shortfalls.set(fingerprint, {
      ...known,
      deficit: add(known.deficit, unresolved),
      minUnit: max(known.minUnit, need.minUnit),
      clusters: [...new Set([...known.clusters, need.cluster])].sort(compareText),
    });
  }
  return shortfalls;
}

/** Priority desc, age desc, fingerprint asc; a shard reports at most a hundred. */
export function reportShortfalls(ledger: ReadonlyMap<string, Shortfall>): readonly Shortfall[] {
  return [...ledger.values()]
    .sort(
      (a, b) =>
        b.profile.priority - a.profile.priority ||
        b.ageCycles - a.ageCycles ||
        compareText(a.profile.fingerprint, b.profile.fingerprint),
    )
    .slice(0, SHORTFALLS_REPORTED);
}

function ageOf(memory: CycleMemory, fingerprint: string): number {
  return memory.shortfalls.get(fingerprint)?.ageCycles ?? 0;
}
