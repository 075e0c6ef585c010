// Proves the ShardAdmin service over the wire: administrators only, every call audited with who and
// how it ended, actuation answered as it holds, and a cluster forgotten only when that makes sense.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigureBrake } from '@bigfleet/engine';
import { createLogger } from '@bigfleet/telemetry';
import {
  ActuationHold,
  type Client,
  createClient,
  createGate,
  type FailureCode,
  type PeerIdentity,
  Router,
  RpcError,
  ShardAdmin,
} from '@bigfleet/wire';
import type { AdminRecord } from '../audit/audit-lines.ts';
import { noAuditLog } from '../audit/audit-log.ts';
import { clusterIdentity, rollup, Stage } from '../operators/testing/stage.ts';
import { openActuation } from './actuation.ts';
import { createRailMetrics } from './metrics.ts';
import { shardAdminHandlers } from './shard-admin.ts';
import { FakeFile } from './testing/fake-file.ts';

const ADMIN: PeerIdentity = {
  kind: 'verified',
  role: 'admin',
  id: '',
  san: 'bigfleet://admin',
  commonName: undefined,
};

interface AdminStage {
  readonly stage: Stage;
  readonly file: FakeFile;
  readonly audited: AdminRecord[];
  readonly forgotten: string[];
  readonly known: Set<string>;
  /** Runs inside forgetDemand, before it answers. */
  duringForget: () => Promise<void>;
  as(identity: PeerIdentity): Client<typeof ShardAdmin>;
}

async function adminStage(
  seed: string,
  options: { readonly hasBrake?: boolean } = {},
): Promise<AdminStage> {
  const stage = new Stage(seed, { transport: 'mtls' });
  const file = new FakeFile();
  const { clock } = stage.time.runtime;
  const logger = createLogger({ clock, sink: stage.log });
  const metrics = createRailMetrics(stage.registry);
  const flags = {
    paused: false,
    dryRun: false,
    reclaimCapFraction: 0.05,
    emptyRollupGuard: true,
    maxActionsPerCycle: 0,
  };
  const actuation = await openActuation({ flags, file, clock, logger, metrics });
  const audited: AdminRecord[] = [];
  const world: AdminStage = {
    stage,
    file,
    audited,
    forgotten: [],
    known: new Set(),
    duringForget: () => Promise.resolve(),
    as: (identity) =>
      createClient(ShardAdmin, stage.network.connect({ from: 'cli', to: 'shard:7781', identity })),
  };
  const handlers = shardAdminHandlers({
    actuation,
    logger,
    audit: { ...noAuditLog, admin: (record) => audited.push(record) },
    coordinatorTerm: () => 7n,
    brakes: {
      brake: options.hasBrake === false ? undefined : new ConfigureBrake(),
      wake: () => {},
    },
    forget: {
      logger,
      hasSession: (cluster) => stage.operators.sessions.sessionOf(cluster) !== undefined,
      forgetSessionState: (cluster) => stage.operators.forget(cluster),
      port: {
        boundMachineCount: (cluster) => stage.machines.idsBoundTo(cluster).length,
        isKnown: (cluster) => world.known.has(cluster),
        forgetDemand: async (cluster) => {
          world.forgotten.push(cluster);
          await world.duringForget();
          return 12;
        },
      },
    },
  });
  const router = new Router({ gate: createGate({ transport: 'mtls' }) }).add(ShardAdmin, handlers);
  stage.network.listen('shard:7781', router);
  return world;
}

/** Runs the call while virtual time moves. */
async function during<T>({ stage }: AdminStage, call: Promise<T>): Promise<T> {
  const [result] = await Promise.all([call, stage.settle()]);
  return result;
}

async function failsWith(
  world: AdminStage,
  call: Promise<unknown>,
): Promise<[FailureCode, string]> {
  const settled = call.then(
    () => assert.fail('the call succeeded'),
    (error: unknown) => error,
  );
  const error = await during(world, settled);
  assert.ok(error instanceof RpcError, String(error));
  return [error.code, error.message];
}

