// Proves that a view that is joined from the bytes of its class and its own is the whole view, also when a machine
// changes its class and when a class's number has passed to another one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode, encodeInit, MachineViewSchema } from '@bigfleet/wire';
import { fourCores } from '../core/testing/stage.ts';
import { ReadStage } from './testing/read-stage.ts';

function assertJoined(stage: ReadStage): number {
  const { inventory } = stage.core.fleet;
  const { views } = stage.reading;
  let count = 0;
  for (let slot = 0; slot < inventory.slotCount; slot++) {
    if (inventory.ids[slot] === undefined || inventory.ids[slot] === '') continue;
    const whole = encodeInit(MachineViewSchema, views.viewOf(slot));
    const read = (bytes: Uint8Array): unknown => decode(MachineViewSchema, bytes, 'INTERNAL');
    assert.deepEqual(read(views.encoded(slot)), read(whole));
    count += 1;
  }
  return count;
}

test('the parts of a view are the view, whatever becomes of its class', async () => {
  const stage = new ReadStage('views');
  for (let at = 0; at < 4; at++) stage.fake.addIdle(fourCores(`host-${at}`));
  for (let at = 0; at < 4; at++) stage.fake.addSpeculative(fourCores(`slot-${at}`));
  stage.core.start();
  await stage.settle();
  assert.equal(assertJoined(stage), 8);
  await stage.demand('blue', 12);
  await stage.time.runFor(30_000);
  assert.equal(assertJoined(stage), 8);
  // Each class loses its last machine and its number goes to the next: the bytes of before would be wrong.
  for (const memory of ['33Gi', '34Gi', '35Gi']) {
    const allocatable = new Map([
      ['cpu', '4'],
      ['memory', memory],
    ]);
    for (let at = 0; at < 4; at++) stage.fake.setAllocatable(`host-${at}`, allocatable);
    await stage.time.runFor(30_000);
    const views = Array.from({ length: 8 }, (_, slot) => stage.reading.views.viewOf(slot));
    const held = views.filter((view) => view.allocatable?.resources?.['memory'] === memory);
    assert.ok(held.length >= 3, `${held.length} machines have ${memory}`);
    assert.equal(assertJoined(stage), 8);
  }
  await stage.stop();
});
