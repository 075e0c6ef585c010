// Proves what each instruction asks of the shard, that what cannot be understood is refused by name,
// and that a shard whose actuation is off still keeps the books.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PINNED_BUCKET } from '@bigfleet/base';
import { create, CoordinatorInstructionSchema } from '../testing/make-message.ts';
import { RecordingControl } from '../testing/recording-control.ts';
import {
  assignZone,
  instruction,
  type PayloadInit,
  SELECTOR,
  transfer,
} from '../testing/instructions.ts';
import { executeInstruction } from './execute.ts';

const PREPARE = 1;
const CLAIM = 2;
const RELEASE = 3;
const CANCEL = 4;

function run(control: RecordingControl, payload: PayloadInit) {
  return executeInstruction(
    control,
    create(CoordinatorInstructionSchema, instruction('x', payload)),
  );
}

const unassign: PayloadInit = {
  case: 'unassignDomain',
  value: { topologyKey: 'zone', topologyValue: 'a' },
};
const reassign = (parts: object = {}): PayloadInit => ({
  case: 'reassignSpeculative',
  value: { provider: 'p', region: 'r', newSlice: 3, ...parts },
});
const drain = (parts: object = {}): PayloadInit => ({
  case: 'crossShardDrain',
  value: {
    selector: SELECTOR,
    preemptorPriority: 900,
    preemptorInterruptionPenaltyBucket: 9,
    toShardId: 's2',
    reserveTtlSeconds: 600,
    ...parts,
  },
});
const asRecipient = { fromShardId: 's2', toShardId: 's1', machineIds: ['m1', 'm2'] };

const orders: readonly (readonly [string, PayloadInit, string])[] = [
  ['AssignDomain', assignZone('a'), 'assign zone=a'],
  ['UnassignDomain', unassign, 'unassign zone=a'],
  ['ReassignSpeculative', reassign(), 'quota p/r=3'],
  ['CrossShardDrain', drain(), 'drain'],
  ['PREPARE', transfer(PREPARE), 'prepare t1'],
  ['CLAIM', transfer(CLAIM, asRecipient), 'claim t1 m1,m2'],
  ['RELEASE', transfer(RELEASE, { machineIds: ['m1'] }), 'release t1 m1'],
  ['CANCEL', transfer(CANCEL), 'cancel t1'],
];
for (const [name, payload, expected] of orders) {
  test(`${name} becomes an order`, async () => {
    const control = new RecordingControl();
    assert.equal((await run(control, payload)).kind, 'accepted');
    assert.deepEqual(control.told, [expected]);
  });
}

const malformed: readonly (readonly [string, PayloadInit, RegExp])[] = [
  ['no payload', { case: undefined }, /unknown payload/],
  ['a domain without a key', { case: 'assignDomain', value: {} }, /no key/],
  ['a slice of no provider', reassign({ provider: '' }), /no provider/],
  ['a negative slice', reassign({ newSlice: -1 }), /slice of -1/],
  ['a drain without a selector', drain({ selector: undefined }), /no selector/],
  ['a drain with a strange bucket', drain({ preemptorInterruptionPenaltyBucket: 99 }), /bucket/],
  ['a transfer without an id', transfer(CANCEL, { transferId: '' }), /no transfer id/],
  ['a transfer in no phase', transfer(0), /phase/],
  ['a transfer in a later phase', transfer(77), /phase/],
  ['PREPARE for another donor', transfer(PREPARE, { fromShardId: 's9' }), /s9 is its donor/],
  ['RELEASE for another donor', transfer(RELEASE, { fromShardId: 's9' }), /s9 is its donor/],
  ['CLAIM for another recipient', transfer(CLAIM), /s2 is its recipient/],
  [
    'a quantity that is none',
    transfer(PREPARE, { selector: { ...SELECTOR, deficit: { resources: { cpu: 'lots' } } } }),
    /deficit: quantity_malformed/,
  ],
  [
    'an operator that is none',
    transfer(PREPARE, { selector: { ...SELECTOR, requirements: [{ key: 'k', operator: 9 }] } }),
    /operator 9/,
  ],
];
for (const [name, payload, problem] of malformed) {
  test(`${name} is refused, not accepted`, async () => {
    const control = new RecordingControl();
    const outcome = await run(control, payload);
    assert.equal(outcome.kind, 'rejected');
    assert.ok(outcome.kind === 'rejected');
    assert.equal(outcome.code, 'unknown_payload');
    assert.match(outcome.detail, problem);
    assert.deepEqual(control.told, []);
  });
}

const actuating = new Set(['ReassignSpeculative', 'CrossShardDrain', 'PREPARE']);
for (const inactive of ['actuation_paused', 'dry_run'] as const) {
  for (const [name, payload, expected] of orders) {
    const isRefused = actuating.has(name);
    test(`${inactive}: ${name} is ${isRefused ? 'refused' : 'still carried out'}`, async () => {
      const control = new RecordingControl();
      control.inactive = inactive;
      const outcome = await run(control, payload);
      assert.deepEqual(control.told, isRefused ? [] : [expected]);
      assert.equal(
        outcome.kind === 'rejected' ? outcome.code : outcome.kind,
        isRefused ? inactive : 'accepted',
      );
    });
  }
}

test('a selector says what was said', async () => {
  const control = new RecordingControl();
  const selector = {
    ...SELECTOR,
    instanceType: 'large',
    zone: 'z',
    requirements: [{ key: 'pool', operator: 1, values: ['gpu'] }],
    interruptionPenaltyBucket: PINNED_BUCKET as number,
  };
  await run(control, transfer(PREPARE, { selector }));
  assert.deepEqual(control.prepares[0], {
    transferId: 't1',
    toShardId: 's2',
    selector: {
      instanceType: 'large',
      zone: 'z',
      count: 2,
      requirements: [{ key: 'pool', operator: 1, values: ['gpu'] }],
      deficit: new Map([['cpu', 8_000]]),
      minUnit: new Map([['cpu', 1_000]]),
      providerAddress: 'alpha:9000',
      interruptionBucket: PINNED_BUCKET,
    },
  });
  await run(control, transfer(PREPARE));
  assert.equal(control.prepares[1]?.selector.interruptionBucket, undefined, '0 does not filter');
});

test('a drain without a time for its reservation gets the default, and none is without end', async () => {
  const control = new RecordingControl();
  await run(control, drain({ reserveTtlSeconds: 0 }));
  await run(control, drain({ reserveTtlSeconds: 2_000_000_000 }));
  assert.deepEqual(
    control.drains.map(({ reserveTtlMs }) => reserveTtlMs),
    [600_000, 86_400_000],
  );
});
