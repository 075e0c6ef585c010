// Proves the operator table and the attribute lookup of requirements.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Attributes,
  attributeOf,
  INSTANCE_TYPE_KEY,
  Operator,
  type OperatorCode,
  satisfies,
  satisfiesAll,
  ZONE_KEY,
} from './requirement.ts';

const bare: Attributes = { instanceType: '', zone: '', labels: new Map() };
const labelled: Attributes = { ...bare, labels: new Map([['k', 'v']]) };

test('operator table: attribute absent, present and listed, present and not listed', () => {
  const rows: readonly [OperatorCode, readonly string[], absent: boolean, present: boolean][] = [
    [Operator.In, ['v', 'w'], false, true],
    [Operator.In, ['w'], false, false],
    [Operator.In, [], false, false],
    [Operator.NotIn, ['v', 'w'], true, false],
    [Operator.NotIn, ['w'], true, true],
    [Operator.NotIn, [], true, true],
    [Operator.Exists, [], false, true],
    [Operator.Exists, ['w'], false, true],
    [Operator.DoesNotExist, [], true, false],
    [Operator.DoesNotExist, ['v'], true, false],
    [Operator.Same, [], false, true],
    [Operator.Same, ['v'], false, true],
    [Operator.Same, ['w'], false, false],
  ];
  for (const [operator, values, absent, present] of rows) {
    const requirement = { key: 'k', operator, values };
    const where = `${operator} [${values.join()}]`;
    assert.equal(satisfies(bare, requirement), absent, `${where}, absent`);
    assert.equal(satisfies(labelled, requirement), present, `${where}, present`);
  }
});

test('an unspecified operator never matches, whatever the machine has', () => {
  for (const code of [0, 6]) {
    const requirement = { key: 'k', operator: code as OperatorCode, values: ['v'] };
    for (const attributes of [bare, labelled]) {
      assert.equal(satisfiesAll(attributes, [requirement]), false);
    }
  }
});

test('an empty label value is a value', () => {
  const empty = { ...bare, labels: new Map([['k', '']]) };
  assert.ok(satisfies(empty, { key: 'k', operator: Operator.Exists, values: [] }));
  assert.ok(satisfies(empty, { key: 'k', operator: Operator.In, values: [''] }));
  assert.ok(!satisfies(empty, { key: 'k', operator: Operator.In, values: [] }));
});

test('instance type and zone come from the profile, labels are the fallback', () => {
  const labels = new Map([
    [INSTANCE_TYPE_KEY, 'label-type'],
    [ZONE_KEY, 'label-zone'],
    ['other', 'o'],
  ]);
  const both = { instanceType: 'type', zone: 'zone', labels };
  assert.equal(attributeOf(both, INSTANCE_TYPE_KEY), 'type');
  assert.equal(attributeOf(both, ZONE_KEY), 'zone');
  assert.equal(attributeOf(both, 'other'), 'o');
  const fallback = { instanceType: '', zone: '', labels };
  assert.equal(attributeOf(fallback, INSTANCE_TYPE_KEY), 'label-type');
  assert.equal(attributeOf(fallback, ZONE_KEY), 'label-zone');
  assert.equal(attributeOf(bare, INSTANCE_TYPE_KEY), undefined);
  assert.equal(attributeOf(bare, ZONE_KEY), undefined);
});

test('keys of prototypes are no attributes', () => {
  for (const key of ['__proto__', 'constructor', 'toString']) {
    assert.equal(attributeOf(bare, key), undefined);
  }
});

test('all requirements must hold; none is satisfied by anything', () => {
  const exists = { key: 'k', operator: Operator.Exists, values: [] };
  const other = { key: 'other', operator: Operator.Exists, values: [] };
  assert.ok(satisfiesAll(bare, []));
  assert.ok(satisfiesAll(labelled, [exists]));
  assert.ok(!satisfiesAll(labelled, [exists, other]));
});
