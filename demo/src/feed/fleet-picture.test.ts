// Proves that the picture is the snapshot plus the deltas, that half a snapshot never counts, and that
// a snapshot with other totals than announced is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MachineState } from '@bigfleet/wire';
import { FleetPicture, needKey } from './fleet-picture.ts';
import { delta, frame, snapshot } from './testing/frames.ts';

const idle = { id: 'm-1', state: MachineState.IDLE };
const need = { cluster: 'web-eu', fingerprint: 'f-1' };

test('a snapshot counts from its end on, deltas change it', () => {
  const picture = new FleetPicture();
  const complete = snapshot([idle], [need]).map((part) => picture.apply(part));
  assert.deepEqual(complete, [false, false, true]);
  const changed = delta({
    cycle: 2,
    machines: [{ ...idle, state: MachineState.CONFIGURED, cluster: 'web-eu' }],
    removedNeeds: [need],
    dollarsPerHour: 1.5,
  });
  assert.equal(picture.apply(changed), true);
  assert.equal(picture.machines.get('m-1')?.state, MachineState.CONFIGURED);
  assert.equal(picture.needs.size, 0);
  assert.deepEqual([picture.cycle, picture.dollarsPerHour], [2, 1.5]);
  picture.apply(delta({ cycle: 3, removedMachines: ['m-1'], needs: [need] }));
  assert.equal(picture.machines.size, 0);
  assert.ok(picture.needs.has(needKey('web-eu', 'f-1', '')));
});

test('after a lag nothing counts until the next snapshot has ended', () => {
  const picture = new FleetPicture();
  for (const part of snapshot([idle], [need])) picture.apply(part);
  picture.apply(frame({ case: 'lagged', value: { skippedCycles: 9n } }));
  assert.equal(picture.machines.size, 0);
  const [, chunk, end] = snapshot([idle], [need]);
  assert.ok(chunk !== undefined && end !== undefined);
  assert.equal(picture.apply(chunk), false);
  assert.equal(picture.apply(delta({ cycle: 5 })), false);
  assert.equal(picture.apply(end), true);
});

test('a resumed stream keeps the picture, another one starts over', () => {
  const picture = new FleetPicture();
  for (const part of snapshot([idle], [need])) picture.apply(part);
  picture.apply(frame({ case: 'hello', value: { resumed: true } }));
  assert.equal(picture.machines.size, 1);
  picture.apply(frame({ case: 'hello', value: { resumed: false } }));
  assert.equal(picture.machines.size, 0);
});

test('totals that do not fit are refused', () => {
  const picture = new FleetPicture();
  const end = frame({ case: 'snapshotEnd', value: { machines: 1, needs: 0 } });
  assert.throws(() => picture.apply(end), /holds 0 machines and 0 needs, but announced 1 and 0/);
});
