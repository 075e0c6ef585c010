// Numbers and lines from the whole shortfall ledger (shard §12.1), never from the part that is
// reported up: the sum over priority classes must equal the total, exactly. Pure.

import { compareText, type PriorityClass, priorityClassOf } from '@bigfleet/base';
import { ESCALATE_AFTER_CYCLES, type Shortfall } from '@bigfleet/engine';

export const AGE_BUCKETS = ['1-9', '10-59', '60-299', '300+'] as const;
export type AgeBucket = (typeof AGE_BUCKETS)[number];

const OLDEST_SHOWN = 3;

export interface ShortfallSummary {
  readonly count: number;
  readonly escalatedCount: number;
  readonly byAge: Readonly<Record<AgeBucket, number>>;
  readonly byPriority: Readonly<Record<PriorityClass | 'other', number>>;
  /** Fingerprints of the three oldest; by age, then priority. */
  readonly oldest: readonly string[];
  /** Those that crossed the threshold in this cycle: each entry once in its life. */
  readonly newlyEscalated: readonly Shortfall[];
}

export function summariseShortfalls(shortfalls: ReadonlyMap<string, Shortfall>): ShortfallSummary {
  const byAge = { '1-9': 0, '10-59': 0, '60-299': 0, '300+': 0 };
  const byPriority = { critical: 0, service: 0, batch: 0, other: 0 };
  const newlyEscalated: Shortfall[] = [];
  const oldest: Shortfall[] = [];
  let escalatedCount = 0;
  for (const shortfall of shortfalls.values()) {
    const { ageCycles, profile } = shortfall;
    byAge[ageBucketOf(ageCycles)] += 1;
    byPriority[priorityClassOf(profile.priority)] += 1;
    if (ageCycles > ESCALATE_AFTER_CYCLES) escalatedCount += 1;
    if (ageCycles === ESCALATE_AFTER_CYCLES + 1) newlyEscalated.push(shortfall);
    keepOldest(oldest, shortfall);
  }
  return {
    count: shortfalls.size,
    escalatedCount,
    byAge,
    byPriority,
    oldest: oldest.map(({ profile }) => profile.fingerprint),
    newlyEscalated,
  };
}

function ageBucketOf(ageCycles: number): AgeBucket {
  if (ageCycles < 10) return '1-9';
  if (ageCycles < 60) return '10-59';
  return ageCycles < 300 ? '60-299' : '300+';
}

/** One pass: a ledger may hold tens of thousands of entries, and three are shown. */
function keepOldest(oldest: Shortfall[], shortfall: Shortfall): void {
  const last = oldest[OLDEST_SHOWN - 1];
  if (last !== undefined && compareAge(last, shortfall) <= 0) return;
  if (last !== undefined) oldest.pop();
  oldest.push(shortfall);
  oldest.sort(compareAge);
}

function compareAge(a: Shortfall, b: Shortfall): number {
  if (a.ageCycles !== b.ageCycles) return b.ageCycles - a.ageCycles;
  if (a.profile.priority !== b.profile.priority) return b.profile.priority - a.profile.priority;
  return compareText(a.profile.fingerprint, b.profile.fingerprint);
}
