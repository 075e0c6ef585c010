// One small trace with every kind of entry, for the test that pins the bytes of the format.

import { PINNED_BUCKET } from '@bigfleet/base';
import { machineTypeKey } from '../../model/brakes.ts';
import { heldOffKey } from '../../model/cycle.ts';
import { ActionKind } from '../../model/action.ts';
import { State } from '../../model/state.ts';
import { acrossZones, assignmentFor, cores, machine, need, RACK_KEY } from '../../testing/build.ts';
import { hashActions } from './hash-actions.ts';
import type { DecidedAction, TraceEntry } from '../entry.ts';

const plain = need({ wants: cores(3), unit: cores(1), arrival: 1_767_225_600_000_000_000n });
const gang = need({
  wants: new Map([
    ['cpu', 4000],
    ['memory', 2 ** 33 + 1],
  ]),
  same: RACK_KEY,
  sameValues: ['r1', 'r2'],
  spread: [acrossZones(2)],
  group: 'g\ud800',
  priority: -5,
  interruption: Number.POSITIVE_INFINITY,
  arrival: -1n,
});
const preempt: DecidedAction = {
  kind: ActionKind.Preempt,
  machineId: 'machine-2',
  cluster: 'a',
  fingerprint: '',
  group: '',
  graceSeconds: 30,
  preemptorPriority: 2 ** 31 - 1,
};
const spot = machine({
  id: 'machine-2',
  state: 'Configured',
  serves: gang,
  rack: 'r1',
  price: 0.1,
  probability: 0.5,
  withheld: 'transfer_frozen',
});

export const sampleEntries: readonly TraceEntry[] = [
  { kind: 'release_policy', policy: { onDemandHoldMs: 600_000, spotHoldMs: 0.5 } },
  { kind: 'put', machine: machine({ id: 'machine-1' }), nowMs: 1_767_225_600_000 },
  { kind: 'put', machine: spot, nowMs: 0 },
  { kind: 'demand', cluster: 'a', needs: [plain, gang] },
  { kind: 'reported', cluster: 'a' },
  { kind: 'held_off', heldOff: new Set([heldOffKey('a', plain.profile.fingerprint)]) },
  {
    kind: 'brakes',
    brakes: {
      needs: new Map([[heldOffKey('a', gang.profile.fingerprint), 1]]),
      types: new Map([[machineTypeKey('provider', 'large'), 0]]),
    },
  },
  { kind: 'parking', needKey: 'a\u0000p=0\u0000g', ageCycles: 9 },
  {
    kind: 'shortfall',
    fingerprint: gang.profile.fingerprint,
    shortfall: {
      profile: gang.profile,
      deficit: cores(1),
      minUnit: cores(1),
      ageCycles: 6,
      reasonCode: 'topology_unsatisfiable',
      clusters: ['a', 'b'],
    },
  },
  { kind: 'snapshot_end', machineCount: 2, rowCount: 2 },
  {
    kind: 'move',
    id: 'machine-1',
    to: State.Configuring,
    changes: {
      cluster: 'a',
      assigned: { ...assignmentFor(plain), reclamationBucket: PINNED_BUCKET },
    },
    nowMs: 1_767_225_600_010,
  },
  { kind: 'withhold', id: 'machine-2', reason: undefined },
  { kind: 'idle_since', id: 'machine-1', sinceMs: 1.5 },
  { kind: 'rollup', cluster: 'a', needs: [plain, { ...gang, arrivalUnixNanos: 0n }] },
  {
    kind: 'cycle',
    options: {
      nowMs: 1_767_225_610_000,
      quotaRemaining: new Map([['provider', Number.POSITIVE_INFINITY]]),
      isFullPass: true,
    },
  },
  {
    kind: 'decided',
    decided: { hash: hashActions([preempt]), actionCount: 1, actions: [preempt] },
  },
  { kind: 'remove', id: 'machine-2' },
  { kind: 'cycle', options: { nowMs: 1_767_225_620_000 } },
  { kind: 'decided', decided: { hash: hashActions([]), actionCount: 0, actions: undefined } },
];
