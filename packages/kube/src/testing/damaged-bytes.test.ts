// The production Reflector against a server whose answers are damaged on their way, as by a proxy, a
// broken disk or another program on the port: every damage is named with a code, the old set stays in
// use, nothing is asked in a tight loop, and the cache equals a fresh list once the damage stops.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { PODS } from '../api/resource.ts';
import { Reflector } from '../reflector/reflector.ts';
import type { KubeHttpRequest, KubeHttpResponse, KubeTransport } from '../transport/transport.ts';
import { checkEqual, follow, set, type Stage, stage } from './followed-pods.ts';
import type { InMemoryTransport } from './in-memory-transport.ts';
import { PODS_PATH } from './test-cluster.ts';

type Body = AsyncIterable<Uint8Array>;
type Damage = (body: Body, response: KubeHttpResponse) => Body;

/** Damages lists or watches while a damage is set; counts what is asked. */
class DamagingTransport implements KubeTransport {
  readonly #inner: InMemoryTransport;
  list: Damage | undefined;
  watch: Damage | undefined;
  askedCount = 0;

  constructor(inner: InMemoryTransport) {
    this.#inner = inner;
  }

  async send(request: KubeHttpRequest): Promise<KubeHttpResponse> {
    this.askedCount++;
    const response = await this.#inner.send(request);
    const damage = request.isWatch === true ? this.watch : this.list;
    return damage === undefined ? response : { ...response, body: damage(response.body, response) };
  }

  refreshCredentials(): void {
    this.#inner.refreshCredentials();
  }

  close(): void {
    this.#inner.close();
  }
}

function damagedStage(seed?: string): { readonly world: Stage; readonly wire: DamagingTransport } {
  let wire: DamagingTransport | undefined;
  const around = (inner: InMemoryTransport): KubeTransport => (wire = new DamagingTransport(inner));
  const world = stage({}, { around }, seed);
  assert.ok(wire !== undefined);
  return { world, wire };
}

/** The text in place of the body. */
function instead(text: string | Uint8Array): Damage {
  return async function* replaced(_, { destroy }) {
    destroy();
    yield await Promise.resolve(typeof text === 'string' ? Buffer.from(text) : text);
  };
}

/** Each chunk as the function makes it. */
function each(change: (chunk: Uint8Array) => Uint8Array): Damage {
  return async function* changed(body) {
    for await (const chunk of body) yield change(chunk);
  };
}

/** Half of the first chunk, then an end in order or a cut. */
function half(isCut: boolean): Damage {
  return async function* halved(body, { destroy }) {
    for await (const chunk of body) {
      yield chunk.subarray(0, chunk.length >> 1);
      break;
    }
    destroy();
    if (isCut) throw new BigFleetError('kube_unreachable', 'reset');
  };
}

/** A line that never ends, in pieces of a megabyte. */
const endless: Damage = async function* endless(_, { destroy }) {
  destroy();
  const piece = Buffer.alloc(1 << 20, 'x');
  for (;;) yield await Promise.resolve(piece);
};

const flipped = each((chunk) => chunk.map((byte, at) => (at % 7 === 0 ? byte ^ 0x55 : byte)));
const binary = instead(Uint8Array.from({ length: 4096 }, (_, at) => (at * 131) & 0xff));
const page = instead('<html><body>Please log in</body></html>\n');

const LISTS: readonly [name: string, damage: Damage, code: string][] = [
  ['a page of a proxy', page, 'kube_answer_malformed'],
  ['JSON that is no list', instead('{}'), 'kube_answer_malformed'],
  ['a list of another kind of thing', instead('{"items":[]}'), 'kube_answer_malformed'],
  ['a list without items', instead('{"kind":"PodList"}'), 'kube_answer_malformed'],
  ['items that are no list', instead('{"kind":"PodList","items":{}}'), 'kube_answer_malformed'],
  ['half of it, and an end', half(false), 'kube_answer_malformed'],
  ['half of it, and a cut', half(true), 'kube_unreachable'],
  ['flipped bits', flipped, 'kube_answer_malformed'],
  ['bytes that are no text', binary, 'kube_answer_malformed'],
  ['nothing', instead(''), 'kube_answer_malformed'],
  ['an endless answer', endless, 'kube_answer_malformed'],
];

for (const [name, damage, code] of LISTS) {
  test(`a list that is ${name} never counts as an empty cluster`, async () => {
    const { world, wire } = damagedStage();
    for (let i = 0; i < 30; i++) set(world, `p${i}`, '1');
    const followed = follow(world);
    await world.time.runFor(2_000);
    wire.list = damage;
    followed.reflector.relist('periodic');
    wire.askedCount = 0;
    await world.time.runFor(60_000);
    assert.equal(followed.reflector.size, 30);
    assert.equal(followed.failures[0]?.code, code, followed.failures[0]?.problem);
    assert.ok((followed.failures[0]?.problem.length ?? 0) < 500);
    assert.ok(wire.askedCount < 60, `${wire.askedCount} requests in a minute`);
    wire.list = undefined;
    world.ask('DELETE', `${PODS_PATH}/p1`);
    await world.time.runFor(60_000);
    checkEqual(world, followed);
    world.stop();
  });
}

