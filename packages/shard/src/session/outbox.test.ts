// Proves the order and the bounds of an outbox: must-deliver first, newer content in the old place,
// a barrier behind what was queued before it; and that it equals a slow obvious model.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ackFrame, type ShardFrame } from './frame.ts';
import { MAX_MUST_DELIVER_FRAMES, Outbox } from './outbox.ts';

const stamp = { coordinatorTerm: 0n, shardEpoch: 0n };

/** Frames are compared by identity; the echo only names them in a failure. */
function frame(name: string): ShardFrame {
  return ackFrame('hello', stamp, [name]);
}

function drain(outbox: Outbox): ShardFrame[] {
  const taken: ShardFrame[] = [];
  for (let next = outbox.take(); next !== undefined; next = outbox.take()) taken.push(next);
  return taken;
}

test('must-deliver frames overtake coalescing ones, each in its order', () => {
  const outbox = new Outbox();
  const [a, b, first, second] = [frame('a'), frame('b'), frame('1'), frame('2')];
  outbox.post('a', a);
  outbox.deliver(first);
  outbox.post('b', b);
  outbox.deliver(second);
  assert.equal(outbox.size, 4);
  assert.deepEqual(drain(outbox), [first, second, a, b]);
  assert.equal(outbox.size, 0);
});

test('a newer frame takes the place of the queued one, and a new place once that was sent', () => {
  const outbox = new Outbox();
  const [old, newer, other, later] = [frame('old'), frame('new'), frame('o'), frame('l')];
  assert.equal(outbox.post('k', old), false);
  outbox.post('other', other);
  assert.equal(outbox.post('k', newer), true);
  assert.equal(outbox.size, 2);
  assert.equal(outbox.take(), newer);
  assert.equal(outbox.post('k', later), false);
  assert.deepEqual(drain(outbox), [other, later]);
});

test('a barrier leaves behind everything queued before it, replaced or not', () => {
  const outbox = new Outbox();
  const [a, a2, b, after, barrier] = [frame('a'), frame('a2'), frame('b'), frame('c'), frame('|')];
  outbox.post('a', a);
  outbox.post('b', b);
  outbox.barrier(barrier);
  outbox.post('c', after);
  outbox.post('a', a2);
  assert.deepEqual(drain(outbox), [a2, b, barrier, after]);
});

test('the must-deliver bound refuses instead of dropping', () => {
  const outbox = new Outbox();
  for (let i = 0; i < MAX_MUST_DELIVER_FRAMES; i++) assert.ok(outbox.deliver(frame('x')));
  assert.equal(outbox.deliver(frame('one too many')), false);
  outbox.take();
  assert.ok(outbox.deliver(frame('room again')));
  outbox.clear();
  assert.equal(outbox.take(), undefined);
});

type Step =
  | { readonly kind: 'deliver' | 'barrier' | 'take' }
  | { readonly kind: 'post'; readonly key: string };

test('law: an outbox is a list of slots in which newer content replaces older', () => {
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constantFrom('deliver', 'barrier', 'take') }),
    fc.record({ kind: fc.constant('post' as const), key: fc.constantFrom('a', 'b', 'c', 'd') }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const outbox = new Outbox();
      const model = new Model();
      for (const [index, one] of steps.entries()) {
        const sent = frame(String(index));
        if (one.kind === 'take') assert.equal(outbox.take(), model.take());
        else if (one.kind === 'post') {
          outbox.post(one.key, sent);
          model.post(one.key, sent);
        } else {
          if (one.kind === 'deliver') outbox.deliver(sent);
          else outbox.barrier(sent);
          (one.kind === 'deliver' ? model.first : model.slots).push({ key: '', frame: sent });
        }
        assert.equal(outbox.size, model.first.length + model.slots.length);
      }
      assert.deepEqual(
        drain(outbox),
        [...model.first, ...model.slots].map((slot) => slot.frame),
      );
    }),
  );
});

class Model {
  readonly first: { key: string; frame: ShardFrame }[] = [];
  readonly slots: { key: string; frame: ShardFrame }[] = [];

  post(key: string, sent: ShardFrame): void {
    const slot = this.slots.find((queued) => queued.key === key);
    if (slot === undefined) this.slots.push({ key, frame: sent });
    else slot.frame = sent;
  }

  take(): ShardFrame | undefined {
    return (this.first.shift() ?? this.slots.shift())?.frame;
  }
}
