// Proves the exact lines: format, levels, fields and their order, stable messages, equal content of
// both formats, and that no value can break a line or leak a secret.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import fc from 'fast-check';
import type { LogFields } from './fields.ts';
import {
  createLogger,
  type Logger,
  type LoggerOptions,
  type CapturedLog,
  captureSink,
} from './logger.ts';
import type { LogMessage } from './messages.ts';
import { Secret } from './secret.ts';
import { operatorStarted, shardFenced, shortfallsDetected } from './stable-messages.ts';
import { parseLogfmt } from './testing/parse-logfmt.ts';

const { clock } = createVirtualRuntime({
  seed: 'logs',
  drain: drainMicrotasks,
  startUnixNanos: 1_700_000_000_123_456_789n,
}).runtime;
const TIME = '2023-11-14T22:13:20.123Z';

function logger(options: Partial<LoggerOptions> = {}): { log: Logger; sink: CapturedLog } {
  const sink = captureSink();
  return { log: createLogger({ clock, sink, ...options }), sink };
}

const lines: readonly [string, (log: Logger) => void, string][] = [
  ['a bare message', (log) => log.info('listening'), 'level=INFO msg=listening'],
  ['a quoted message', (log) => log.warn('reconcile failed'), 'level=WARN msg="reconcile failed"'],
  ['levels', (log) => log.error('x'), 'level=ERROR msg=x'],
  [
    'scalars',
    (log) =>
      log.info('m', { s: 'a-b', n: 1.5, b: true, big: 2n ** 63n, none: null, gone: undefined }),
    'level=INFO msg=m s=a-b n=1.5 b=true big=9223372036854775808 none=null',
  ],
  [
    'awkward numbers',
    (log) => log.info('m', { a: Number.NaN, b: Number.NEGATIVE_INFINITY, c: 1e21 }),
    'level=INFO msg=m a=NaN b=-Infinity c=1e+21',
  ],
  [
    'quotes where needed only',
    (log) => log.info('m', { a: '', b: 'x y', c: 'k=v', d: 'say "hi"', e: 'C:\\', f: 'ü' }),
    'level=INFO msg=m a="" b="x y" c="k=v" d="say \\"hi\\"" e="C:\\\\" f=ü',
  ],
  [
    'lists',
    (log) => log.info('m', { a: ['x', 2, true], b: [] }),
    'level=INFO msg=m a=x,2,true b=""',
  ],
  [
    'an error as its message',
    (log) => log.info('m', { err: new Error('14 UNAVAILABLE: gone') }),
    'level=INFO msg=m err="14 UNAVAILABLE: gone"',
  ],
  [
    'fields of the logger come first and can be overridden',
    (log) => {
      const child = log.child({ component: 'shard', shard_id: 's-0' }).child({ epoch: 3 });
      child.info('m', { addr: ':7780', epoch: 4 });
    },
    'level=INFO msg=m component=shard shard_id=s-0 epoch=4 addr=:7780',
  ],
  [
    'the operator line of the runbook',
    (log) => log.event(operatorStarted, { cluster: 'c1', shard: 'h:1', rollup_interval: '10s' }),
    'level=INFO msg="operator started" cluster=c1 shard=h:1 rollup_interval=10s',
  ],
  [
    'the shortfall line of the runbook',
    (log) => log.event(shortfallsDetected, { count: 2, top_fingerprints: ['a=1', 'b=2'] }),
    'level=WARN msg="shortfalls detected" count=2 top_fingerprints="a=1,b=2"',
  ],
  [
    'a message with an apostrophe and a dash',
    (log) => log.event(shardFenced, { kind: 'Delete', machine: 'm', cluster: '', err: 'e' }),
    'level=ERROR msg="provider fenced this shard\'s mutation — zombie-shard incident; do not ' +
      'retry, investigate duplicate shard identity" kind=Delete machine=m cluster="" err=e',
  ],
  [
    'percent signs are not format strings',
    (log) => log.info('100%s %d', { a: '%j' }),
    'level=INFO msg="100%s %d" a=%j',
  ],
];

for (const [what, write, expected] of lines) {
  test(`text: ${what}`, () => {
    const { log, sink } = logger();
    write(log);
    assert.deepEqual(sink.lines, [`time=${TIME} ${expected}`]);
  });
}

test('json has the same keys and values', () => {
  const { log, sink } = logger({ format: 'json', fields: { component: 'shard' } });
  log.warn('two words', { count: 3, names: ['a', 'b'], err: new Error('x'), big: 5n });
  assert.deepEqual(
    sink.lines.map((line): unknown => JSON.parse(line)),
    [
      {
        time: TIME,
        level: 'WARN',
        msg: 'two words',
        component: 'shard',
        count: 3,
        names: ['a', 'b'],
        err: 'x',
        big: '5',
      },
    ],
  );
});

