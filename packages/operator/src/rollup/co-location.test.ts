// Proves which co-location terms are one gang: equal terms of one namespace, however spelled.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CoLocation } from '@bigfleet/kube';
import { groupOf } from './co-location.ts';

const db: CoLocation = {
  topologyKey: 'rack',
  labelSelector: { matchLabels: { app: 'db', tier: 'a' } },
};

describe('groupOf', () => {
  it('is a bounded digest, stable across releases', () => {
    assert.equal(groupOf('default', db), 'g-5b78733009049c7deb8545fdc71442bf');
  });

  const equal: [string, CoLocation][] = [
    [
      'label order',
      { topologyKey: 'rack', labelSelector: { matchLabels: { tier: 'a', app: 'db' } } },
    ],
    [
      'expressions instead of labels',
      {
        topologyKey: 'rack',
        labelSelector: {
          matchExpressions: [
            { key: 'tier', operator: 'In', values: ['a'] },
            { key: 'app', operator: 'In', values: ['db'] },
          ],
        },
      },
    ],
    [
      'an expression said twice',
      {
        topologyKey: 'rack',
        labelSelector: {
          matchLabels: { app: 'db', tier: 'a' },
          matchExpressions: [{ key: 'app', operator: 'In', values: ['db', 'db'] }],
        },
      },
    ],
  ];
  for (const [name, term] of equal) {
    it(`is one for: ${name}`, () => assert.equal(groupOf('default', term), groupOf('default', db)));
  }

  it('ignores the order of values', () => {
    const term = (values: string[]): CoLocation => ({
      topologyKey: 'rack',
      labelSelector: { matchExpressions: [{ key: 'app', operator: 'In', values }] },
    });
    assert.equal(groupOf('n', term(['a', 'b'])), groupOf('n', term(['b', 'a', 'b'])));
  });

  it('takes an absent selector and an empty one for the same', () => {
    const bare = groupOf('n', { topologyKey: 'rack' });
    assert.equal(groupOf('n', { topologyKey: 'rack', labelSelector: {} }), bare);
    const empty = { matchLabels: {}, matchExpressions: [] };
    assert.equal(groupOf('n', { topologyKey: 'rack', labelSelector: empty }), bare);
  });

  const different: [string, string, CoLocation][] = [
    ['namespace', 'other', db],
    ['topology key', 'default', { ...db, topologyKey: 'zone' }],
    ['label value', 'default', { ...db, labelSelector: { matchLabels: { app: 'db', tier: 'b' } } }],
    ['no selector', 'default', { topologyKey: 'rack' }],
    [
      'operator',
      'default',
      {
        topologyKey: 'rack',
        labelSelector: {
          matchLabels: { tier: 'a' },
          matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['db'] }],
        },
      },
    ],
    [
      'delimiters inside a value',
      'default',
      { topologyKey: 'rack', labelSelector: { matchLabels: { app: 'db"]],["tier","In",["a' } } },
    ],
  ];
  for (const [name, namespace, term] of different) {
    it(`differs by: ${name}`, () => {
      assert.notEqual(groupOf(namespace, term), groupOf('default', db));
    });
  }
});
