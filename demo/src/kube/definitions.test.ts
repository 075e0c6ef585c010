// Proves when a definition counts as served, in each shape in which a server tells it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import type { KubeClient } from '@bigfleet/kube';
import { isServed } from './definitions.ts';

type Answer = Awaited<ReturnType<KubeClient['get']>>;

function stored(status: unknown): Answer {
  const metadata = { name: 'things.example.test', uid: 'u', resourceVersion: '1' };
  return { kind: 'ok', object: { metadata, status } };
}

const rows: readonly (readonly [string, unknown, boolean])[] = [
  ['no status yet', undefined, false],
  ['a status without conditions', {}, false],
  // So says kube-apiserver between storing a definition and accepting its names.
  ['conditions that are null', { conditions: null }, false],
  ['another condition', { conditions: [{ type: 'NamesAccepted', status: 'True' }] }, false],
  ['not established', { conditions: [{ type: 'Established', status: 'False' }] }, false],
  ['established', { conditions: [{ type: 'Established', status: 'True' }] }, true],
];

for (const [name, status, expected] of rows) {
  test(`${name}: ${expected ? 'served' : 'not served'}`, () => {
    assert.equal(isServed(stored(status)), expected);
  });
}

test('a refusal is told, not waited for', () => {
  const refusal = {
    kind: 'refused',
    status: 403,
    reason: 'Forbidden',
    message: 'may not get',
  } as unknown as Answer;
  assert.throws(
    () => isServed(refusal),
    (error) => error instanceof BigFleetError && error.code === 'kube_refused',
  );
});
