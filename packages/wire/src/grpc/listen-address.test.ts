// Proves that listen addresses mean what the flags say and that anything else is refused.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { formatAddress, hostOf, parseListenAddress } from './listen-address.ts';

describe('listen addresses', () => {
  const good = [
    [':7780', { kind: 'tcp', host: undefined, port: 7780 }],
    ['0.0.0.0:0', { kind: 'tcp', host: '0.0.0.0', port: 0 }],
    ['shard-0.example:65535', { kind: 'tcp', host: 'shard-0.example', port: 65_535 }],
    ['[::1]:7780', { kind: 'tcp', host: '::1', port: 7780 }],
    ['unix:/run/p.sock', { kind: 'unix', path: '/run/p.sock' }],
    ['unix:///run/p.sock', { kind: 'unix', path: '/run/p.sock' }],
  ] as const;
  for (const [text, expected] of good) {
    it(`reads ${text}`, () => assert.deepEqual(parseListenAddress(text), expected));
  }

  for (const text of [
    '',
    '7780',
    'host',
    'host:',
    ':65536',
    '::1:7780',
    'http://h:1',
    'unix:',
    'h:1x',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () =>
      assert.throws(() => parseListenAddress(text), BigFleetError));
  }

  it('prints what a client can dial', () => {
    assert.equal(formatAddress('127.0.0.1', 1), '127.0.0.1:1');
    assert.equal(formatAddress('::1', 1), '[::1]:1');
  });

  it('finds the host that a certificate must carry', () => {
    assert.equal(hostOf('bigfleet-shard.prod.svc:7780'), 'bigfleet-shard.prod.svc');
    assert.equal(hostOf('[::1]:7780'), '::1');
    assert.throws(() => hostOf(':7780'), BigFleetError);
  });
});
