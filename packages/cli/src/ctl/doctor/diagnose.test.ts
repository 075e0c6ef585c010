// Proves each check of doctor on facts that differ from a healthy fleet in one thing: what is found,
// how bad it is, and that a healthy fleet has no finding at all.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ActuationHold,
  BrakeBatchSchema,
  decode,
  encodeInit,
  GetStatusResponseSchema,
  ListClusterBindingsResponseSchema,
  ListTransfersResponseSchema,
  ProviderEntrySchema,
  QuotaAllocationSchema,
  SessionViewSchema,
  type ShardRegistryEntry,
  ShardRegistryEntrySchema,
  ShardStatusSchema,
} from '@bigfleet/wire';
import type { Brakes } from '../kinds/brakes.ts';
import { diagnose } from './diagnose.ts';
import type { FleetFacts, ReplicaFacts, ShardFacts } from './facts.ts';

const NOW = 1_767_268_800_000_000_000n;
const SECOND = 1_000_000_000n;
const NOW_SECONDS = Number(NOW / SECOND);
const DAY_SECONDS = 86_400;

type Init<S extends Parameters<typeof encodeInit>[0]> = Parameters<typeof encodeInit<S>>[1];

function make<S extends Parameters<typeof encodeInit>[0]>(
  schema: S,
  init: Init<S>,
): ReturnType<typeof decode<S>> {
  return decode(schema, encodeInit(schema, init), 'INTERNAL');
}

function replica(changes: Init<typeof GetStatusResponseSchema> = {}): ReplicaFacts {
  const value = make(GetStatusResponseSchema, {
    nodeId: 'node-1',
    isLeader: true,
    leaderNodeId: 'node-1',
    coordinatorTerm: 7n,
    replicas: ['node-1'],
    clusterUid: 'fleet',
    version: '0.1.0',
    ...changes,
  });
  const address = `${value.nodeId}:7790`;
  return { address, status: { ok: true, value }, certificateExpiresUnixSeconds: undefined };
}

const provider = {
  name: 'lab',
  healthy: true,
  lastListUnixNanos: NOW - SECOND,
  source: 'registry',
};

function brakes(init: Init<typeof BrakeBatchSchema> = {}): Brakes {
  return make(BrakeBatchSchema, { enabled: true, ...init });
}

function failing(init: Init<typeof BrakeBatchSchema>): ShardFacts {
  return { ...shard(), brakes: { ok: true, value: brakes(init) } };
}

const twice = { failures: 2, lastError: 'no route' };
const often = { failures: 5, pauseSeconds: 240, lastError: 'the node never joined' };
const thrice = { failures: 3, pauseSeconds: 60, lastError: 'no route' };
const needOf = (clusterId: string, run: typeof twice) => ({
  clusterId,
  profileFingerprint: 'p',
  run,
});

function shard(
  changes: Init<typeof ShardStatusSchema> = {},
  more: { heartbeat?: bigint; quarantined?: number } = {},
): ShardFacts {
  const entry = make(ShardRegistryEntrySchema, {
    shardId: 'shard-0',
    address: 'shard-0:7780',
    lastHeartbeatUnixNs: more.heartbeat ?? NOW - 4n * SECOND,
  });
  const value = make(ShardStatusSchema, {
    shardId: 'shard-0',
    coordinatorTerm: 7n,
    lastCycleUnixNanos: NOW - SECOND,
    ready: true,
    version: '0.1.0',
    providers: [provider],
    actuation: {},
    ...changes,
  } as Init<typeof ShardStatusSchema>);
  const session = make(SessionViewSchema, {
    clusterId: 'blue',
    quarantinedRollups: more.quarantined ?? 0,
  });
  return {
    entry,
    status: { ok: true, value },
    sessions: { ok: true, value: [session] },
    brakes: { ok: true, value: brakes() },
    certificateExpiresUnixSeconds: NOW_SECONDS + 30 * DAY_SECONDS,
  };
}

