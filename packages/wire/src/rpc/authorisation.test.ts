// Proves the authorisation matrix: every method of every service we serve × every identity,
// against the table of security §3 written out again here, by hand.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, type DescService, type Message } from '@bufbuild/protobuf';
import { pathOf } from '../codec.ts';
import * as services from '../gen/bigfleet/ext/v1alpha1/services_pb.ts';
import * as coordinator from '../gen/bigfleet/v1alpha1/coordinator_pb.ts';
import * as provider from '../gen/bigfleet/v1alpha1/provider_pb.ts';
import * as shard from '../gen/bigfleet/v1alpha1/shard_pb.ts';
import * as shardread from '../gen/bigfleet/v1alpha1/shardread_pb.ts';
import { Health } from '../gen/grpc/health/v1/health_pb.ts';
import { ServerReflection } from '../gen/grpc/reflection/v1/reflection_pb.ts';
import type { CallContext } from '../transport/transport.ts';
import { createGate, type Denial, gatedPaths } from './authorisation.ts';
import type { PeerIdentity, Role } from '../identity/identity.ts';

const served: readonly DescService[] = [
  shard.Shard,
  shardread.ShardRead,
  coordinator.Coordinator,
  provider.CapacityProvider,
  services.ShardQuery,
  services.ShardAdmin,
  services.CoordinatorAdmin,
  services.ProviderAdmin,
  Health,
  ServerReflection,
];

const verified = (role: Role, id = ''): PeerIdentity => ({
  kind: 'verified',
  role,
  id,
  san: `bigfleet://${role}${id === '' ? '' : `/${id}`}`,
  commonName: undefined,
});

/** The columns of the matrix. `mine` is the id that requests claim; `other` never matches. */
const columns = {
  cluster: verified('cluster', 'mine'),
  'other cluster': verified('cluster', 'other'),
  shard: verified('shard', 'mine'),
  'other shard': verified('shard', 'other'),
  admin: verified('admin'),
  readonly: verified('readonly'),
  none: { kind: 'unusable', reason: 'identity_missing', presented: [] },
  ambiguous: {
    kind: 'unusable',
    reason: 'identity_ambiguous',
    presented: ['bigfleet://cluster/mine', 'bigfleet://admin'],
  },
  'no certificate': { kind: 'unverified' },
} satisfies Record<string, PeerIdentity>;
type Column = keyof typeof columns;

const readers: Column[] = ['admin', 'readonly'];
const everyone: Column[] = [
  'cluster',
  'other cluster',
  'shard',
  'other shard',
  'admin',
  'readonly',
];
const expected: Record<string, Column[]> = {
  'bigfleet.v1alpha1.Shard/Session': ['cluster'],
  'bigfleet.v1alpha1.ShardRead/InspectNeeds': readers,
  'bigfleet.ext.v1alpha1.ShardQuery/GetShardStatus': readers,
  'bigfleet.ext.v1alpha1.ShardQuery/ListMachines': readers,
  'bigfleet.ext.v1alpha1.ShardQuery/ListShortfalls': readers,
  'bigfleet.ext.v1alpha1.ShardQuery/ListSessions': readers,
  'bigfleet.ext.v1alpha1.ShardQuery/Watch': readers,
  'bigfleet.ext.v1alpha1.ShardQuery/ListRecords': readers,
  'bigfleet.ext.v1alpha1.ShardQuery/Explain': readers,
  'bigfleet.ext.v1alpha1.ShardQuery/ListBrakes': readers,
  'bigfleet.ext.v1alpha1.ShardAdmin/SetActuation': ['admin'],
  'bigfleet.ext.v1alpha1.ShardAdmin/ForgetCluster': ['admin'],
  'bigfleet.ext.v1alpha1.ShardAdmin/ClearBrakes': ['admin'],
  'bigfleet.v1alpha1.Coordinator/ReportShard': ['shard'],
  'bigfleet.v1alpha1.Coordinator/AssignDomain': ['admin'],
  'bigfleet.v1alpha1.Coordinator/UnassignDomain': ['admin'],
  'bigfleet.v1alpha1.Coordinator/RemoveShard': ['admin'],
  'bigfleet.v1alpha1.Coordinator/JoinRaftCluster': ['admin'],
  'bigfleet.v1alpha1.Coordinator/SnapshotSave': ['admin'],
  'bigfleet.v1alpha1.Coordinator/ListShards': readers,
  'bigfleet.v1alpha1.Coordinator/ListDomainAssignments': readers,
  'bigfleet.v1alpha1.Coordinator/ListQuotas': readers,
  'bigfleet.v1alpha1.Coordinator/ListProviders': readers,
  'bigfleet.v1alpha1.Coordinator/ListShardReports': readers,
  'bigfleet.ext.v1alpha1.CoordinatorAdmin/SetQuota': ['admin'],
  'bigfleet.ext.v1alpha1.CoordinatorAdmin/RegisterProvider': ['admin'],
  'bigfleet.ext.v1alpha1.CoordinatorAdmin/DeregisterProvider': ['admin'],
  'bigfleet.ext.v1alpha1.CoordinatorAdmin/BindCluster': ['admin'],
  'bigfleet.ext.v1alpha1.CoordinatorAdmin/UnbindCluster': ['admin'],
  'bigfleet.ext.v1alpha1.CoordinatorAdmin/ListClusterBindings': readers,
  'bigfleet.ext.v1alpha1.CoordinatorAdmin/ListTransfers': readers,
  'bigfleet.ext.v1alpha1.CoordinatorAdmin/GetStatus': readers,
  'bigfleet.v1alpha1.CapacityProvider/Create': ['shard'],
  'bigfleet.v1alpha1.CapacityProvider/Configure': ['shard'],
  'bigfleet.v1alpha1.CapacityProvider/Drain': ['shard'],
  'bigfleet.v1alpha1.CapacityProvider/Delete': ['shard'],
  'bigfleet.v1alpha1.CapacityProvider/Get': ['shard', 'other shard', 'admin', 'readonly'],
  'bigfleet.v1alpha1.CapacityProvider/List': ['shard', 'other shard', 'admin', 'readonly'],
  'bigfleet.ext.v1alpha1.ProviderAdmin/ResetFailed': ['admin'],
  'grpc.health.v1.Health/Check': everyone,
  'grpc.health.v1.Health/Watch': everyone,
  'grpc.reflection.v1.ServerReflection/ServerReflectionInfo': everyone,
};

