// Proves what the client does about a server that breaks connections, is busy, hangs or is none: over a
// transport whose answers the test writes, under virtual time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError, createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import type { KubeHttpRequest, KubeHttpResponse } from '../transport/transport.ts';
import type { ApiAnswer } from './answer.ts';
import { KubeClient } from './client.ts';
import { type WriteLane, WriteLanes } from './lanes.ts';
import { CAPACITY_REQUESTS, NODES } from './resource.ts';

/** One answer, or what happens instead of one. */
type Act =
  | {
      readonly status: number;
      readonly text?: string;
      readonly retryAfterSeconds?: number;
      /** The connection is cut after the text. */
      readonly isCut?: boolean;
    }
  | 'break'
  | 'hang';

interface Stage {
  readonly time: VirtualRuntime;
  readonly client: KubeClient;
  /** When each request came, in virtual milliseconds. */
  readonly asked: readonly number[];
  readonly get: (signal?: AbortSignal) => Promise<ApiAnswer>;
  readonly patch: (lane: WriteLane) => Promise<ApiAnswer>;
  readonly create: (metadata: { name?: string; generateName?: string }) => Promise<ApiAnswer>;
  /** What the promise came to within the time. */
  readonly after: <T>(ms: number, pending: Promise<T>) => Promise<T | string>;
}

/** The last act is repeated. */
function stage(acts: readonly [Act, ...Act[]], seed = '1'): Stage {
  const time = createVirtualRuntime({ seed, drain: drainMicrotasks });
  const { runtime } = time;
  const asked: number[] = [];
  const send = async (request: KubeHttpRequest): Promise<KubeHttpResponse> => {
    asked.push(runtime.clock.monotonicMs());
    await runtime.timers.turn();
    const act = acts[Math.min(asked.length, acts.length) - 1] ?? acts[0];
    if (act === 'break') throw new BigFleetError('kube_unreachable', 'reset');
    if (act === 'hang') return new Promise((_, reject) => onAbort(request.signal, reject));
    const { status, text = '{}', retryAfterSeconds, isCut = false } = act;
    return { status, retryAfterSeconds, body: bodyOf(text, isCut), destroy: () => {} };
  };
  const client = new KubeClient({
    runtime,
    transport: { send, refreshCredentials: () => {}, close: () => {} },
    lanes: new WriteLanes({ runtime, qps: 50, burst: 100 }),
    fieldManager: 'test',
  });
  const { signal } = new AbortController();
  const object = { namespace: '', name: 'a' };
  return {
    time,
    client,
    asked,
    get: (until = signal) => client.get(NODES, object, until),
    patch: (lane) => client.mergePatch(NODES, object, { lane, signal, patch: {} }),
    create: (metadata) =>
      client.create(CAPACITY_REQUESTS, { metadata }, { lane: 'demand', signal }),
    after: async (ms, pending) => {
      const settled = pending.catch((error: unknown) =>
        error instanceof BigFleetError ? error.code : String(error),
      );
      await time.runFor(ms);
      return Promise.race([settled, Promise.resolve('pending')]);
    },
  };
}

function onAbort(signal: AbortSignal, reject: (reason: unknown) => void): void {
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
}

async function* bodyOf(text: string, isCut: boolean): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from(text));
  if (isCut) throw new BigFleetError('kube_unreachable', 'cut');
}

test('a broken connection is tried again after a pause, twice, and longer the second time', async () => {
  const pauses: [number, number][] = [];
  for (let seed = 0; seed < 40; seed++) {
    const { asked, get, after } = stage(['break'], String(seed));
    assert.equal(await after(10_000, get()), 'kube_unreachable');
    const [first = 0, second = 0, third = 0, ...more] = asked;
    assert.deepEqual(more, []);
    pauses.push([second - first, third - second]);
  }
  assert.ok(pauses.every(([one, two]) => one > 0 && one <= 101 && two > 0 && two <= 201));
  assert.ok(new Set(pauses.map(([one]) => one)).size > 10, 'the pauses of many clients spread');
  assert.ok(pauses.some(([, two]) => two > 101));
});