const bindings = (conflictingShardId: string) =>
  make(ListClusterBindingsResponseSchema, {
    bindings: [{ clusterId: 'blue', shardId: 'shard-0', conflictingShardId }],
  }).bindings;

const healthyRegistry = {
  shards: [] as ShardRegistryEntry[],
  providers: [make(ProviderEntrySchema, { name: 'lab', declaredQuota: 10 })],
  quotas: [make(QuotaAllocationSchema, { provider: 'lab', perShard: { 'shard-0': 10 } })],
  bindings: { ok: true as const, value: bindings('') },
  transfers: { ok: true as const, value: [] },
};

const healthy: FleetFacts = {
  nowUnixNanos: NOW,
  clientCertificateExpiresUnixSeconds: NOW_SECONDS + 30 * DAY_SECONDS,
  replicas: [replica()],
  registry: { ok: true, value: healthyRegistry },
  shards: [shard()],
};

const down = { ok: false as const, error: 'coordinator_unreachable: refused' };
const threeNodes = { replicas: ['node-1', 'node-2', 'node-3'] };

function found(changes: Partial<FleetFacts>): string[] {
  return diagnose({ ...healthy, ...changes }).map(
    ({ severity, check, subject }) => `${severity} ${check} ${subject}`,
  );
}

function registry(changes: Partial<typeof healthyRegistry>): Partial<FleetFacts> {
  return { registry: { ok: true, value: { ...healthyRegistry, ...changes } } };
}

test('a healthy fleet has no finding', () => {
  assert.deepEqual(found({}), []);
});

const replicas = (...facts: ReplicaFacts[]): Partial<FleetFacts> => ({ replicas: facts });
const shards = (...facts: ShardFacts[]): Partial<FleetFacts> => ({ shards: facts });
const paused = (hold: ActuationHold) => shard({ actuation: { paused: true, heldBy: [hold] } });

const entryOf = (shardId: string) => make(ShardRegistryEntrySchema, { shardId });

/** `shard-0` under another name or address, with a provider beside it. */
function beside(shardId: string, address: string, provider: string): ShardFacts {
  const facts = shard({ shardId, providers: [{ name: 'lab', address: provider, healthy: true }] });
  return { ...facts, entry: { ...facts.entry, shardId, address } };
}