/** A request in which the caller claims to be `mine`, wherever the message has such a claim. */
function claimingRequest(method: DescService['methods'][number]): Message {
  if (method.input.typeName === 'bigfleet.v1alpha1.OperatorMessage') {
    const value = create(shard.HelloSchema, { clusterId: 'mine' });
    return create(shard.OperatorMessageSchema, { payload: { case: 'hello', value } });
  }
  const claims = method.input.fields.some((field) => field.localName === 'shardId');
  return create(method.input, claims ? { shardId: 'mine' } : {});
}

function call(path: string, identity: PeerIdentity, address = '192.0.2.1:5000'): CallContext {
  const { signal } = new AbortController();
  return { path, peer: { address, identity }, metadata: new Map(), signal, setTrailer() {} };
}

test('every served method × every identity', () => {
  const gate = createGate({ transport: 'mtls' });
  let checked = 0;
  for (const method of served.flatMap((service) => service.methods)) {
    const path = pathOf(method);
    const allowed = expected[path.slice(1)];
    assert.ok(allowed, `${path} is served but not in this table`);
    for (const [name, identity] of Object.entries(columns)) {
      const context = call(path, identity);
      const refused = gate.admit(context) ?? gate.bind(context, claimingRequest(method));
      assert.equal(refused === undefined, allowed.includes(name as Column), `${path} × ${name}`);
      if (refused !== undefined) assert.equal(refused.code, 'PERMISSION_DENIED');
      checked++;
    }
  }
  assert.equal(checked, Object.keys(expected).length * Object.keys(columns).length);
});

test('the matrix has exactly the rows of the served methods', () => {
  const paths = served.flatMap((service) => service.methods.map(pathOf));
  assert.deepEqual([...gatedPaths()].sort(), paths.sort());
});

test('a method without a row is denied, in plaintext too', () => {
  for (const transport of ['plaintext', 'mtls'] as const) {
    const refused = createGate({ transport }).admit(call('/x.Y/Z', columns.admin));
    assert.equal(refused?.code, 'PERMISSION_DENIED');
    assert.match(refused.message, /^method_not_in_table/);
  }
});

test('plaintext skips every identity check', () => {
  const gate = createGate({ transport: 'plaintext' });
  for (const path of gatedPaths()) {
    assert.equal(gate.admit(call(path, { kind: 'unverified' })), undefined, path);
  }
});

test('under mTLS an unverified peer is refused unless it came through a Unix socket', () => {
  const gate = createGate({ transport: 'mtls' });
  const path = '/bigfleet.v1alpha1.CapacityProvider/List';
  assert.equal(gate.admit(call(path, { kind: 'unverified' }))?.code, 'PERMISSION_DENIED');
  assert.equal(gate.admit(call(path, { kind: 'unverified' }, 'unix:/run/p.sock')), undefined);
  // A claimed Unix address does not rescue a certificate without an identity.
  assert.equal(gate.admit(call(path, columns.none, 'unix:/run/p.sock'))?.code, 'PERMISSION_DENIED');
});

test('a denial names what was presented and required, and is reported', () => {
  const denials: Denial[] = [];
  const gate = createGate({ transport: 'mtls', onDenied: (denial) => denials.push(denial) });
  const context = call('/bigfleet.v1alpha1.Coordinator/ReportShard', columns['other shard']);
  const refused = gate.bind(context, create(coordinator.ShardReportSchema, { shardId: 'mine' }));
  assert.match(
    refused?.message ?? '',
    /needs bigfleet:\/\/shard\/mine; presented bigfleet:\/\/shard\/other/,
  );
  assert.deepEqual(denials, [
    {
      path: '/bigfleet.v1alpha1.Coordinator/ReportShard',
      assertedId: 'mine',
      presented: 'bigfleet://shard/other',
      peerAddress: '192.0.2.1:5000',
    },
  ]);
});

test('an empty claim does not pass as a match', () => {
  const gate = createGate({ transport: 'mtls' });
  const context = call('/bigfleet.v1alpha1.CapacityProvider/Drain', columns.shard);
  assert.equal(gate.bind(context, create(provider.DrainRequestSchema))?.code, 'PERMISSION_DENIED');
});

test('a report or a Hello without an id is left to its handler, and is no security event', () => {
  const denials: Denial[] = [];
  const gate = createGate({ transport: 'mtls', onDenied: (denial) => denials.push(denial) });
  const report = call('/bigfleet.v1alpha1.Coordinator/ReportShard', columns.shard);
  assert.equal(gate.bind(report, create(coordinator.ShardReportSchema)), undefined);
  const session = call('/bigfleet.v1alpha1.Shard/Session', columns.cluster);
  const hello = { case: 'hello', value: create(shard.HelloSchema) } as const;
  assert.equal(
    gate.bind(session, create(shard.OperatorMessageSchema, { payload: hello })),
    undefined,
  );
  assert.deepEqual(denials, []);
});
