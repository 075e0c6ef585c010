// Proves that the action hash is what its definition says, depends on every field and on the
// order, and is the same from the engine's columns and from plain actions.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, Murmur3, textDigest } from '@bigfleet/base';
import { loadEngine, readActions } from '../cycle/plain.ts';
import { ActionKind } from '../model/action.ts';
import { randomFleet } from '../testing/generate.ts';
import { actionHash } from './action-hash.ts';
import { hashActions } from './testing/hash-actions.ts';
import type { DecidedAction } from './entry.ts';

const bootstrap: DecidedAction = {
  kind: ActionKind.Bootstrap,
  machineId: 'machine-1',
  cluster: 'a',
  fingerprint: 'p=0|ipb=1|rpb=1|reqs=|spr=',
  group: 'gang',
  graceSeconds: 0,
  preemptorPriority: 0,
};
const preempt: DecidedAction = {
  ...bootstrap,
  kind: ActionKind.Preempt,
  machineId: 'machine-2',
  fingerprint: '',
  group: '',
  graceSeconds: 30,
  preemptorPriority: -5,
};

/** The published answers of MurmurHash3 x86_128 for bytes; two bytes are one code unit. */
test('text digests are the first half of the published hash', () => {
  const answers: readonly [string, string][] = [
    ['', '0000000000000000'],
    ['01', '0f87acb4674f3b21'],
    ['I will not buy this record, it is scratched.', 'a0a9683b25ac5e40'],
  ];
  for (const [bytes, expected] of answers) {
    let text = '';
    for (let at = 0; at < bytes.length; at += 2) {
      text += String.fromCharCode(bytes.charCodeAt(at) | (bytes.charCodeAt(at + 1) << 8));
    }
    const { low, high } = textDigest(text);
    assert.equal(hex(low) + hex(high), expected, bytes);
  }
});

test('texts that differ only in length or in a surrogate have different digests', () => {
  const texts = ['', '\u0000', '\u0000\u0000', 'a', 'a\u0000', '\ud800', '\udfff', '\ufffd'];
  texts.push('12345678', '12345678\u0000', '1234567', 'machine-1', 'machine-2', '__proto__');
  const digests = texts.map((text) => JSON.stringify(textDigest(text)));
  assert.equal(new Set(digests).size, texts.length);
});

test('the hash follows its definition word by word', () => {
  const hash = new Murmur3();
  for (const action of [bootstrap, preempt]) {
    const [id, cluster, fingerprint, group] = [
      action.machineId,
      action.cluster,
      action.fingerprint,
      action.group,
    ].map(textDigest);
    assert.ok(id && cluster && fingerprint && group);
    hash.words(action.kind, action.graceSeconds, action.preemptorPriority, 0);
    hash.words(id.low, id.high, cluster.low, cluster.high);
    hash.words(fingerprint.low, fingerprint.high, group.low, group.high);
  }
  assert.equal(hashActions([bootstrap, preempt]), hash.finishHex());
});

test('our own answers stay: a change here would make every recorded trace differ', () => {
  assert.equal(hashActions([]), '00000000000000000000000000000000');
  assert.equal(hashActions([bootstrap, preempt]), GOLDEN);
});

const GOLDEN = '2dab8054f75aaed3e40ee9cd6f6d9c74';

test('every field, the order and the number of actions change the hash', () => {
  const lists: readonly (readonly DecidedAction[])[] = [
    [],
    [bootstrap],
    [bootstrap, bootstrap],
    [bootstrap, preempt],
    [preempt, bootstrap],
    [{ ...bootstrap, kind: ActionKind.Provision }],
    [{ ...bootstrap, machineId: 'machine-2' }],
    [{ ...bootstrap, cluster: 'b' }],
    [{ ...bootstrap, fingerprint: '' }],
    [{ ...bootstrap, group: '' }],
    [{ ...bootstrap, group: 'a', cluster: 'gang' }],
    [{ ...bootstrap, graceSeconds: 1 }],
    [{ ...bootstrap, preemptorPriority: 1 }],
    [{ ...bootstrap, preemptorPriority: -1 }],
    [{ ...bootstrap, graceSeconds: -1 }],
  ];
  assert.equal(new Set(lists.map(hashActions)).size, lists.length);
});

test('columns and plain actions give one hash', () => {
  let actionCount = 0;
  for (let seed = 1; seed <= 200; seed++) {
    const input = randomFleet(createRandom(`hash-${seed}`));
    const engine = loadEngine(input);
    engine.cycle({ nowMs: input.nowMs, quotaRemaining: input.quotaRemaining });
    const actions = readActions(engine);
    actionCount += actions.length;
    assert.equal(actionHash(engine), hashActions(actions), `seed ${seed}`);
  }
  assert.ok(actionCount > 1000, `only ${actionCount} actions`);
});

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}
