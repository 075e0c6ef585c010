// Proves that each of the 25 wire checks can fail: for each there is a provider that is wrong in
// one way, on which it fails, while it passes on the same provider untampered.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FailureCode } from '@bigfleet/wire';
import type { Ack, Answer, Endpoint, MachineCall } from '../harness/endpoint.ts';
import type { MachineView } from '../harness/machine.ts';
import { KitSubject } from '../harness/testing/kit-subject.ts';
import type { Tampering } from '../harness/testing/tamper.ts';
import { createTime, createWorld, type Outcome } from '../harness/testing/world.ts';
import { wireChecks } from './index.ts';

/** What stands in place of a code. */
function recoded<T>(answer: Answer<T>, from: FailureCode, to: FailureCode): Answer<T> {
  return !answer.ok && answer.code === from ? { ...answer, code: to } : answer;
}

function refused(code: FailureCode): { ok: false; code: FailureCode; message: string } {
  return { ok: false, code, message: 'tampered' };
}

function alteredOnGet(
  real: Endpoint,
  change: (machine: MachineView) => MachineView,
): Endpoint['get'] {
  return async (machineId) => {
    const answer = await real.get(machineId);
    return answer.ok ? { ok: true, value: change(answer.value) } : answer;
  };
}

function alteredOnList(
  real: Endpoint,
  change: (machine: MachineView) => MachineView,
): Endpoint['list'] {
  return async (query) => {
    const answer = await real.list(query);
    if (!answer.ok) return answer;
    return { ok: true, value: { ...answer.value, machines: answer.value.machines.map(change) } };
  };
}

/** Every call gets an operation id of its own. */
function freshIds<C extends MachineCall>(
  call: (call: C) => Promise<Answer<Ack>>,
): (call: C) => Promise<Answer<Ack>> {
  let count = 0;
  return async (given) => {
    const answer = await call(given);
    count += 1;
    return answer.ok
      ? { ok: true, value: { ...answer.value, operationId: `op-${count}` } }
      : answer;
  };
}

/** Refuses by a rule of its own before the provider sees the call. */
function fencedBy(isStale: (call: MachineCall) => boolean): Tampering {
  return (real) => ({
    create: async (call) => (isStale(call) ? refused('FAILED_PRECONDITION') : real.create(call)),
  });
}

const unfenced: Tampering = (real) => ({
  create: ({ machineId }) => real.create({ machineId }),
});

/** One mark for all machines of a shard: B's lower sequence looks like a zombie's. */
function oneMarkPerShard(): Tampering {
  let mark = -1n;
  return fencedBy(({ token }) => {
    const sequence = token?.sequenceNumber ?? 0n;
    const isStale = token !== undefined && sequence <= mark;
    if (!isStale) mark = sequence;
    return isStale;
  });
}

const stuckDraining: Tampering = (real) => {
  let hasDrained = false;
  return {
    drain: (call) => {
      hasDrained = true;
      return real.drain(call);
    },
    get: alteredOnGet(real, (machine) =>
      hasDrained ? { ...machine, state: 'DRAINING' } : machine,
    ),
  };
};

const bindingStays: Tampering = (real) => {
  let bound: MachineView | undefined;
  return {
    get: alteredOnGet(real, (machine) => {
      if (machine.cluster !== '') bound = machine;
      const isLeft = bound !== undefined && machine.state === 'IDLE';
      return isLeft ? { ...machine, metadata: bound?.metadata ?? new Map() } : machine;
    }),
  };
};