test('one broken connection costs a caller nothing but the pause', async () => {
  const { get, after } = stage(['break', { status: 200, text: '{"a":1}' }]);
  assert.deepEqual(await after(1_000, get()), { kind: 'ok', object: { a: 1 } });
});

test('an answer that breaks off is no answer', async () => {
  const { asked, get, after } = stage([
    { status: 200, text: '{"a":', isCut: true },
    { status: 200, text: '{"a":1}' },
  ]);
  assert.deepEqual(await after(1_000, get()), { kind: 'ok', object: { a: 1 } });
  assert.equal(asked.length, 2);
});

test('a create with a generated name is never sent twice', async () => {
  const { asked, create, after } = stage(['break']);
  assert.equal(await after(10_000, create({ generateName: 'a-' })), 'kube_unreachable');
  assert.equal(asked.length, 1);
  assert.equal(await after(10_000, create({ name: 'a' })), 'kube_unreachable');
  assert.equal(asked.length, 4);
});

test('a caller that gives up during the pause is not kept waiting', async () => {
  const { asked, get, after } = stage(['break']);
  const ender = new AbortController();
  const pending = get(ender.signal);
  ender.abort(new BigFleetError('cancelled', 'over'));
  assert.equal(await after(0, pending), 'cancelled');
  assert.ok(asked.length <= 1);
});

test('a server that hangs is given up after half a minute', async () => {
  const { get, after } = stage(['hang']);
  assert.equal(await after(40_000, get()), 'deadline_exceeded');
});

test('what is no JSON object is named as such, and a refusal in a page of a proxy keeps its number', async () => {
  for (const text of ['', '<html>hello</html>', '[]', '"x"', '\u0000\u0001', '{"a":']) {
    const { get, after } = stage([{ status: 200, text }]);
    assert.equal(await after(1_000, get()), 'kube_answer_malformed', text);
  }
  const { get, after } = stage([{ status: 502, text: '<html>Bad Gateway</html>' }]);
  assert.deepEqual(await after(1_000, get()), {
    kind: 'refused',
    status: 502,
    reason: '',
    message: '<html>Bad Gateway</html>',
    retryAfterSeconds: undefined,
  });
});

const ok: Act = { status: 200 };
const pauses: readonly [name: string, busy: Act, pauseMs: number][] = [
  ['with Retry-After', { status: 429, retryAfterSeconds: 7 }, 7_000],
  ['without it', { status: 429 }, 1_000],
  ['with zero', { status: 429, retryAfterSeconds: 0 }, 1_000],
  [
    'with a number in the body',
    { status: 429, text: '{"details":{"retryAfterSeconds":3}}' },
    3_000,
  ],
  ['with text in the body', { status: 429, text: '{"details":{"retryAfterSeconds":"3"}}' }, 1_000],
  ['with a negative number', { status: 429, retryAfterSeconds: -5 }, 1_000],
  ['with thirty years', { status: 429, retryAfterSeconds: 1e9 }, 300_000],
  ['with an infinity', { status: 429, retryAfterSeconds: Infinity }, 300_000],
];

for (const [name, busy, pauseMs] of pauses) {
  test(`429 ${name} pauses the lane that met it, and no other`, async () => {
    const { asked, patch, after } = stage([busy, ok]);
    const refused = await after(10, patch('acknowledge'));
    assert.equal(typeof refused === 'string' ? refused : refused.kind, 'refused');
    const waiting = patch('acknowledge');
    const other = await after(10, patch('node'));
    assert.equal(typeof other === 'string' ? other : other.kind, 'ok');
    assert.equal(await after(pauseMs - 100, waiting), 'pending');
    const done = await after(200, waiting);
    assert.equal(typeof done === 'string' ? done : done.kind, 'ok');
    assert.equal(asked.length, 3);
  });
}

test('429 to an eviction is a budget that holds: the lane goes on', async () => {
  const { patch, after } = stage([{ status: 429, retryAfterSeconds: 60 }, ok]);
  await after(10, patch('eviction'));
  const next = await after(10, patch('eviction'));
  assert.equal(typeof next === 'string' ? next : next.kind, 'ok');
});
