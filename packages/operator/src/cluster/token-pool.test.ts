// Proves that a join token which a blob carries outlives the blob, whatever the API server does while
// tokens are minted, and that a machine is refused rather than sent off with one that would expire on
// its way.

import assert from 'node:assert/strict';
import test from 'node:test';
import { KubeClient, WriteLanes } from '@bigfleet/kube';
import { InMemoryTransport, TestWorld } from '@bigfleet/kube/testing';
import { TokenPool } from './token-pool.ts';

const SECRETS_PATH = '/api/v1/namespaces/kube-system/secrets';
const MINUTE_MS = 60_000;
const TTL_MS = 30 * MINUTE_MS;
const MIN_TTL_MS = 5 * MINUTE_MS;

class PoolWorld extends TestWorld {
  readonly failures: string[] = [];
  readonly pool: TokenPool;
  readonly #ender = new AbortController();

  constructor(seed = '1') {
    super(seed);
    const { runtime } = this.time;
    const transport = new InMemoryTransport({ runtime, server: this.server });
    const lanes = new WriteLanes({ runtime, qps: 50, burst: 100 });
    this.pool = new TokenPool({
      runtime,
      client: new KubeClient({ runtime, transport, lanes, fieldManager: 'bigfleet-operator' }),
      ttlMs: TTL_MS,
      minTtlMs: MIN_TTL_MS,
      onFailure: (problem) => this.failures.push(problem),
      signal: this.#ender.signal,
    });
    this.pool.start().catch((bug: unknown) => assert.fail(String(bug)));
  }

  stop(): void {
    this.#ender.abort();
  }

  /** When the Secret of this token ends, by the cluster's own words. */
  expiryOf(token: string): number {
    const [id = ''] = token.split('.');
    const { data } = this.ask('GET', `${SECRETS_PATH}/bootstrap-token-${id}`) as {
      readonly data?: Readonly<Record<string, string>>;
    };
    const text = (field: string): string => Buffer.from(data?.[field] ?? '', 'base64').toString();
    assert.equal(`${text('token-id')}.${text('token-secret')}`, token);
    return Date.parse(text('expiration'));
  }

  nowUnixMs(): number {
    return Number(this.time.runtime.clock.unixNanos() / 1_000_000n);
  }

  /** What every blob of this moment must satisfy. */
  check(): boolean {
    const taken = this.pool.take();
    if (taken === undefined) return false;
    const { token, ttlSeconds } = taken;
    const leftMs = this.expiryOf(token.reveal()) - this.nowUnixMs();
    assert.ok(ttlSeconds * 1000 >= MIN_TTL_MS, `a blob of ${ttlSeconds} s`);
    assert.ok(leftMs >= ttlSeconds * 1000 + MINUTE_MS - 1000, `${leftMs} ms for ${ttlSeconds} s`);
    return true;
  }
}

test('there is a token at every moment, and none dies before its blob', async () => {
  const world = new PoolWorld();
  await world.time.runFor(1_000);
  const tokens = new Set<string>();
  for (let minute = 0; minute < 180; minute++) {
    assert.ok(world.check(), `minute ${minute}`);
    tokens.add(world.pool.take()?.token.reveal() ?? '');
    await world.time.runFor(MINUTE_MS);
  }
  assert.equal(tokens.size, 12);
  assert.deepEqual(world.failures, []);
  world.stop();
});

test('while the API server is away the last token serves until it could expire mid-join, then none', async () => {
  for (const fault of [
    { kind: 'refuse', code: 403 },
    { kind: 'refuse', code: 429, retryAfterSeconds: 1 },
    { kind: 'refuse', code: 500 },
    { kind: 'reset' },
    { kind: 'hang' },
  ] as const) {
    const world = new PoolWorld();
    await world.time.runFor(1_000);
    const restore = world.server.faults.add({ pathPrefix: SECRETS_PATH, methods: ['POST'] }, fault);
    let servedMinutes = 0;
    for (let minute = 0; minute < 60; minute++) {
      if (world.check()) servedMinutes++;
      await world.time.runFor(MINUTE_MS);
    }
    // Thirty minutes of life, less one for the way and five that a blob must have left.
    assert.equal(servedMinutes, 24, JSON.stringify(fault));
    assert.equal(world.pool.take(), undefined);
    assert.ok(world.failures.length > 10, `${world.failures.length} failures`);
    restore();
    await world.time.runFor(MINUTE_MS);
    assert.ok(world.check(), JSON.stringify(fault));
    world.stop();
  }
});

test('an answer that was lost leaves a Secret behind and no token in use that the server does not know', async () => {
  const world = new PoolWorld();
  world.server.faults.add(
    { pathPrefix: SECRETS_PATH, methods: ['POST'], times: 1 },
    { kind: 'reset-after' },
  );
  await world.time.runFor(MINUTE_MS);
  assert.ok(world.check());
  world.stop();
});