const table: readonly (readonly [string, Partial<FleetFacts>, readonly string[]])[] = [
  [
    'no replica answers',
    { replicas: [{ ...replica(), status: down }], registry: down, shards: [] },
    ['error coordinator-reachable coordinator node-1:7790'],
  ],
  [
    'one of two addresses is down',
    replicas(replica(), { ...replica({ nodeId: 'node-2' }), status: down }),
    ['warning coordinator-reachable coordinator node-2:7790'],
  ],
  [
    'nobody leads',
    { ...replicas(replica({ isLeader: false, leaderNodeId: '' })), registry: down, shards: [] },
    ['error coordinator-leader coordinator'],
  ],
  [
    'two of three replicas answer',
    replicas(replica(threeNodes), replica({ ...threeNodes, nodeId: 'node-2' })),
    ['warning coordinator-quorum coordinator'],
  ],
  ['one address stands for three replicas', replicas(replica(threeNodes)), []],
  [
    'a socket of one host, two shards there',
    shards(beside('shard-0', 'h:7780', 'unix:/p'), beside('shard-1', 'h:7781', 'unix:/p')),
    ['error provider-owned-twice provider unix:/p'],
  ],
  [
    'a loopback provider of two shards that name no host but two ports',
    shards(beside('shard-0', ':7780', '127.0.0.1:1'), beside('shard-1', ':7781', '127.0.0.1:1')),
    ['error provider-owned-twice provider 127.0.0.1:1'],
  ],
  [
    'equal sockets on two hosts',
    shards(beside('shard-0', 'h:7780', 'unix:/p'), beside('shard-1', 'g:7780', 'unix:/p')),
    [],
  ],
  [
    'one provider of the network, two shards of a host',
    shards(beside('shard-0', 'h:7780', 'p:9000'), beside('shard-1', 'h:7781', 'p:9000')),
    [],
  ],
  [
    'a declared quota without a slice for a registered shard',
    registry({ shards: [entryOf('shard-0'), entryOf('shard-1')] }),
    ['warning quota quota lab/'],
  ],
  [
    'replicas of two fleets',
    replicas(replica(), replica({ nodeId: 'node-2', clusterUid: 'other' })),
    ['error coordinator-uid coordinator'],
  ],
  [
    'replicas disagree who leads',
    replicas(replica(), replica({ nodeId: 'node-2', leaderNodeId: 'node-2', isLeader: false })),
    ['warning coordinator-leader coordinator'],
  ],
  [
    'replicas of two versions',
    replicas(replica(), replica({ nodeId: 'node-2', version: '0.2.0' })),
    ['warning version coordinator'],
  ],
  [
    'recovering after a restore',
    replicas(replica({ recoveringProviders: ['lab'] })),
    ['warning coordinator-recovery provider lab'],
  ],
  ['no shard', shards(), ['warning shards coordinator']],
  [
    'a shard that never reported',
    shards(shard({}, { heartbeat: 0n })),
    ['warning heartbeat shard shard-0'],
  ],
  [
    'a late heartbeat',
    shards(shard({}, { heartbeat: NOW - 30n * SECOND })),
    ['warning heartbeat shard shard-0'],
  ],
  [
    'a stale heartbeat',
    shards(shard({}, { heartbeat: NOW - 61n * SECOND })),
    ['error heartbeat shard shard-0'],
  ],
  [
    'an unreachable shard',
    shards({ ...shard(), status: down }),
    ['error shard-reachable shard shard-0'],
  ],
  [
    'another shard at the address',
    shards(shard({ shardId: 'x' })),
    ['error shard-identity shard shard-0'],
  ],
  [
    'a shard that is not ready',
    shards(shard({ ready: false })),
    ['warning shard-ready shard shard-0'],
  ],
  [
    'a stalled cycle',
    shards(shard({ lastCycleUnixNanos: NOW - 61n * SECOND })),
    ['error shard-cycle shard shard-0'],
  ],
  ['a pause', shards(paused(ActuationHold.RUNTIME)), ['warning paused shard shard-0']],
  ['a fenced shard', shards(paused(ActuationHold.FENCED)), ['error fenced shard shard-0']],
  ['a dry run', shards(shard({ actuation: { dryRun: true } })), ['warning dry-run shard shard-0']],
  [
    'rails changed at run time',
    shards(shard({ actuation: { overridden: ['dry_run'] } })),
    ['info rails shard shard-0'],
  ],
  ['a later term at a shard', shards(shard({ coordinatorTerm: 8n })), ['error term shard shard-0']],
  ['a shard without reports yet', shards(shard({ coordinatorTerm: 0n })), []],
  ['another version', shards(shard({ version: '0.0.9' })), ['info version shard shard-0']],
  [
    'failed machines',
    shards(shard({ machinesByState: { Failed: 2 } })),
    ['warning failed-machines shard shard-0'],
  ],
  ['a need that failed twice', shards(failing({ needs: [needOf('blue', twice)] })), []],
  [
    'needs that are held off',
    shards(failing({ needs: [needOf('blue', thrice), needOf('red', often)] })),
    ['warning configures-failing shard shard-0'],
  ],
  [
    'a type that is held off',
    shards(failing({ types: [{ provider: 'lab', instanceType: 'm6i.large', run: thrice }] })),
    ['warning type-failing shard shard-0'],
  ],
  [
    'a shard that knows no brakes',
    shards({ ...shard(), brakes: { ok: false, error: 'feature_missing: list brakes' } }),
    ['info unanswered shard shard-0'],
  ],
  [
    'a provider that does not answer',
    shards(shard({ providers: [{ ...provider, healthy: false }] })),
    ['error provider provider lab of shard-0'],
  ],
  [
    'a provider not listed for long',
    shards(shard({ providers: [{ ...provider, lastListUnixNanos: NOW - 121n * SECOND }] })),
    ['warning provider provider lab of shard-0'],
  ],
  [
    'a shard without any provider',
    { ...shards(shard({ providers: [] })), ...registry({ providers: [], quotas: [] }) },
    ['warning provider-missing shard shard-0'],
  ],
  [
    'a registered provider that nobody dials',
    registry({
      providers: [...healthyRegistry.providers, make(ProviderEntrySchema, { name: 'aws' })],
    }),
    ['warning provider-unused provider aws'],
  ],
  [
    'a cluster on two shards',
    registry({ bindings: { ok: true, value: bindings('shard-1') } }),
    ['error cluster-conflict cluster blue'],
  ],
  [
    'held roll-ups',
    shards(shard({}, { quarantined: 2 })),
    ['warning rollup-quarantine cluster blue'],
  ],
  [
    'a slow transfer',
    {
      registry: {
        ok: true,
        value: {
          ...healthyRegistry,
          transfers: {
            ok: true,
            value: make(ListTransfersResponseSchema, {
              transfers: [{ transferId: 't-1', createdAtUnixNs: NOW - 601n * SECOND }],
            }).transfers,
          },
        },
      },
    },
    ['warning transfer-slow transfer t-1'],
  ],
  [
    'an expired certificate here',
    { clientCertificateExpiresUnixSeconds: NOW_SECONDS - 1 },
    ['error certificate bigfleetctl'],
  ],
  [
    'a certificate that ends soon at a shard',
    shards({ ...shard(), certificateExpiresUnixSeconds: NOW_SECONDS + DAY_SECONDS }),
    ['warning certificate shard shard-0'],
  ],
  [
    'plaintext',
    { clientCertificateExpiresUnixSeconds: undefined },
    ['info certificate bigfleetctl'],
  ],
  [
    'a clock ahead',
    shards(shard({ lastCycleUnixNanos: NOW + 5n * SECOND })),
    ['warning clock-skew shard shard-0'],
  ],
  [
    'a clock far ahead',
    shards(shard({ lastCycleUnixNanos: NOW + 3_600n * SECOND })),
    ['error clock-skew shard shard-0'],
  ],
  [
    'more quota than declared',
    registry({
      quotas: [make(QuotaAllocationSchema, { provider: 'lab', perShard: { a: 6, b: 5 } })],
    }),
    ['warning quota quota lab/'],
  ],
  [
    'quota of nobody',
    registry({ quotas: [make(QuotaAllocationSchema, { provider: 'gone', region: 'r' })] }),
    ['warning quota quota gone/r'],
  ],
];
for (const [name, changes, expected] of table) {
  test(`${name}: ${expected.join(', ') || 'nothing'}`, () => {
    assert.deepEqual(found(changes), expected);
  });
}

test('every finding above info says what to do', () => {
  for (const [name, changes] of table) {
    for (const each of diagnose({ ...healthy, ...changes })) assert.notEqual(each.fix, '', name);
  }
});

test('of what is held off the worst is told: whose, how often, why, and how to go on', () => {
  const held = failing({
    needs: [needOf('blue', thrice), needOf('red', often)],
    types: [{ provider: 'lab', instanceType: 'm6i.large', run: thrice }],
  });
  const [need, type] = diagnose({ ...healthy, shards: [held] });
  assert.match(
    need?.message ?? '',
    /^machines never join for 2 needs: red\/[0-9a-f]{8} after 5 failures in a row, one probe in 4m, last: the node never joined$/,
  );
  assert.match(need?.fix ?? '', /bigfleetctl brakes clear --shard=shard-0 --cluster=/);
  assert.match(
    type?.message ?? '',
    /^buys no more of what fails in several clusters, 1 instance type: lab\/m6i\.large after 3 failures .*, last: no route$/,
  );
  assert.match(type?.fix ?? '', /bigfleetctl brakes clear --shard=shard-0 --provider=/);
});