const wrong: readonly (readonly [name: string, tampering: () => Tampering])[] = [
  ['FullLifecycle', () => () => ({ delete: async () => refused('INTERNAL') })],
  [
    'TransitionalStateObservability',
    () => (real) => ({
      get: alteredOnGet(real, (machine) =>
        machine.state === 'IDLE' ? { ...machine, state: 'CONFIGURED' } : machine,
      ),
    }),
  ],
  ['DrainGraceTimeout', () => stuckDraining],
  ['CreateIdempotent', () => (real) => ({ create: freshIds((call) => real.create(call)) })],
  [
    'ConfigureIdempotent',
    () => (real) => ({ configure: freshIds((call) => real.configure(call)) }),
  ],
  ['DrainIdempotent', () => (real) => ({ drain: freshIds((call) => real.drain(call)) })],
  ['DeleteIdempotent', () => (real) => ({ delete: freshIds((call) => real.delete(call)) })],
  [
    'GetUnknownMachine',
    () => (real) => ({ get: async (id) => recoded(await real.get(id), 'NOT_FOUND', 'INTERNAL') }),
  ],
  [
    'DeleteUnknownMachine',
    () => (real) => ({
      delete: async (call) => recoded(await real.delete(call), 'NOT_FOUND', 'INTERNAL'),
    }),
  ],
  ['ListFiltersByState', () => (real) => ({ list: ({ since } = {}) => real.list({ since }) })],
  [
    'ListFiltersByState',
    () => (real) => ({
      list: async (query) => {
        const isIdle = query?.states?.includes('IDLE') === true;
        const answer = await real.list(query);
        return answer.ok && isIdle
          ? { ok: true, value: { ...answer.value, machines: [] } }
          : answer;
      },
    }),
  ],
  ['ListMaxResults', () => (real) => ({ list: ({ states } = {}) => real.list({ states }) })],
  [
    'LabelShape',
    () => (real) => ({
      list: alteredOnList(real, (machine) => ({ ...machine, instanceType: '' })),
    }),
  ],
  [
    'LabelShape',
    () => (real) => ({
      list: alteredOnList(real, (machine) => ({ ...machine, state: 'UNSPECIFIED' })),
    }),
  ],
  [
    'CostFieldBounds',
    () => (real) => ({
      list: alteredOnList(real, (machine) => ({ ...machine, pricePerHour: Number.NaN })),
    }),
  ],
  [
    'CostFieldBounds',
    () => (real) => ({
      list: alteredOnList(real, (machine) => ({ ...machine, interruptionProbability: 1.5 })),
    }),
  ],
  [
    'ListRevisionAdvances',
    () => (real) => ({
      list: async (query) => {
        const answer = await real.list(query);
        const revision = new Uint8Array([1]);
        return answer.ok ? { ok: true, value: { ...answer.value, revision } } : answer;
      },
    }),
  ],
  [
    'DrainOnSpeculative',
    () => (real) => ({
      drain: async (call) => recoded(await real.drain(call), 'INTERNAL', 'FAILED_PRECONDITION'),
    }),
  ],
  [
    'DeleteOnConfigured',
    () => (real) => ({
      delete: async (call) => recoded(await real.delete(call), 'INTERNAL', 'FAILED_PRECONDITION'),
    }),
  ],
  ['FencingUnknownShardAccepted', () => unfenced],
  ['FencingUnknownShardAccepted', () => fencedBy(({ token }) => token !== undefined)],
  ['FencingStaleEpochRejected', () => unfenced],
  ['FencingStaleSequenceRejected', () => unfenced],
  ['FencingPerMachineIsolation', oneMarkPerShard],
  ['FencingNewEpochResetsSequence', oneMarkPerShard],
  [
    'FencingReadsUnaffected',
    () => (real) => {
      let isFenced = false;
      return {
        create: async (call) => {
          const answer = await real.create(call);
          isFenced ||= !answer.ok;
          return answer;
        },
        get: async (id) => (isFenced ? refused('FAILED_PRECONDITION') : real.get(id)),
      };
    },
  ],
  [
    'MetadataEchoedOnGetAndList',
    () => (real) => ({
      list: alteredOnList(real, (machine) => ({ ...machine, metadata: new Map() })),
    }),
  ],
  [
    'MetadataEchoedOnGetAndList',
    () => (real) => ({
      get: alteredOnGet(real, (machine) => ({
        ...machine,
        metadata: new Map(
          [...machine.metadata].map(([key, value]) => [key, value.split('\0')[0] ?? '']),
        ),
      })),
    }),
  ],
  ['MetadataAndBindingClearOnDrain', () => bindingStays],
  [
    'MetadataUnknownKeysPreservedVerbatim',
    () => (real) => ({
      get: alteredOnGet(real, (machine) => ({
        ...machine,
        metadata: new Map([...machine.metadata].map(([key, value]) => [key, value.trim()])),
      })),
    }),
  ],
];

async function judge(name: string, tampering?: Tampering): Promise<Outcome> {
  const check = wireChecks.find((entry) => entry.name === name);
  assert.ok(check !== undefined, name);
  const time = createTime();
  const world = await createWorld(new KitSubject(time, { seedCount: 12 }), time);
  try {
    const options = tampering === undefined ? {} : { tampering };
    return await world.judge({ id: name, run: check.run }, options);
  } finally {
    world.close();
  }
}

for (const { name } of wireChecks) {
  const tamperings = wrong.filter(([wrongFor]) => wrongFor === name);
  test(`${name} passes on a right provider and fails on ${tamperings.length} wrong ones`, async () => {
    assert.ok(tamperings.length > 0);
    assert.equal((await judge(name)).kind, 'passed');
    for (const [, tampering] of tamperings) {
      assert.equal((await judge(name, tampering())).kind, 'failed');
    }
  });
}
