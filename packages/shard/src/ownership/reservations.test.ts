// Proves that a reservation holds while its machine drains, then for its time, then ends by itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Reservations } from './reservations.ts';

const FOR_S2 = { recipient: 's2', ttlMs: 600_000, drainMs: 30_000 };

test('the time limit runs from the moment the machine is idle, and only once', () => {
  const reservations = new Reservations();
  reservations.reserve('m', FOR_S2, 0);
  reservations.becameIdle('m', 20_000);
  reservations.becameIdle('m', 500_000);
  assert.deepEqual(reservations.expire(619_999), []);
  assert.equal(reservations.recipientOf('m'), 's2');
  assert.deepEqual(reservations.expire(620_000), ['m']);
  assert.equal(reservations.recipientOf('m'), undefined);
});

test('a machine that never becomes idle is let go too', () => {
  const reservations = new Reservations();
  reservations.reserve('m', FOR_S2, 0);
  assert.deepEqual(reservations.expire(629_999), []);
  assert.deepEqual(reservations.expire(630_000), ['m']);
});

test('there is a bound', () => {
  const reservations = new Reservations();
  assert.ok(reservations.hasRoomFor(1_000));
  for (let at = 0; at < 1_000; at++) reservations.reserve(`m${at}`, FOR_S2, 0);
  assert.ok(!reservations.hasRoomFor(1));
  reservations.drop('m7');
  assert.ok(reservations.hasRoomFor(1));
});
