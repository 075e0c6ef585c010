// Arbitrary entries for property tests: texts that have broken parsers before, numbers at the
// edges of their kind, maps with hostile keys.

import { PENALTY_BUCKETS, unmetReasons, type UnmetCode } from '@bigfleet/base';
import fc from 'fast-check';
import type { ActionKindCode } from '../../model/action.ts';
import type { CapacityTypeCode } from '../../model/capacity-type.ts';
import type { Assignment, HostRef, Machine } from '../../model/machine.ts';
import type { Need } from '../../model/need.ts';
import { createProfile, type Profile } from '../../model/profile.ts';
import type { OperatorCode } from '../../model/requirement.ts';
import type { StateCode } from '../../model/state.ts';
import { hashActions } from './hash-actions.ts';
import type { DecidedAction, TraceEntry } from '../entry.ts';

/** Lone surrogates, control characters, names of object internals, shared beginnings. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('', '__proto__', 'constructor', '\u0000', '\ud800', '\udfff', 'a\u0000b', 'ﬃ'),
  fc.constantFrom('toString', '|', '%', 'p=0|ipb=1', '\u2028', '\uffff', '😀', 'cpu', 'memory'),
  fc.string({ unit: 'binary', maxLength: 24 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
    .map((units) => String.fromCharCode(...units)),
  fc.nat(30).map((at) => `machine-000000${at}`),
);

const anyNumber = fc.oneof(
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.constantFrom(0, -0, Number.POSITIVE_INFINITY, 2 ** 52, Number.MAX_SAFE_INTEGER, 0.1),
);
const time = fc.oneof(fc.integer({ min: 1_760_000_000_000, max: 1_760_000_900_000 }), anyNumber);
const int32 = fc.oneof(fc.integer(), fc.constantFrom(0, 2 ** 31 - 1, -(2 ** 31)));
const bucket = fc.constantFrom(...PENALTY_BUCKETS);
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

const resources: fc.Arbitrary<ReadonlyMap<string, number>> = fc
  .uniqueArray(fc.tuple(hostileText, fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })), {
    selector: ([name]) => name,
    maxLength: 4,
  })
  .map((entries) => new Map(entries));

const labels: fc.Arbitrary<ReadonlyMap<string, string>> = fc
  .uniqueArray(fc.tuple(hostileText, hostileText), { selector: ([key]) => key, maxLength: 4 })
  .map((entries) => new Map(entries));

const assignment: fc.Arbitrary<Assignment> = fc.record({
  priority: int32,
  interruptionBucket: bucket,
  reclamationBucket: bucket,
  needFingerprint: hostileText,
  group: hostileText,
});

const host: fc.Arbitrary<HostRef> = fc.record({ provider: hostileText, ref: hostileText });
const state = fc.integer({ min: 1, max: 8 }) as fc.Arbitrary<StateCode>;
const withheld = fc.constantFrom(
  undefined,
  'transfer_frozen' as const,
  'transfer_reserved' as const,
  'not_owned' as const,
);

const machine: fc.Arbitrary<Machine> = fc.record({
  id: hostileText,
  state,
  provider: hostileText,
  host: fc.option(host, { nil: undefined }),
  cluster: hostileText,
  instanceType: hostileText,
  zone: hostileText,
  capacityType: fc.integer({ min: 1, max: 4 }) as fc.Arbitrary<CapacityTypeCode>,
  labels,
  allocatable: resources,
  pricePerHour: anyNumber,
  interruptionProbability: anyNumber,
  lastError: hostileText,
  assigned: assignment,
  intendedCluster: hostileText,
  withheld,
});

const profile: fc.Arbitrary<Profile> = fc
  .record({
    requirements: fc.array(
      fc.record({
        key: hostileText,
        operator: fc.integer({ min: 1, max: 5 }) as fc.Arbitrary<OperatorCode>,
        values: fc.array(hostileText, { maxLength: 3 }),
      }),
      { maxLength: 3 },
    ),
    spread: fc.array(
      fc.record({
        topologyKey: hostileText,
        maxSkew: fc.nat(5),
        whenUnsatisfiable: fc.nat(2),
      }),
      { maxLength: 2 },
    ),
    priority: int32,
    interruptionBucket: bucket,
    reclamationBucket: bucket,
  })
  .map(createProfile);

const need: fc.Arbitrary<Need> = fc.record({
  cluster: hostileText,
  profile,
  aggregate: resources,
  minUnit: resources,
  group: hostileText,
  arrivalUnixNanos: fc.oneof(int64, fc.constantFrom(0n, 1n, 2n ** 63n - 1n, -(2n ** 63n))),
});

const needs = fc.array(need, { maxLength: 4 });

const action: fc.Arbitrary<DecidedAction> = fc.record({
  kind: fc.integer({ min: 1, max: 5 }) as fc.Arbitrary<ActionKindCode>,
  machineId: hostileText,
  cluster: hostileText,
  fingerprint: hostileText,
  group: hostileText,
  graceSeconds: int32,
  preemptorPriority: int32,
});

const hash = fc.array(action, { maxLength: 1 }).map(hashActions);

const quotas: fc.Arbitrary<ReadonlyMap<string, number>> = fc
  .uniqueArray(fc.tuple(hostileText, anyNumber), { selector: ([name]) => name, maxLength: 3 })
  .map((entries) => new Map(entries));

const anywhere: readonly fc.Arbitrary<TraceEntry>[] = [
  fc.record({ kind: fc.constant('put' as const), machine, nowMs: time }),
  fc.record({ kind: fc.constant('reported' as const), cluster: hostileText }),
  fc.record({
    kind: fc.constant('held_off' as const),
    heldOff: fc.array(hostileText).map((keys): ReadonlySet<string> => new Set(keys)),
  }),
  fc.record({
    kind: fc.constant('brakes' as const),
    brakes: fc.record({ needs: quotas, types: quotas }),
  }),
  fc.record({
    kind: fc.constant('release_policy' as const),
    policy: fc.record({ onDemandHoldMs: anyNumber, spotHoldMs: anyNumber }),
  }),
];

const snapshotEntry: fc.Arbitrary<TraceEntry> = fc.oneof(
  ...anywhere,
  fc.record({ kind: fc.constant('demand' as const), cluster: hostileText, needs }),
  fc.record({ kind: fc.constant('parking' as const), needKey: hostileText, ageCycles: fc.nat() }),
  fc.record({
    kind: fc.constant('shortfall' as const),
    fingerprint: hostileText,
    shortfall: fc.record({
      profile,
      deficit: resources,
      minUnit: resources,
      ageCycles: fc.nat(),
      reasonCode: fc.constantFrom(...(Object.keys(unmetReasons) as UnmetCode[])),
      clusters: fc.array(hostileText, { maxLength: 3 }),
    }),
  }),
);

const inputEntry: fc.Arbitrary<TraceEntry> = fc.oneof(
  ...anywhere,
  fc.record({ kind: fc.constant('remove' as const), id: hostileText }),
  fc.record({
    kind: fc.constant('move' as const),
    id: hostileText,
    to: state,
    changes: fc.record(
      {
        host,
        cluster: hostileText,
        lastError: hostileText,
        assigned: assignment,
        intendedCluster: hostileText,
      },
      { requiredKeys: [] },
    ),
    nowMs: time,
  }),
  fc.record({ kind: fc.constant('withhold' as const), id: hostileText, reason: withheld }),
  fc.record({ kind: fc.constant('idle_since' as const), id: hostileText, sinceMs: time }),
  fc.record({ kind: fc.constant('rollup' as const), cluster: hostileText, needs }),
);

const cycle: fc.Arbitrary<TraceEntry> = fc.record({
  kind: fc.constant('cycle' as const),
  options: fc.record(
    { nowMs: time, quotaRemaining: quotas, isFullPass: fc.boolean() },
    { requiredKeys: ['nowMs'] },
  ),
});

const decided: fc.Arbitrary<TraceEntry> = fc.record({
  kind: fc.constant('decided' as const),
  decided: fc
    .tuple(hash, fc.option(fc.array(action, { maxLength: 3 }), { nil: undefined }))
    .map(([recorded, actions]) => ({
      hash: recorded,
      actionCount: actions?.length ?? 5000,
      actions,
    })),
});

/** A whole trace in the order that the grammar demands. */
export const traceEntries: fc.Arbitrary<TraceEntry[]> = fc
  .tuple(
    fc.array(snapshotEntry, { maxLength: 6 }),
    fc.record({ machineCount: fc.nat(), rowCount: fc.nat() }),
    fc.array(
      fc.oneof(
        { weight: 3, arbitrary: inputEntry.map((one) => [one]) },
        { weight: 1, arbitrary: fc.tuple(cycle, decided).map((pair): TraceEntry[] => [...pair]) },
      ),
      { maxLength: 8 },
    ),
  )
  .map(([snapshot, counts, rest]): TraceEntry[] => [
    ...snapshot,
    { kind: 'snapshot_end', ...counts },
    ...rest.flat(),
  ])
  // Records without a prototype would not be deeply equal to what a reader makes.
  .map((entries) => structuredClone(entries));
