// Proves when a provider process starts and when it refuses to: each refusal by its exit code and
// by a message that tells the operator what to change, and none of them silently.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import type { Backend } from '../backend/backend.ts';
import { runProvider } from './run-provider.ts';
import {
  sampleDefinition,
  type SampleDefinition,
  type SampleOverrides,
  sampleSetup,
} from './testing/sample-provider.ts';
import { TestPort } from './testing/test-port.ts';

const runtime = realRuntime();
const LOCAL = ['--addr=127.0.0.1:0', '--metrics-addr=127.0.0.1:0'];
const FAKE = [...LOCAL, '--use-fake-backend'];
const REAL = [...LOCAL, '--region=r1', '--readiness-source=hook'];

interface Outcome {
  readonly code: number;
  readonly port: TestPort;
  /** Everything that the process said. */
  readonly said: string;
}

/** Runs until it ends by itself; a process that serves is told to stop. */
async function run(
  argv: readonly string[],
  overrides: SampleOverrides = {},
  env: Record<string, string> = {},
): Promise<Outcome> {
  const port = new TestPort();
  port.signal();
  const definition: SampleDefinition = sampleDefinition(overrides);
  const code = await runProvider({ ...definition, runtime, argv, env, port });
  return { code, port, said: [port.output, port.errors, ...port.log.lines].join('\n') };
}