const WATCHES: readonly [name: string, damage: Damage, code: string][] = [
  ['a page of a proxy', page, 'kube_answer_malformed'],
  ['half an event, and an end', half(false), 'kube_unreachable'],
  ['half an event, and a cut', half(true), 'kube_unreachable'],
  ['events of nothing', instead('{"type":"ADDED"}\n'), 'kube_answer_malformed'],
  ['events that are no objects', instead('[]\n3\nnull\n'), 'kube_answer_malformed'],
  ['flipped bits', flipped, 'kube_answer_malformed'],
  [
    'bytes that are no text',
    instead(Buffer.concat([Buffer.from([0xff, 0xfe, 0x80]), Buffer.from('\n')])),
    'kube_answer_malformed',
  ],
  ['an endless line', endless, 'kube_answer_malformed'],
  [
    'an error of the server',
    instead('{"type":"ERROR","object":{"kind":"Status","code":500,"message":"etcd"}}\n'),
    'kube_refused',
  ],
  ['nothing at all', instead(''), 'kube_unreachable'],
];

for (const [name, damage, code] of WATCHES) {
  test(`a watch of ${name} is named, paced and got over`, async () => {
    const { world, wire } = damagedStage();
    for (let i = 0; i < 5; i++) set(world, `p${i}`, '1');
    const followed = follow(world);
    await world.time.runFor(2_000);
    wire.watch = damage;
    wire.askedCount = 0;
    world.server.faults.endWatches();
    for (let i = 0; i < 60; i++) {
      set(world, `p${i % 7}`, `x${i}`);
      await world.time.runFor(1_000);
    }
    assert.ok(followed.reflector.size >= 5);
    assert.ok(
      followed.failures.some((failure) => failure.code === code),
      JSON.stringify(followed.failures[0]),
    );
    // A watch that brought an event before its damage is resumed at once, so that 60 events bound these.
    assert.ok(wire.askedCount < 240, `${wire.askedCount} requests in a minute`);
    wire.watch = undefined;
    await world.time.runFor(120_000);
    set(world, 'p2', 'last');
    await world.time.runFor(120_000);
    checkEqual(world, followed);
    world.stop();
  });
}

test('a server that answers every watch with 410 is listed ever more rarely', async () => {
  const { world, wire } = damagedStage();
  set(world, 'a', '1');
  wire.watch = instead(
    '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n',
  );
  const followed = follow(world);
  await world.time.runFor(3_600_000);
  assert.ok(followed.relists.length > 20, `${followed.relists.length} lists`);
  assert.ok(followed.relists.length < 400, `${followed.relists.length} lists in an hour`);
  wire.watch = undefined;
  set(world, 'a', '2');
  await world.time.runFor(120_000);
  checkEqual(world, followed);
  world.stop();
});

test('a reader and an observer that throw are named, and cost no other object its record', async () => {
  for (const thrower of ['read', 'upserted', 'removed'] as const) {
    const world = stage();
    const failures: string[] = [];
    const seen = new Set<string>();
    const fail = (where: string, key: string): void => {
      if (where === thrower && key.endsWith('/bad')) throw new TypeError('unreadable');
    };
    const reflector = new Reflector<string>({
      runtime: world.time.runtime,
      client: world.client,
      resource: PODS,
      read: (_, { key }) => {
        fail('read', key);
        return key;
      },
      observer: {
        upserted: (key) => {
          fail('upserted', key);
          seen.add(key);
        },
        removed: (key) => fail('removed', key),
        failed: ({ code, problem }) => failures.push(`${code} ${problem}`),
      },
    });
    const ended = reflector.run(world.signal);
    set(world, 'good', '1');
    set(world, 'bad', '1');
    await world.time.runFor(60_000);
    set(world, 'bad', '2');
    world.ask('DELETE', `${PODS_PATH}/bad`);
    set(world, 'later', '1');
    await world.time.runFor(120_000);
    assert.ok(seen.has('default/good') && seen.has('default/later'), thrower);
    assert.equal(failures[0], 'kube_answer_malformed default/bad: unreadable', thrower);
    world.stop();
    await ended;
  }
});

test('a schema that changes during a list is not lost', async () => {
  const world = stage();
  for (let i = 0; i < 1200; i++) set(world, `p${i}`, '1');
  const followed = follow(world);
  await world.time.runFor(2_000);
  world.server.faults.add({ pathPrefix: '/api/v1/pods?limit' }, { kind: 'latency', ms: 1_000 });
  followed.reflector.relist('periodic');
  await world.time.runFor(1_500);
  followed.reflector.relist('schema');
  await world.time.runFor(60_000);
  assert.deepEqual(followed.relists, ['initial', 'periodic', 'schema']);
  world.stop();
});

test('whatever is damaged and when, the cache equals a fresh list once it stops', async () => {
  for (let seed = 0; seed < 20; seed++) {
    const { world, wire } = damagedStage(String(seed));
    const random = world.time.runtime.random.stream('damage');
    const followed = follow(world);
    for (let step = 0; step < 30; step++) {
      set(world, `p${random.below(9)}`, String(step));
      const damages = [...LISTS, ...WATCHES].filter(([, damage]) => damage !== endless);
      const pick = (): Damage | undefined =>
        random.below(2) === 0 ? undefined : damages[random.below(damages.length)]?.[1];
      wire.list = pick();
      wire.watch = pick();
      if (random.below(3) === 0) world.server.faults.endWatches();
      if (random.below(5) === 0) world.server.compact();
      await world.time.runFor(random.below(40_000));
    }
    wire.list = undefined;
    wire.watch = undefined;
    await world.time.runFor(300_000);
    checkEqual(world, followed);
    world.stop();
  }
});
