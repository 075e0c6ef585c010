// Proves that a provider set is used whole or not at all: names, addresses, number, and a stored
// file that is read strictly.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { FakeFile } from '../rails/testing/fake-file.ts';
import {
  formatProvidersFile,
  type ProviderTarget,
  readProvidersFile,
  targetsProblem,
} from './provider-targets.ts';

const target = (name: string, address = 'host:9000'): ProviderTarget => ({ name, address });
const many = Array.from({ length: 33 }, (_, at) => target(`p${at}`));

const cases: readonly (readonly [readonly ProviderTarget[], RegExp | undefined])[] = [
  [[], undefined],
  [[target('aws-eu'), target('metal', 'unix:/run/metal.sock')], undefined],
  [many.slice(0, 32), undefined],
  [many, /more than 32/],
  [[target('a'), target('a')], /two providers are named a/],
  [[target('')], /is not a name/],
  [[target('a b')], /is not a name/],
  [[target('a', '')], /not host:port/],
  [[target('a', 'user@host:1')], /not host:port/],
  [[target('a', 'host:1?x=y')], /not host:port/],
];
for (const [targets, problem] of cases) {
  test(`${targets.length} targets ${JSON.stringify(targets[0] ?? '')}: ${problem ?? 'fine'}`, () => {
    const found = targetsProblem(targets);
    if (problem === undefined) assert.equal(found, undefined);
    else assert.match(found ?? '', problem);
  });
}

test('a stored set is read; no file is an empty set', async () => {
  assert.deepEqual(await readProvidersFile(new FakeFile()), []);
  const stored = { version: 1, providers: [{ ...target('a'), region: 'eu', shared: false }] };
  assert.deepEqual(await readProvidersFile(new FakeFile(JSON.stringify(stored))), [
    { ...target('a'), region: 'eu', isShared: false, isRetiring: false },
  ]);
});

test('what was written is read back, marks included', async () => {
  const targets: readonly ProviderTarget[] = [
    { ...target('plain'), region: '', isShared: false, isRetiring: false },
    { ...target('shared'), region: 'eu', isShared: true, isRetiring: false },
    { ...target('leaving'), region: '', isShared: false, isRetiring: true },
  ];
  const file = new FakeFile(formatProvidersFile(targets));
  assert.deepEqual(await readProvidersFile(file), targets);
});

const damaged = [
  '',
  '{',
  '[]',
  '{"version":2,"providers":[]}',
  '{"version":1}',
  '{"version":1,"providers":[1]}',
  '{"version":1,"providers":[{"name":"a"}]}',
  '{"version":1,"providers":[{"name":"a","address":"h:1"},{"name":"a","address":"h:2"}]}',
  '{"version":1,"providers":[{"name":"a","address":"h:1","shared":"yes"}]}',
  '{"version":1,"providers":[{"name":"a","address":"h:1","retiring":1}]}',
];
for (const text of damaged) {
  test(`${text} refuses the start`, async () => {
    await assert.rejects(
      readProvidersFile(new FakeFile(text)),
      (error) => error instanceof BigFleetError && error.code === 'providers_file_corrupt',
    );
  });
}
