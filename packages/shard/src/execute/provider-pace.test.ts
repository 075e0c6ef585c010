// Proves the pace of one provider: halved once per window of refusals, paused for longer while nothing
// but refusals comes back, widened by acceptances only, and bounded on both sides whatever happens.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import fc from 'fast-check';
import { FIRST_PAUSE_MS, LONGEST_PAUSE_MS, ProviderPace } from './provider-pace.ts';

const paceOf = (maxWindow = 64): ProviderPace => new ProviderPace(maxWindow, createRandom('pace'));

test('a window of refusals halves it once, and pauses once', () => {
  const pace = paceOf();
  const tickets = Array.from({ length: 64 }, () => pace.begin());
  const slowed = tickets.map((ticket) => pace.refused(ticket, 0));
  assert.equal(slowed.filter((each) => each !== undefined).length, 1);
  assert.equal(pace.window, 32);
  const pauseMs = slowed[0]?.pauseMs ?? 0;
  assert.ok(pauseMs > FIRST_PAUSE_MS / 2 && pauseMs <= FIRST_PAUSE_MS);
  assert.equal(pace.pauseMs(0), pauseMs);
  assert.equal(pace.pauseMs(pauseMs), 0);
});

test('acceptances of actions that began before the refusal change nothing', () => {
  const pace = paceOf();
  const [late, refused] = [pace.begin(), pace.begin()];
  pace.refused(refused, 0);
  assert.equal(pace.accepted(late), false);
  assert.deepEqual([pace.window, pace.isRefusing], [32, true]);
});

test('nothing but refusals: down to one at a time, and pauses up to half a minute', () => {
  const pace = paceOf();
  const pauses = Array.from({ length: 12 }, () => pace.refused(pace.begin(), 0)?.pauseMs ?? 0);
  assert.equal(pace.window, 1);
  for (const [at, pauseMs] of pauses.entries()) {
    const ceilingMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** at);
    assert.ok(pauseMs > ceilingMs / 2 && pauseMs <= ceilingMs, `${pauseMs} of ${ceilingMs}`);
  }
});

test('a window of acceptances widens it by about one, up to where it was; the next pause is short', () => {
  const pace = paceOf(8);
  for (let refusals = 0; refusals < 5; refusals++) pace.refused(pace.begin(), 0);
  assert.equal(pace.window, 1);
  assert.equal(pace.accepted(pace.begin()), true, 'the first one after refusals is told');
  assert.equal(pace.accepted(pace.begin()), false);
  for (let rounds = 0; rounds < 8; rounds++) {
    const before = pace.window;
    for (let accepted = 0; accepted < before; accepted++) pace.accepted(pace.begin());
    assert.ok(pace.window <= before + 1 && pace.window <= 8);
  }
  for (let accepted = 0; accepted < 20; accepted++) pace.accepted(pace.begin());
  assert.equal(pace.window, 8);
  assert.ok((pace.refused(pace.begin(), 0)?.pauseMs ?? 0) <= FIRST_PAUSE_MS);
});

test('property: the window stays between one and its maximum, the pause within its bound', () => {
  const step = fc.constantFrom('begin', 'accept', 'refuse', 'wait');
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 300 }),
      fc.integer({ min: 1, max: 9 }),
      (steps, max) => {
        const pace = paceOf(max);
        const open: number[] = [];
        let nowMs = 0;
        for (const each of steps) {
          if (each === 'begin') open.push(pace.begin());
          else if (each === 'wait') nowMs += 700;
          else {
            const ticket = open.shift() ?? pace.begin();
            if (each === 'accept') pace.accepted(ticket);
            else pace.refused(ticket, nowMs);
          }
          assert.ok(pace.window >= 1 && pace.window <= max);
          assert.ok(pace.pauseMs(nowMs) <= LONGEST_PAUSE_MS);
        }
      },
    ),
  );
});
