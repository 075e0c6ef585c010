// Proves that whatever passes the limits of a machine's texts also reaches the engine's thread, byte for
// byte, and that what is a little longer is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InputDecoder, InputEncoder, type Machine, State } from '@bigfleet/engine';
import { machineOf } from '../engine-host/testing/random-inputs.ts';
import { cutError, isTooLongMachine, isTooLongShape } from './text-limits.ts';

/** Three bytes each when encoded. */
const wide = (length: number): string => '\u{2603}'.repeat(length);
const MAX = 1 << 18;

function crosses(machine: Machine): boolean {
  const encoder = new InputEncoder();
  encoder.write({ kind: 'put', machine, nowMs: 0 });
  const [entry] = new InputDecoder().decode(encoder.take());
  return entry?.kind === 'put' && entry.machine.id === machine.id;
}

const longest: readonly (readonly [string, Machine])[] = [
  ['an id', { ...machineOf('a', State.Idle, ''), id: wide(MAX - 20) }],
  ['a cluster', machineOf('a', State.Configured, wide(MAX - 20))],
  ['labels', { ...machineOf('a', State.Idle, ''), labels: new Map([['k', wide(MAX - 40)]]) }],
  ['an error', { ...machineOf('a', State.Failed, ''), lastError: cutError(wide(MAX)) }],
];
for (const [what, machine] of longest) {
  test(`${what} of the greatest length crosses threads`, () => {
    assert.equal(isTooLongMachine(machine) || isTooLongShape(machine), false);
    assert.equal(crosses(machine), true);
  });
}

test('longer ones are refused, and an error is cut between two characters', () => {
  assert.equal(isTooLongMachine({ ...machineOf('a', State.Idle, ''), id: wide(MAX + 1) }), true);
  const labels = new Map([['k', wide(MAX)]]);
  assert.equal(isTooLongShape({ ...machineOf('a', State.Idle, ''), labels }), true);
  assert.ok(cutError('\u{1f600}'.repeat(4_096)).isWellFormed());
  assert.equal(cutError('short'), 'short');
});
