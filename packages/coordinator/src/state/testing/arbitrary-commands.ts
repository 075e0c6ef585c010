// Random commands over few names, so that they meet, refuse and undo each other. The names include
// what breaks careless code: `__proto__`, numbers as keys, separators and percent signs of keys.

import fc from 'fast-check';
import type { CommandBody } from '../commands.ts';

const shard = fc.constantFrom('a', 'b', 'c', '__proto__', '7');
const cluster = fc.constantFrom('c1', '10', '9', '__proto__');
const domain = fc.record({
  key: fc.constantFrom('rack', 'topology.kubernetes.io/zone', '%'),
  value: fc.constantFrom('r1', 'a/b', 'ü', '__proto__'),
});
const provider = fc.constantFrom('aws', 'gcp', 'constructor');
const region = fc.constantFrom('eu', 'us');
const address = fc.constantFrom('p:1', 'unix:/run/p', '[::1]:9');
const transfer = fc.constantFrom('t1', 't2', 't3');
const machine = fc.constantFrom('m1', 'm2', 'm/3', '%6d4', '💡');
const machines = fc.uniqueArray(machine, { minLength: 0, maxLength: 4 });
const slice = fc.integer({ min: -1, max: 5 });

const BY_SHARD = { selector: ([id]: [string, number]) => id, maxLength: 3 };

/** Mostly accepted in some state, refused in others. */
export const arbitraryCommand: fc.Arbitrary<CommandBody> = fc.oneof(
  { weight: 4, arbitrary: addShard() },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('RemoveShard' as const), id: shard }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('BindCluster' as const),
      cluster,
      shard,
      force: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('AssignDomain' as const), domain, shard }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('UnassignDomain' as const), domain }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('DomainReleased' as const), domain, shard }),
  },
  { weight: 3, arbitrary: setQuota() },
  { weight: 2, arbitrary: upsertProvider() },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('RemoveProvider' as const), name: provider }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('UnbindCluster' as const), cluster }) },
  {
    weight: 1,
    arbitrary: fc.record(
      {
        kind: fc.constant('SetProviderHome' as const),
        providerAddress: address,
        shard,
        from: shard,
      },
      { requiredKeys: ['kind', 'providerAddress', 'shard'] },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('RecordShardEpoch' as const),
      shard,
      epoch: fc.bigInt({ min: 0n, max: 4n }),
    }),
  },
  { weight: 10, arbitrary: transferCommand() },
);

function addShard(): fc.Arbitrary<CommandBody> {
  return fc.record({
    kind: fc.constant('AddShard' as const),
    id: shard,
    address: fc.constant('host:7780'),
    registeredAtMs: fc.nat(1_000),
  });
}

function setQuota(): fc.Arbitrary<CommandBody> {
  return fc
    .record({ provider, region, slices: fc.uniqueArray(fc.tuple(shard, slice), BY_SHARD) })
    .map(({ slices, ...row }) => ({ kind: 'SetQuota', ...row, perShard: new Map(slices) }));
}

function upsertProvider(): fc.Arbitrary<CommandBody> {
  const shards = fc.array(shard, { maxLength: 3 });
  const declaredQuota = fc.constantFrom(0, 4, 8);
  return fc
    .record({ name: provider, address, region, declaredQuota, shards })
    .map((entry) => ({ kind: 'UpsertProvider', entry }));
}

function transferCommand(): fc.Arbitrary<CommandBody> {
  return fc.oneof(
    fc.record({
      kind: fc.constant('BeginTransfer' as const),
      id: transfer,
      from: shard,
      to: shard,
      tier: fc.constantFrom(1 as const, 2 as const),
      providerAddress: fc.constant('p:1'),
      reasonCode: fc.constant('r'),
      selector: fc.constant(null),
    }),
    fc.record({
      kind: fc.constant('CommitTransfer' as const),
      id: transfer,
      machineIds: machines,
      maxOverrides: fc.constantFrom(2, 100),
    }),
    fc.record({ kind: fc.constant('FinishTransfer' as const), id: transfer }),
    fc.record({
      kind: fc.constant('AbortTransfer' as const),
      id: transfer,
      reasonCode: fc.constant('x'),
    }),
    fc.record({
      kind: fc.constant('ClearOverrides' as const),
      machineIds: machines,
      owner: shard,
    }),
    fc.record({
      kind: fc.constant('MoveQuota' as const),
      id: transfer,
      provider,
      region,
      from: shard,
      to: shard,
      count: fc.integer({ min: 0, max: 2 }),
      step: fc.constantFrom('SHRINK' as const, 'GROW' as const, 'RESTORE' as const),
    }),
    fc.record({
      kind: fc.constant('GcTransfers' as const),
      beforeMs: fc.constant(Number.MAX_SAFE_INTEGER),
    }),
    fc.record({
      kind: fc.constant('RestoreTransfer' as const),
      transfer: fc.record({
        id: transfer,
        from: shard,
        to: shard,
        providerAddress: fc.constant('p:1'),
        machineIds: machines,
      }),
    }),
    fc.record({
      kind: fc.constant('RestoreOverride' as const),
      machineId: machine,
      owner: shard,
      transferId: transfer,
    }),
  );
}
