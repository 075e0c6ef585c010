// Proves what an executor makes of a machine that has moved on: work that is done already is a
// success and nothing is asked of the provider, and a move that the machine table forbids is told
// as such, not as a bug.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime, type ExecuteOutcome, ZERO_BUCKET } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { ActionKind, type ActionKindCode, State, type StateCode } from '@bigfleet/engine';
import type { ActionNeed } from '../engine-host/answer.ts';
import { createInlineHost } from '../engine-host/inline-host.ts';
import { machineOf } from '../engine-host/testing/random-inputs.ts';
import { Fleet } from '../fleet/fleet.ts';
import type { Provider } from '../provider/provider.ts';
import { failureOf, ProviderError } from '../provider/provider-error.ts';
import { ProviderSet } from '../provider/provider-set.ts';
import { ProviderSource } from '../provider/provider-source.ts';
import type { Execution } from './execution.ts';
import { Executor } from './executor.ts';

const NEED: ActionNeed = {
  cluster: 'blue',
  fingerprint: 'f1',
  group: '',
  priority: 1,
  interruptionBucket: ZERO_BUCKET,
  reclamationBucket: ZERO_BUCKET,
  requirements: [],
};

interface Trial {
  readonly fleet: Fleet;
  readonly problems: string[];
  readonly calls: string[];
  /** What the pool is told for its pace. */
  readonly paced: string[];
  run(kind: ActionKindCode): Promise<Execution>;
}

interface TrialOptions {
  readonly state: StateCode;
  readonly cluster?: string;
  readonly fingerprint?: string;
  /** While the operator renders the blob. */
  readonly meanwhile?: (fleet: Fleet) => void;
  /** While the provider refuses a call. */
  readonly whileCalled?: (fleet: Fleet) => void;
  /** Default: one that refuses every call for good. */
  readonly provider?: Provider;
}

function trial(options: TrialOptions): Trial {
  const { runtime } = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
  const { machines: feed } = createInlineHost(runtime);
  const fleet = new Fleet({ feed, clock: runtime.clock, onNodeChange: () => {} });
  const { state, cluster = '', fingerprint = '' } = options;
  const machine = machineOf('host', state, cluster);
  fleet.observe({ ...machine, assigned: { ...machine.assigned, needFingerprint: fingerprint } });
  const calls: string[] = [];
  const problems: string[] = [];
  const paced: string[] = [];
  const provider = options.provider ?? refusing(calls, () => options.whileCalled?.(fleet));
  const executor = new Executor({
    fleet,
    providers: new ProviderSet([new ProviderSource({ name: machine.provider, provider })]),
    blobs: {
      pull: async () => {
        options.meanwhile?.(fleet);
        return { kind: 'blob', userData: Uint8Array.of(1), isExpired: () => false };
      },
    },
    drains: { begin: () => 'provider_now', hold: () => {}, resume: () => {}, abandon: () => {} },
    pace: {
      accepted: () => void paced.push('accepted'),
      throttled: () => void paced.push('throttled'),
    },
    onFenced: () => assert.fail('fenced'),
    onProblem: (_, problem) => problems.push(problem),
  });
  const handle = fleet.handleOf(fleet.inventory.slotOf('host'));
  return {
    fleet,
    problems,
    calls,
    paced,
    run: (kind) =>
      executor.run(
        {
          kind,
          handle,
          machineId: 'host',
          cluster: 'blue',
          need: NEED,
          graceSeconds: 10,
          preemptorPriority: 0,
          reason: 'phase1.idle',
          cycle: 1,
        },
        new AbortController().signal,
      ),
  };
}

/** Refuses every call for good. */
function refusing(calls: string[], meanwhile: () => void): Provider {
  const refuse = (call: string) => async (): Promise<never> => {
    calls.push(call);
    meanwhile();
    const status = 'INVALID_ARGUMENT';
    throw new ProviderError({ failure: failureOf(status), status, message: 'no' });
  };
  return {
    create: refuse('create'),
    configure: refuse('configure'),
    drain: refuse('drain'),
    delete: refuse('delete'),
    get: refuse('get'),
    list: refuse('list'),
  };
}

const { Bootstrap, Provision, Reclaim, Preempt, Delete } = ActionKind;
const configured = { state: State.Configured, cluster: 'blue', fingerprint: 'f1' };
const repetitions: readonly (readonly [string, ActionKindCode, TrialOptions, ExecuteOutcome])[] = [
  ['bootstrapped already, for this need', Bootstrap, configured, 'success'],
  ['for another need', Bootstrap, { ...configured, fingerprint: 'f2' }, 'stale_state'],
  ['for another cluster', Bootstrap, { ...configured, cluster: 'green' }, 'stale_state'],
  ['Configuring still', Bootstrap, { ...configured, state: State.Configuring }, 'stale_state'],
  ['created already', Provision, { state: State.Idle }, 'stale_state'],
  ['drained already', Reclaim, { state: State.Idle }, 'success'],
  ['draining already', Preempt, { ...configured, state: State.Draining }, 'success'],
  ['deleted already', Delete, { state: State.Speculative }, 'success'],
  ['claimed before it was deleted', Delete, configured, 'success'],
];
for (const [name, kind, options, outcome] of repetitions) {
  test(`${name}: ${outcome}, and nothing is asked`, async () => {
    const { run, calls, fleet } = trial(options);
    assert.equal(await run(kind), outcome);
    assert.deepEqual(calls, []);
    assert.equal(fleet.stateOf(0), options.state);
  });
}

