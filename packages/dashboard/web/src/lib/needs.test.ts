// Proves that a need reads like one: quantities in their largest unit, requirements without their syntax; and
// that text of another form is shown as it is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quantityText, requirementsText, resourceText } from './needs.ts';

test('a quantity is a number with its largest unit', () => {
  const cases: readonly (readonly [string, boolean, string])[] = [
    ['30400m', false, '30.4'],
    ['20', false, '20'],
    ['1200', false, '1,200'],
    ['160Gi', true, '160 Gi'],
    ['255000Mi', true, '249 Gi'],
    ['85000Mi', true, '83 Gi'],
    ['0.125', false, '0.13'],
    ['4m', false, '0.004'],
    ['0', false, '0'],
    ['1536Gi', true, '1.5 Ti'],
    ['171798691840', true, '160 Gi'],
    ['512', true, '512 B'],
    ['1500M', true, '1.5 G'],
    ['lots', false, 'lots'],
    ['', false, ''],
  ];
  for (const [quantity, isOfBytes, text] of cases) {
    assert.equal(quantityText(quantity, isOfBytes), text, quantity);
  }
});

test('resources are named without the domain of their owner, devices first', () => {
  const resources = { cpu: '30400m', memory: '160Gi', 'nvidia.com/gpu': '4' };
  assert.equal(resourceText(resources), '4 gpu, 30.4 cpu, 160 Gi memory');
});

test('requirements read as types and places', () => {
  const text = requirementsText([
    'node.kubernetes.io/instance-type In [c6i.4xlarge]',
    'topology.kubernetes.io/zone In [zone-a, zone-b]',
    'bigfleet.io/rack Same',
    'topology.kubernetes.io/region NotIn [north]',
    'example.com/disk In [nvme]',
    'example.com/fast Exists',
    'example.com/slow DoesNotExist',
    'topology.kubernetes.io/zone In',
  ]);
  assert.equal(
    text,
    'c6i.4xlarge; zone-a or zone-b; same rack; region not north; disk nvme; has fast; no slow; topology.kubernetes.io/zone In',
  );
  assert.equal(requirementsText(['of another form']), 'of another form');
});