test('pausing answers with the state, and leaves who did it in log and audit', async () => {
  const world = await adminStage('pause');
  const state = await during(
    world,
    world.as(ADMIN).setActuation({ paused: true, reason: 'drill' }),
  );
  assert.equal(state.paused, true);
  assert.deepEqual(state.heldBy, [ActuationHold.RUNTIME]);
  assert.deepEqual(state.overridden, ['paused']);
  assert.equal(state.changedBy, 'bigfleet://admin');
  assert.equal(state.reason, 'drill');
  assert.equal(state.reclaimCapFraction, 0.05);
  assert.ok(world.file.text?.includes('"paused": true'));
  const [record] = world.audited;
  assert.equal(record?.identity, 'bigfleet://admin');
  assert.equal(record?.peer, 'cli');
  assert.equal(record?.outcome, 'ok');
  assert.equal(record?.term, 7n);
  assert.equal(record?.rpc, '/bigfleet.ext.v1alpha1.ShardAdmin/SetActuation');
  assert.deepEqual([record?.arguments['paused'], record?.arguments['reason']], [true, 'drill']);
  assert.equal(world.stage.logged('actuation settings changed').length, 1);
});

test('refused and failed changes answer with their status and are audited too', async () => {
  const world = await adminStage('refused');
  const admin = world.as(ADMIN);
  assert.deepEqual(await failsWith(world, admin.setActuation({ paused: true })), [
    'INVALID_ARGUMENT',
    'rails_invalid: a reason is required',
  ]);
  world.file.isFull = true;
  const [code, text] = await failsWith(world, admin.setActuation({ paused: true, reason: 'r' }));
  assert.equal(code, 'UNAVAILABLE');
  assert.match(text, /applied, not persisted/);
  assert.deepEqual(
    world.audited.map(({ outcome }) => outcome),
    ['a reason is required', 'applied, not persisted'],
  );
});

test('only administrators', async () => {
  const world = await adminStage('roles');
  const readonly: PeerIdentity = { ...ADMIN, role: 'readonly', san: 'bigfleet://readonly' };
  for (const identity of [readonly, clusterIdentity('blue')]) {
    const client = world.as(identity);
    const paused = client.setActuation({ paused: true, reason: 'r' });
    assert.equal((await failsWith(world, paused))[0], 'PERMISSION_DENIED');
    const forgotten = client.forgetCluster({ clusterId: 'blue', reason: 'r' });
    assert.equal((await failsWith(world, forgotten))[0], 'PERMISSION_DENIED');
    const cleared = client.clearBrakes({ all: true, reason: 'r' });
    assert.equal((await failsWith(world, cleared))[0], 'PERMISSION_DENIED');
  }
  assert.deepEqual(world.audited, []);
});

test('what of the brakes may not be cleared', async () => {
  const world = await adminStage('not-cleared');
  const admin = world.as(ADMIN);
  const cases: readonly [Parameters<typeof admin.clearBrakes>[0], string][] = [
    [{ all: true }, 'reason_missing: a reason is required'],
    [{ all: true, reason: ' ' }, 'reason_missing: a reason is required'],
    [
      { reason: 'r' },
      'brake_selection_invalid: name a cluster, a profile, a provider or a type, or all',
    ],
    [
      { clusterId: 'blue', provider: 'alpha', reason: 'r' },
      'brake_selection_invalid: name needs or types, not both',
    ],
    [
      { profileFingerprint: 'p', instanceType: 'small', reason: 'r' },
      'brake_selection_invalid: name needs or types, not both',
    ],
    [
      { clusterId: 'blue', all: true, reason: 'r' },
      'brake_selection_invalid: name some or all, not both',
    ],
  ];
  for (const [request, text] of cases) {
    const failure = await failsWith(world, admin.clearBrakes(request));
    assert.deepEqual(failure, ['INVALID_ARGUMENT', text]);
  }
  assert.equal(world.audited.length, cases.length, 'refused calls are audited too');
  const answer = await during(world, admin.clearBrakes({ all: true, reason: 'r' }));
  assert.equal(answer.cleared, 0, 'nothing was held off');
  const record = world.audited.at(-1);
  assert.equal(record?.rpc, '/bigfleet.ext.v1alpha1.ShardAdmin/ClearBrakes');
  assert.deepEqual(
    [record.arguments['all'], record.arguments['reason'], record.outcome],
    [true, 'r', 'ok'],
  );
});

