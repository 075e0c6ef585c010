// Proves what the transport gets when it pulls: Hello, then replies before identities before the
// roll-up, the newest roll-up only, and that no stream of replies starves the roll-up.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRegistry } from '@bigfleet/telemetry';
import { Outbound, type PendingRollup } from './outbound.ts';

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function rollup(text: string, isPeriodic = true): PendingRollup {
  return { bytes: bytes(text), unacknowledged: [], isPeriodic };
}

interface Fixture {
  readonly outbound: Outbound;
  readonly identities: string[];
  readonly sent: number[];
  state: { hasUnanswered: boolean };
  /** The next frame, or undefined when the transport would wait. */
  pull(): Promise<string | undefined>;
}

function open(outboxCapacity = 4): Fixture {
  const identities: string[] = [];
  const sent: number[] = [];
  const state = { hasUnanswered: false };
  const outbound = new Outbound({
    hello: bytes('hello'),
    outboxCapacity,
    dropped: createRegistry().counter({ name: 'dropped_total', help: 'x' }),
    takeIdentities: () => {
      const text = identities.shift();
      return text === undefined ? undefined : bytes(text);
    },
    hasUnansweredRollup: () => state.hasUnanswered,
    onRollupSent: (one) => sent.push(one.bytes.length),
  });
  let waiting: Promise<IteratorResult<Uint8Array>> | undefined;
  const pull = async (): Promise<string | undefined> => {
    waiting ??= outbound.next();
    const step = await Promise.race([waiting, Promise.resolve(undefined)]);
    if (step === undefined) return undefined;
    waiting = undefined;
    return step.done === true ? 'end' : new TextDecoder().decode(step.value);
  };
  return { outbound, identities, sent, state, pull };
}

async function pullAll({ pull }: Fixture): Promise<string[]> {
  const frames: string[] = [];
  for (let frame = await pull(); frame !== undefined; frame = await pull()) frames.push(frame);
  return frames;
}

describe('Outbound', () => {
  it('orders what is ready', async () => {
    const fixture = open();
    fixture.outbound.replaceRollup(rollup('rollup'));
    fixture.identities.push('identity');
    fixture.outbound.reply(bytes('reply'));
    assert.deepEqual(await pullAll(fixture), ['hello', 'reply', 'identity', 'rollup']);
    assert.deepEqual(fixture.sent, [6]);
  });

  it('hands over what comes while the transport waits', async () => {
    const fixture = open();
    await pullAll(fixture);
    fixture.outbound.reply(bytes('a'));
    assert.deepEqual(await pullAll(fixture), ['a']);
    fixture.identities.push('b');
    fixture.outbound.wake();
    assert.deepEqual(await pullAll(fixture), ['b']);
    fixture.outbound.replaceRollup(rollup('c'));
    assert.deepEqual(await pullAll(fixture), ['c']);
  });

  it('keeps the newest roll-up and the oldest replies', async () => {
    const fixture = open(2);
    for (const text of ['r1', 'r2', 'r3']) fixture.outbound.replaceRollup(rollup(text));
    const outcomes = ['a', 'b', 'c'].map((text) => fixture.outbound.reply(bytes(text)));
    assert.deepEqual(outcomes, ['queued', 'queued', 'dropped']);
    assert.deepEqual(await pullAll(fixture), ['hello', 'a', 'b', 'r3']);
  });

  it('holds an early roll-up back until the last one is answered, a periodic one never', async () => {
    const fixture = open();
    await pullAll(fixture);
    fixture.state.hasUnanswered = true;
    fixture.outbound.replaceRollup(rollup('early', false));
    assert.deepEqual(await pullAll(fixture), []);
    fixture.state.hasUnanswered = false;
    fixture.outbound.wake();
    assert.deepEqual(await pullAll(fixture), ['early']);
    fixture.state.hasUnanswered = true;
    fixture.outbound.replaceRollup(rollup('periodic'));
    assert.deepEqual(await pullAll(fixture), ['periodic']);
  });

  it('lets the roll-up through a stream of replies that never ends', async () => {
    const fixture = open(4);
    assert.equal(await fixture.pull(), 'hello');
    fixture.outbound.replaceRollup(rollup('rollup'));
    fixture.outbound.reply(bytes('first'));
    const frames: (string | undefined)[] = [];
    for (let n = 0; n < 12; n++) {
      fixture.outbound.reply(bytes(`r${n}`));
      frames.push(await fixture.pull());
    }
    assert.ok(frames.indexOf('rollup') > 0 && frames.indexOf('rollup') <= 5, frames.join(' '));
  });

  it('ends for good', async () => {
    const fixture = open();
    assert.deepEqual(await pullAll(fixture), ['hello']);
    await fixture.outbound.return();
    assert.equal(await fixture.pull(), 'end');
    fixture.outbound.reply(bytes('late'));
    assert.equal((await fixture.outbound.next()).done, true);
  });
});
