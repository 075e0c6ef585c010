// Runs one cycle and reads its decision record back, the way a shard and its readers do.

import { assert } from '@bigfleet/base';
import type { Engine } from '../../cycle/engine.ts';
import { loadEngine } from '../../cycle/plain.ts';
import type { CycleInput } from '../../model/cycle.ts';
import type { Need } from '../../model/need.ts';
import { decodeRecord } from '../../record/decode.ts';
import type { DecisionRecord } from '../../record/format.ts';
import type { NeedRef } from '../answer.ts';

export interface Decided {
  readonly engine: Engine;
  readonly bytes: Uint8Array;
  readonly record: DecisionRecord;
}

export function decide(input: CycleInput): Decided {
  const engine = loadEngine(input);
  engine.cycle({ nowMs: input.nowMs, quotaRemaining: input.quotaRemaining });
  const bytes = engine.record.slice();
  const decoded = decodeRecord(bytes);
  assert(decoded.ok, 'a fresh record must be readable');
  return { engine, bytes, record: decoded.value };
}

export function refTo({ cluster, profile, group }: Need): NeedRef {
  return { cluster, fingerprint: profile.fingerprint, group };
}