test('there is nothing to clear when the rail is off', async () => {
  const world = await adminStage('brake-off', { hasBrake: false });
  const [code, text] = await failsWith(
    world,
    world.as(ADMIN).clearBrakes({ all: true, reason: 'r' }),
  );
  assert.equal(code, 'ABORTED');
  assert.match(text, /^configure_brake_off: /);
});

test('forgetting a cluster that is gone drops its demand and what we remember of it', async () => {
  const world = await adminStage('forget');
  world.known.add('blue');
  world.stage.machines.put('m1');
  const request = { clusterId: 'blue', reason: 'decommissioned' };
  const answer = await during(world, world.as(ADMIN).forgetCluster(request));
  assert.deepEqual([answer.needRowsDropped, answer.machinesBound], [12, 1]);
  assert.deepEqual(world.forgotten, ['blue']);
  assert.match(
    world.stage.logged('cluster forgotten')[0] ?? '',
    /level=WARN.*cluster=blue by=bigfleet:\/\/admin reason=decommissioned need_rows=12 machines=1/,
  );
  assert.equal(world.audited[0]?.arguments['clusterId'], 'blue');
});

test('what may not be forgotten', async () => {
  const world = await adminStage('not-forgotten');
  const { stage } = world;
  const operator = stage.dial('blue', clusterIdentity('blue')).hello('blue');
  await stage.settle();
  const admin = world.as(ADMIN);
  const cases: readonly [string, Parameters<typeof admin.forgetCluster>[0], FailureCode, RegExp][] =
    [
      [
        'live',
        { clusterId: 'blue', reason: 'r' },
        'ABORTED',
        /cluster has a live operator session/,
      ],
      ['unknown', { clusterId: 'green', reason: 'r' }, 'NOT_FOUND', /green/],
      ['no reason', { clusterId: 'blue', force: true }, 'INVALID_ARGUMENT', /reason/],
      ['a bad id', { clusterId: 'a b', reason: 'r' }, 'INVALID_ARGUMENT', /id_malformed/],
    ];
  for (const [name, request, code, text] of cases) {
    const [status, message] = await failsWith(world, admin.forgetCluster(request));
    assert.equal(status, code, name);
    assert.match(message, text);
  }
  assert.equal(world.forgotten.length, 0);
  const forced = { clusterId: 'blue', reason: 'r', force: true };
  await during(world, admin.forgetCluster(forced));
  assert.deepEqual(world.forgotten, ['blue']);
  assert.equal(operator.ending, undefined);
});

test('machines alone are reason enough to forget a cluster that nobody ever heard of', async () => {
  const world = await adminStage('machines-only');
  world.stage.machines.put('m1', { cluster: 'lost' });
  const answer = await during(
    world,
    world.as(ADMIN).forgetCluster({ clusterId: 'lost', reason: 'r' }),
  );
  assert.equal(answer.machinesBound, 1);
});

test('a roll-up during a forced forget is applied after it, not skipped as unchanged', async () => {
  const world = await adminStage('race');
  const { stage } = world;
  const operator = stage.dial('blue', clusterIdentity('blue')).hello('blue');
  operator.send({ case: 'rollup', value: rollup({ timestamp: 1n }) });
  await stage.settle();
  assert.equal(stage.engine.submitted.length, 1);
  world.duringForget = async () => {
    operator.send({ case: 'rollup', value: rollup({ timestamp: 2n }) });
    await new Promise<void>((resolve) => stage.time.runtime.timers.after(10, resolve));
  };
  await during(
    world,
    world.as(ADMIN).forgetCluster({ clusterId: 'blue', reason: 'r', force: true }),
  );
  assert.equal(stage.engine.submitted.length, 2);
});
