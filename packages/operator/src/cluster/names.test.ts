// Proves that every machine id gives names that Kubernetes accepts, the same ones each time, and that
// two machines never share one.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { availableCapacityName, machineIdLabel, upcomingNodeName } from './names.ts';

const LABEL_VALUE = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

test('an id that fits is kept as it is', () => {
  assert.equal(machineIdLabel('i-0abc'), 'i-0abc');
  assert.equal(upcomingNodeName('i-0abc'), 'un-i-0abc');
});

test('an id with a slash is hashed, readable where there is a prefix', () => {
  assert.match(machineIdLabel('aws/eu-1/i-1'), /^h-[0-9a-f]{32}$/);
  assert.match(upcomingNodeName('aws/eu-1/i-1'), /^un-aws-eu-1-i-1-[0-9a-f]{16}$/);
  assert.match(upcomingNodeName('///'), /^un-x-[0-9a-f]{16}$/);
});

test('every id gives valid names, and other ids other names', () => {
  const id = fc.oneof(
    fc.string({ minLength: 1 }),
    fc.string({ minLength: 1, unit: 'binary' }),
    fc.webPath(),
  );
  fc.assert(
    fc.property(id, id, (a, b) => {
      for (const one of [a, b]) {
        assert.match(machineIdLabel(one), LABEL_VALUE);
        assert.match(upcomingNodeName(one), DNS_SUBDOMAIN);
        assert.ok(upcomingNodeName(one).length <= 253);
      }
      if (a === b) return;
      assert.notEqual(upcomingNodeName(a), upcomingNodeName(b));
      assert.notEqual(machineIdLabel(a), machineIdLabel(b));
    }),
  );
});

test('a hint is named by 16 bytes of its key', () => {
  assert.match(availableCapacityName('available:any'), /^ac-[0-9a-f]{32}$/);
});