test('a key appears once in a record, in either format', () => {
  for (const format of ['text', 'json'] as const) {
    const { log, sink } = logger({ format, fields: { a: 1 } });
    log.child({ a: 2 }).info('m', { a: 3 });
    assert.equal(sink.lines[0]?.match(/\ba\b/g)?.length, 1);
  }
});

test('levels below the threshold are silent', () => {
  const { log, sink } = logger();
  log.debug('no');
  log.info('yes');
  assert.equal(sink.lines.length, 1);
  const loud = logger({ level: 'debug' });
  loud.log.debug('yes');
  assert.match(loud.sink.lines[0] ?? '', /level=DEBUG msg=yes/);
  const quiet = logger({ level: 'error' });
  quiet.log.warn('no');
  quiet.log.error('yes');
  assert.equal(quiet.sink.lines.length, 1);
});

test('keys that would forge a record are bugs', () => {
  const { log } = logger();
  for (const key of ['time', 'level', 'msg', 'a b', 'a=b', '', '0a', '__proto__x', 'ä']) {
    const fields: LogFields = { [key]: 1 };
    assert.throws(() => log.info('m', fields), { name: 'AssertionError' }, key);
  }
});

const hostile = [
  'x\ntime=2030-01-01T00:00:00.000Z level=ERROR msg=forged',
  'a\r\nb',
  'bell\u0007 esc\u001b[31m del\u007f c1\u0085',
  'line\u2028 paragraph\u2029',
  'bidi\u202e override, zero\u200bwidth, bom\ufeff',
  'lone \ud800 surrogate',
  '" msg="forged',
  '\\',
  'astral 😀 \u{e0001}',
  'a\u0007b',
  'a\u202eb',
  'a\u200bb',
];

test('log injection: whatever a value holds, the record is one line and reads back', () => {
  for (const format of ['text', 'json'] as const) {
    const { log, sink } = logger({ format });
    for (const text of hostile) log.info(text, { value: text, list: [text], err: new Error(text) });
    assert.equal(sink.lines.length, hostile.length);
    sink.lines.forEach((line, at) => {
      const record =
        format === 'json' ? (JSON.parse(line) as Record<string, unknown>) : parseLogfmt(line);
      const meant = hostile[at]?.toWellFormed();
      assert.equal(record['msg'], meant);
      assert.equal(record['value'], meant);
      assert.equal(record['err'], meant);
    });
  }
});

test('no text line carries a control, separator or invisible character', () => {
  const { log, sink } = logger();
  for (const text of hostile) log.info(text, { value: text });
  for (const line of sink.lines) assert.doesNotMatch(line, /[\p{C}\p{Zl}\p{Zp}]/u);
});

test('any text reads back from logfmt as it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      const { log, sink } = logger();
      log.info(text, { a: text, b: 'end' });
      assert.equal(sink.lines.length, 1);
      assert.doesNotMatch(sink.lines[0] ?? '', /[\p{C}\p{Zl}\p{Zp}]/u);
      const record = parseLogfmt(sink.lines[0] ?? '');
      const meant = text.toWellFormed();
      assert.deepEqual(record, { time: TIME, level: 'INFO', msg: meant, a: meant, b: 'end' });
    }),
  );
});

test('long values and long lists are cut, and say so', () => {
  const { log, sink } = logger();
  log.info('m', { a: 'x'.repeat(1_000_000), b: Array.from({ length: 1_000 }, () => 'y') });
  const line = sink.lines[0] ?? '';
  assert.ok(line.length < 5_000, `${line.length}`);
  assert.match(line, /\(\+995904 chars\)/);
  assert.match(line, /\(\+936 items\)/);
});

test('secrets and bytes never show, in either format', () => {
  const blob = 'bootstrap-token-abcdef';
  const smuggled: Record<string, unknown> = {
    object: { token: blob },
    bytes: Buffer.from(blob),
    list: [new Secret(blob)],
  };
  for (const format of ['text', 'json'] as const) {
    const { log, sink } = logger({ format });
    log.info('m', { blob: new Secret(blob), err: new Error(`with ${String(new Secret(blob))}`) });
    log.child({ blob: new Secret({ token: blob }) }).info('m');
    // What the types forbid must still be harmless when a caller was handed something else.
    log.info('m', smuggled as LogFields);
    const text = sink.lines.join('\n');
    assert.doesNotMatch(text, /abcdef/);
    assert.match(text, /\[redacted\]/);
    assert.match(text, /\[22 bytes\]/);
  }
});

test('a message of a package is logged at its level with its keys', () => {
  const { log, sink } = logger();
  const rpc: LogMessage<'method' | 'code' | 'dur_ms'> = { level: 'warn', text: 'rpc' };
  log.event(rpc, { method: 'List', code: 'UNAVAILABLE', dur_ms: 12 });
  assert.deepEqual(sink.lines, [
    `time=${TIME} level=WARN msg=rpc method=List code=UNAVAILABLE dur_ms=12`,
  ]);
});
