// Proves that flags come from the command line, then the environment, then the default, and that
// every mistake is an error which names the flag and what would have been right.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FlagTable } from './flag-table.ts';
import { parseFlags, type ParsedFlags } from './parse-flags.ts';

const table = {
  addr: { kind: 'text', default: ':9000', help: 'Where.' },
  'metrics-addr': { kind: 'text', default: ':9090', help: 'Where else.' },
  reflection: { kind: 'switch', default: true, help: 'Whether.' },
  'reconcile-interval': { kind: 'duration', default: 120_000, help: 'How often.' },
  'seed-count': { kind: 'count', default: 32, max: 100, help: 'How many.' },
  'log-format': { kind: 'choice', default: 'text', values: ['text', 'json'], help: 'How.' },
} as const satisfies FlagTable;

function parse(
  argv: readonly string[],
  env: Record<string, string> = {},
): ParsedFlags<typeof table> {
  return parseFlags(table, { argv, env });
}

test('values by source, in all forms', () => {
  const cases: readonly (readonly [readonly string[], Record<string, string>, object])[] = [
    [[], {}, {}],
    [['--addr=:1'], {}, { addr: ':1' }],
    [['--addr', ':1'], {}, { addr: ':1' }],
    [['--addr', '--odd'], {}, { addr: '--odd' }],
    [['--addr='], {}, { addr: '' }],
    [['--addr=a=b'], {}, { addr: 'a=b' }],
    [['--addr', ':1', '--addr', ':2'], {}, { addr: ':2' }],
    [['--reflection'], {}, { reflection: true }],
    [['--reflection=false'], {}, { reflection: false }],
    [['--reflection=0'], {}, { reflection: false }],
    [['--reconcile-interval', '1h30m'], {}, { 'reconcile-interval': 5_400_000 }],
    [['--seed-count=0'], {}, { 'seed-count': 0 }],
    [['--log-format=json'], {}, { 'log-format': 'json' }],
    [[], { BIGFLEET_METRICS_ADDR: ':2', ADDR: ':3' }, { 'metrics-addr': ':2' }],
    [['--metrics-addr', ':1'], { BIGFLEET_METRICS_ADDR: ':2' }, { 'metrics-addr': ':1' }],
    [[], { BIGFLEET_SEED_COUNT: '' }, {}],
  ];
  const defaults = {
    addr: ':9000',
    'metrics-addr': ':9090',
    reflection: true,
    'reconcile-interval': 120_000,
    'seed-count': 32,
    'log-format': 'text',
  };
  for (const [argv, env, expected] of cases) {
    const parsed = parse(argv, env);
    assert.equal(parsed.kind, 'values', JSON.stringify(parsed));
    if (parsed.kind === 'values') assert.deepEqual(parsed.values, { ...defaults, ...expected });
  }
});

test('mistakes', () => {
  const cases: readonly (readonly [readonly string[], Record<string, string>, RegExp])[] = [
    [['--metric-addr=:1'], {}, /unknown flag --metric-addr; did you mean --metrics-addr\?/],
    [['--reconcil-intervall=1m'], {}, /did you mean --reconcile-interval\?/],
    [['--zzz'], {}, /^unknown flag --zzz \(--help lists all\)$/],
    [['--__proto__=1'], {}, /unknown flag --__proto__/],
    [['addr'], {}, /unexpected argument "addr"/],
    [['-addr'], {}, /unexpected argument "-addr"/],
    [['--'], {}, /unexpected argument "--"/],
    [['--addr'], {}, /--addr needs a value/],
    [['--reflection=maybe'], {}, /--reflection="maybe": write true or false/],
    [['--reconcile-interval=30'], {}, /--reconcile-interval="30": write a duration/],
    [['--seed-count=101'], {}, /whole number from 0 to 100/],
    [['--seed-count=-1'], {}, /whole number/],
    [['--seed-count=1.5'], {}, /whole number/],
    [['--log-format=xml'], {}, /write one of text, json/],
    [[], { BIGFLEET_LOG_FORMAT: 'xml' }, /^BIGFLEET_LOG_FORMAT="xml": write one of/],
  ];
  for (const [argv, env, expected] of cases) {
    const parsed = parse(argv, env);
    assert.equal(parsed.kind, 'error', argv.join(' '));
    if (parsed.kind === 'error') assert.match(parsed.problem, expected);
  }
});

test('help and version win over everything but an error before them', () => {
  assert.equal(parse(['--help']).kind, 'help');
  assert.equal(parse(['-h', '--addr=:1']).kind, 'help');
  assert.equal(parse(['--version']).kind, 'version');
  assert.equal(parse(['--nonsense', '--help']).kind, 'error');
});
