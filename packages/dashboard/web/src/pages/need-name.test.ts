// Proves that a fingerprint is shown as the profile that it stands for, and anything else as it is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needName } from './need-name.ts';

test('a fingerprint of the engine reads as priority, types and places', () => {
  const requirements =
    'node.kubernetes.io/instance-type:1:c6i.4xlarge;topology.kubernetes.io/rack:5:;topology.kubernetes.io/zone:1:zone-a,zone-b';
  assert.equal(
    needName(`p=1000|ipb=13|rpb=16|reqs=${requirements}|spr=`),
    'priority 1,000, c6i.4xlarge; same rack; zone-a or zone-b',
  );
});

test('a profile without requirements is known by its priority', () => {
  assert.equal(needName('p=100|ipb=13|rpb=16|reqs=|spr='), 'priority 100');
});

test('what is no fingerprint stays as it is', () => {
  assert.equal(needName('bulk-3-p1000'), 'bulk-3-p1000');
  const bucket = 'p=1|ipb=99999|rpb=16|reqs=|spr=';
  assert.equal(needName(bucket), bucket);
});
