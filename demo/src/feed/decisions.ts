// The last decisions with their reason, read from the engine's own decision records: nothing is
// worked out again here. A record that does not decode is counted and shown as such.

import { type ActionReason, actionReasons } from '@bigfleet/base';
import {
  actionKindName,
  type DecisionRecord,
  decodeRecord,
  isDispositions,
  type RecordedAction,
} from '@bigfleet/engine';

export interface Decision {
  readonly cycle: number;
  readonly kind: string;
  readonly machineId: string;
  /** Destination or source; empty for a Delete. */
  readonly cluster: string;
  readonly dollarsPerHour: number;
  readonly reason: string;
}

const KEPT = 12;

export class Decisions {
  #latest: readonly Decision[] = [];
  #totalCount = 0;
  #damagedCount = 0;

  /** Newest last. */
  get latest(): readonly Decision[] {
    return this.#latest;
  }

  /** Since the start, however many are kept. */
  get totalCount(): number {
    return this.#totalCount;
  }

  get damagedCount(): number {
    return this.#damagedCount;
  }

  add(payload: Uint8Array): void {
    // What became of the actions; decisions are shown here.
    if (isDispositions(payload)) return;
    const record = decodeRecord(payload);
    if (!record.ok) {
      this.#damagedCount += 1;
      return;
    }
    const decided = record.value.actions.map((action) => decisionOf(record.value, action));
    this.#totalCount += decided.length;
    this.#latest = [...this.#latest, ...decided].slice(-KEPT);
  }
}

function decisionOf(record: DecisionRecord, action: RecordedAction): Decision {
  const { machineId, cluster, shape } = action;
  const kind = actionKindName(action.kind);
  const { cycle } = record;
  const reason = `${reasonOf(kind)}${gangOf(record, action)}`;
  return { cycle, kind, machineId, cluster, dollarsPerHour: shape.pricePerHour, reason };
}

/** Each kind of action that a shard decides has one reason (engine §15.1). */
function reasonOf(kind: string): string {
  const codes = Object.keys(actionReasons) as ActionReason[];
  const code = codes.find(
    (candidate) =>
      actionReasons[candidate].actionKind === kind && !candidate.startsWith('coordinator.'),
  );
  return code === undefined ? 'unknown' : `${code}: ${actionReasons[code].meaning}`;
}

function gangOf({ needs }: DecisionRecord, { need }: RecordedAction): string {
  const domain = needs[need]?.domain ?? '';
  return domain === '' ? '' : ` (gang in ${domain})`;
}