const folder = mkdtempSync(join(tmpdir(), 'bigfleet-run-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const withoutPrice: Partial<SampleDefinition> = {
  createBackend: (context) => ({ ...sampleSetup(context), priceOf: () => undefined }),
};

test('what must not start does not, and says why', async () => {
  const offerings = file('empty.json', '[]');
  const key = file('tls.key', 'no key');
  const damaged = file('damaged.json', '{"machines":');
  const cases: readonly (readonly [
    what: string,
    code: number,
    expected: RegExp,
    argv: readonly string[],
    overrides?: SampleOverrides,
  ])[] = [
    ['unknown flag', 2, /unknown flag --adr; did you mean --addr\?/, ['--adr=:1']],
    ['bad duration', 2, /--reconcile-interval="5"/, ['--reconcile-interval=5']],
    ['nothing configured', 1, /sample backend is not configured: missing --region/, LOCAL],
    ['no silent fake', 1, /--use-fake-backend/, [...LOCAL, '--state=x']],
    ['no real backend at all', 1, /has no real backend/, LOCAL, { hasRealBackend: false }],
    ['contradiction', 2, /contradict/, [...FAKE, '--sample-backend=sample']],
    ['real without state', 1, /--state is empty/, REAL],
    [
      'real without readiness',
      1,
      /nothing confirms that nodes are Ready/,
      [...LOCAL, '--region=r'],
    ],
    ['readiness none', 2, /none is for the fake/, [...REAL, '--readiness-source=none']],
    ['readiness elsewhere', 2, /agent: not configured/, [...REAL, '--readiness-source=agent']],
    ['no price', 1, /no price is known for small \(OnDemand, a\), large/, FAKE, withoutPrice],
    ['no offerings', 1, /lists no offering/, [...FAKE, `--offerings=${offerings}`]],
    ['offerings not there', 1, /ENOENT/, [...FAKE, '--offerings=/does/not/exist.json']],
    ['nothing to offer', 1, /nothing to offer/, [...FAKE, '--seed-count=0']],
    ['key without certificate', 1, /partial configuration/, [...FAKE, `--tls-key=${key}`]],
    ['CA alone', 1, /partial configuration/, [...FAKE, `--tls-ca=${key}`]],
    ['bad PEM', 1, /tls/i, [...FAKE, `--tls-key=${key}`, `--tls-cert=${key}`]],
    ['TLS required', 1, /mTLS is required/, [...FAKE, '--require-tls']],
    ['bad address', 1, /listen address .*nonsense/, [...FAKE, '--addr=nonsense']],
    ['bad metrics address', 2, /--metrics-addr/, [...FAKE, '--metrics-addr=9090']],
    ['damaged state', 1, /damaged\.json: .*backup/, [...FAKE, `--state=${damaged}`]],
    ['invalid inventory', 1, /spot|probability/i, FAKE, { backend: lyingSpot }],
    ['describe fails at first', 1, /quota page 2 is missing/, FAKE, { backend: noInventory }],
  ];
  for (const [what, code, expected, argv, overrides = {}] of cases) {
    const outcome = await run(argv, overrides);
    assert.equal(outcome.code, code, `${what}: ${outcome.said}`);
    assert.match(outcome.said, expected, what);
    assert.doesNotMatch(outcome.said, /serving CapacityProvider/, what);
  }
});

const noInventory: Partial<Backend> = {
  describe: () => Promise.reject(new Error('quota page 2 is missing')),
};
const lyingSpot: Partial<Backend> = {
  describe: async () => [
    {
      id: 'x',
      instanceType: 't',
      zone: 'z',
      capacityType: 'Spot',
      pricePerHour: 1,
      interruptionProbability: 0,
      resources: new Map(),
    },
  ],
};

test('what may start serves, says how, and ends with 0', async () => {
  const cases: readonly (readonly [what: string, expected: RegExp, argv: readonly string[]])[] = [
    ['the fake by flag', /sample_backend=fake security=insecure offerings=2 state=memory/, FAKE],
    ['the fake by name', /sample_backend=fake/, [...LOCAL, '--sample-backend=fake']],
    ['the real one', /sample_backend=sample/, [...REAL, `--state=${join(folder, 'real')}/`]],
    ['real and forgetful', /memory only: a restart forgets/, [...REAL, '--allow-ephemeral-state']],
    ['trusting the hook', /trusts the exit code/, [...REAL, '--allow-ephemeral-state']],
    [
      'a socket',
      /security=unix/,
      [...FAKE, `--addr=unix:${join(folder, 's.sock')}`, '--require-tls'],
    ],
    ['without metrics', /metrics_addr=off/, [...FAKE, '--metrics-addr=']],
    ['as JSON', /"msg":"serving CapacityProvider"/, [...FAKE, '--log-format=json']],
  ];
  for (const [what, expected, argv] of cases) {
    const { code, said } = await run(argv);
    assert.equal(code, 0, `${what}: ${said}`);
    assert.match(said, /serving CapacityProvider/, what);
    assert.match(said, expected, what);
    assert.match(said, /signal received, shutting down/, what);
  }
});

test('a flag may come from the environment', async () => {
  const env = { BIGFLEET_USE_FAKE_BACKEND: 'true', BIGFLEET_PROVIDER: 'from-env' };
  const { code, said } = await run(LOCAL, {}, env);
  assert.equal(code, 0);
  assert.match(said, /provider=from-env/);
});

test('help and version go to standard output and start nothing', async () => {
  const help = await run(['--help']);
  assert.equal(help.code, 0);
  assert.match(help.port.output, /^bigfleet-provider-sample: /);
  assert.equal(help.port.errors, '');
  assert.equal((await run(['--version'])).port.output, 'bigfleet-provider-sample 1.2.3\n');
});

test('another major of Node is refused', async () => {
  const port = new TestPort('20.19.2');
  const code = await runProvider({ ...sampleDefinition(), runtime, argv: FAKE, env: {}, port });
  assert.equal(code, 2);
  assert.match(port.errors, /needs Node\.js 24, this is 20\.19\.2/);
});

test('a refused start leaves no lock and closes the backend', async () => {
  const state = join(folder, 'refused.json');
  const closed: string[] = [];
  const backend: Partial<Backend> = {
    close: async () => {
      closed.push('backend');
    },
  };
  const argv = [...FAKE, `--state=${state}`];
  const busy = await run([...argv, '--addr=203.0.113.1:1'], { backend });
  assert.equal(busy.code, 1, busy.said);
  assert.deepEqual(closed, ['backend']);
  const next = await run(argv, { backend });
  assert.equal(next.code, 0, next.said);
  assert.deepEqual(closed, ['backend', 'backend']);
  assert.ok(readdirSync(folder).includes('refused.json'));
});

test('prices are warmed before they are checked, and a warm-up that fails only warns', async () => {
  let isWarm = false;
  const warming = (refreshPrices: () => Promise<void>): Partial<SampleDefinition> => ({
    priceRefreshMs: 60_000,
    createBackend: (context) => ({
      ...sampleSetup(context),
      priceOf: () => (isWarm ? 1 : undefined),
      refreshPrices,
    }),
  });
  const warmed = await run(
    FAKE,
    warming(async () => {
      isWarm = true;
    }),
  );
  assert.equal(warmed.code, 0, warmed.said);
  const stale = await run(
    FAKE,
    warming(() => Promise.reject(new Error('price list unreachable'))),
  );
  assert.equal(stale.code, 0, 'known prices stay');
  assert.match(stale.said, /price refresh failed.*price list unreachable/);
});
