// Proves that the time of first demand is given out once, to the first machine that serves it, also
// when the machine serves gangs that were folded into one, and is gone with the demand.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ListedProfile } from './demand-ledger.ts';
import { FirstSeen } from './first-seen.ts';

function profile(fingerprint: string, foldedFingerprint: string = fingerprint): ListedProfile {
  return { fingerprint, foldedFingerprint, requirements: [], isPinned: false };
}

test('the first machine of a profile gets the stamp, the second none', () => {
  const seen = new FirstSeen();
  const profiles = [profile('a'), profile('b')];
  seen.demanded('blue', profiles, 5);
  seen.demanded('blue', profiles, 9);
  assert.equal(seen.served('blue', 'a'), 5);
  assert.equal(seen.served('blue', 'a'), undefined);
  assert.equal(seen.served('green', 'b'), undefined, 'of another cluster');
  assert.equal(seen.served('blue', 'b'), 5);
});

test('a machine for folded gangs serves what was demanded with Same, and so does one for a gang', () => {
  for (const carried of ['gang', 'folded']) {
    const seen = new FirstSeen();
    seen.demanded('blue', [profile('gang', 'folded'), profile('b')], 5);
    assert.equal(seen.served('blue', carried), 5, carried);
    assert.equal(seen.served('blue', 'gang'), undefined);
    assert.equal(seen.served('blue', 'folded'), undefined);
    assert.equal(seen.served('blue', 'b'), 5);
  }
});

test('what is demanded no more has no stamp, and starts anew when it comes back', () => {
  const seen = new FirstSeen();
  seen.demanded('blue', [profile('a'), profile('gang', 'folded')], 1);
  seen.demanded('blue', [profile('a')], 2);
  assert.equal(seen.served('blue', 'folded'), undefined);
  seen.demanded('blue', [profile('a'), profile('gang', 'folded')], 3);
  assert.deepEqual([seen.served('blue', 'gang'), seen.served('blue', 'a')], [3, 1]);
  seen.demanded('blue', [profile('a')], 4);
  seen.forget('blue');
  assert.equal(seen.served('blue', 'a'), undefined);
});
