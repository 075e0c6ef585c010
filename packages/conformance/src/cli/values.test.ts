// Proves what flag values are accepted, above all the forms of targets and durations.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Result } from '@bigfleet/base';
import {
  readCount,
  readDurationMs,
  readFactor,
  readIds,
  readProfiles,
  readTarget,
} from './values.ts';

function valueOf<T>(result: Result<T, string>): T | string {
  return result.ok ? result.value : `refused: ${result.error}`;
}

test('targets', () => {
  const good = [
    'localhost:9001',
    '127.0.0.1:1',
    '[::1]:65535',
    '[fe80::1%eth0]:9000',
    'provider.example.svc:443',
    'unix:/run/provider.sock',
    'unix:relative.sock',
  ];
  for (const target of good) assert.equal(valueOf(readTarget(target)), target);
  const bad = [
    '',
    'localhost',
    ':9001',
    'localhost:',
    'localhost:0',
    'localhost:65536',
    'localhost:9x',
    '::1:9001',
    '[::1]',
    'http://localhost:9001',
    'a b:9001',
    'unix:',
    'unix:\0x',
  ];
  for (const target of bad) assert.equal(readTarget(target).ok, false, JSON.stringify(target));
});

test('durations', () => {
  const good: [string, number][] = [
    ['8s', 8_000],
    ['500ms', 500],
    ['1m30s', 90_000],
    ['1.5s', 1_500],
    ['2h', 7_200_000],
    ['0s', 0],
  ];
  for (const [text, ms] of good) assert.equal(valueOf(readDurationMs(text)), ms);
  for (const text of ['', '8', 's', '-8s', '8 s', '8s!', '1e3s', '٣s']) {
    assert.equal(readDurationMs(text).ok, false, text);
  }
});

test('counts and factors', () => {
  assert.equal(valueOf(readCount('256', 1_000)), 256);
  for (const text of ['0', '-1', '1.5', '1e3', '1001', '', ' 1', 'NaN', '0x10']) {
    assert.equal(readCount(text, 1_000).ok, false, text);
  }
  assert.equal(valueOf(readFactor('0.5')), 0.5);
  for (const text of ['0', '-1', 'Infinity', '1001', '', '1e1']) {
    assert.equal(readFactor(text).ok, false, text);
  }
});

test('profiles and ids', () => {
  assert.deepEqual(valueOf(readProfiles('core, cloud,core')), ['core', 'cloud']);
  assert.match(String(valueOf(readProfiles('core,metal'))), /unknown profile "metal"/);
  assert.equal(readProfiles('').ok, false);
  assert.deepEqual(valueOf(readIds('B101, B1006')), new Set(['B101', 'B1006']));
  const unknown = readIds('B101,B102');
  assert.ok(!unknown.ok);
  assert.match(unknown.error, /unknown behaviour "B102"/);
});
