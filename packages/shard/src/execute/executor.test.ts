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
  const provider = refusing(calls, () => options.whileCalled?.(fleet));
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
    onFenced: () => assert.fail('fenced'),
    onProblem: (_, problem) => problems.push(problem),
  });
  const handle = fleet.handleOf(fleet.inventory.slotOf('host'));
  return {
    fleet,
    problems,
    calls,
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