test('a definite refusal fails the machine', async () => {
  const { run, fleet } = trial({ state: State.Idle });
  assert.equal(await run(Bootstrap), 'provider_error');
  assert.equal(fleet.read(0).lastError, 'configure: no');
});

test('refused, and the machine is already elsewhere: no illegal move, and its own outcome', async () => {
  const { run, fleet, problems } = trial({
    ...configured,
    whileCalled: (observed) => observed.observe(machineOf('host', State.Idle, '')),
  });
  assert.equal(await run(Reclaim), 'transition_error');
  assert.equal(fleet.stateOf(0), State.Idle);
  assert.deepEqual(problems, ['drain: no', 'no transition from Idle to Failed']);
});

test('bound by another while the blob was rendered: the provider is not asked', async () => {
  const { run, calls, fleet } = trial({
    state: State.Idle,
    meanwhile: (observed) => observed.observe(machineOf('host', State.Configured, 'green')),
  });
  assert.equal(await run(Bootstrap), 'transition_error');
  assert.deepEqual(calls, []);
  assert.equal(fleet.read(0).cluster, 'green');
});

test('idle again while the blob was rendered: benign', async () => {
  const { run, calls } = trial({
    state: State.Idle,
    meanwhile: (observed) => observed.observe(machineOf('host', State.Idle, '')),
  });
  assert.equal(await run(Bootstrap), 'transition_raced_to_idle');
  assert.deepEqual(calls, []);
});

test('what is bought counts for its need before the provider is asked: no cycle buys it twice', async () => {
  const seen: unknown[] = [];
  const { run, calls } = trial({
    state: State.Speculative,
    whileCalled: (fleet) => {
      const { state, cluster, intendedCluster, assigned } = fleet.read(
        fleet.inventory.slotOf('host'),
      );
      seen.push([state, cluster, intendedCluster, assigned.needFingerprint]);
    },
  });
  await run(ActionKind.Provision);
  assert.deepEqual(calls, ['create']);
  assert.deepEqual(seen, [[State.Creating, '', 'blue', 'f1']]);
});

/** Has no room for any call that changes something; `get` says what became of the machine. */
function throttling(get: Provider['get']): Provider {
  const status = 'RESOURCE_EXHAUSTED';
  const refuse = async (): Promise<never> => {
    throw new ProviderError({ failure: failureOf(status), status, message: 'slow down' });
  };
  return { create: refuse, configure: refuse, drain: refuse, delete: refuse, get, list: refuse };
}

const mute: Provider['get'] = async () => {
  const status = 'RESOURCE_EXHAUSTED';
  throw new ProviderError({ failure: failureOf(status), status, message: 'slow down' });
};

function reported(state: StateCode, cluster: string): Provider['get'] {
  const { id, instanceType, zone, capacityType, host, labels } = machineOf('host', state, cluster);
  return async () => ({
    id,
    state,
    host,
    instanceType,
    zone,
    capacityType,
    pricePerHour: 0.2,
    interruptionProbability: 0,
    resources: new Map([['cpu', '4']]),
    allocatable: new Map([['cpu', '4']]),
    labels,
    lastError: '',
    cluster,
    shardMetadata: new Map(),
  });
}

const putOff: readonly (readonly [ActionKindCode, StateCode, string])[] = [
  [Provision, State.Speculative, ''],
  [Bootstrap, State.Idle, ''],
  [Reclaim, State.Configured, 'blue'],
  [Delete, State.Idle, ''],
];
for (const [kind, state, cluster] of putOff) {
  test(`throttled, action ${kind}: put off, no failure, and the machine is where it was`, async () => {
    const provider = throttling(reported(state, cluster));
    const { run, fleet, paced } = trial({ state, cluster, provider });
    assert.equal(await run(kind), 'put_off');
    assert.equal(fleet.stateOf(0), state);
    assert.deepEqual(paced, ['throttled']);
  });

  test(`throttled, action ${kind}, and mute about it: in doubt, never Failed`, async () => {
    const { run, fleet } = trial({ state, cluster, provider: throttling(mute) });
    assert.equal(await run(kind), 'put_off');
    assert.notEqual(fleet.stateOf(0), State.Failed);
    assert.deepEqual(fleet.takeWrites(fleet.providerOf(0)).doubted, ['host']);
  });
}

test('throttled, and the call took effect all the same: what the provider says counts', async () => {
  const provider = throttling(reported(State.Configuring, 'blue'));
  const { run, fleet } = trial({ state: State.Idle, provider });
  assert.deepEqual(await run(Bootstrap), { underWay: State.Configuring });
  assert.equal(fleet.stateOf(0), State.Configuring);
});
