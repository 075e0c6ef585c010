// Measured and printed (kubernetes §7.2-15): an operator process within the memory of its chart holds the requests of a
// large cluster, and while it builds roll-ups of them it still answers. 10,000 requests by default; SCALE=1
// takes the 100,000 of the text.
//
// The shard is the test's own: it asks for a blob all the time, and sees when the answer comes.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { readSamples } from '@bigfleet/telemetry';
import {
  createGrpcServer,
  encodeInit,
  openGate,
  type OperatorMessage,
  OperatorMessageSchema,
  decode,
  rawStream,
  Router,
  Shard,
  ShardMessageSchema,
} from '@bigfleet/wire';
import { outsiderGet } from '../etcd/gateway.ts';
import { launch } from '../operator/cluster-processes.ts';
import { createTempDir, eventually, HANG_MS, http, monotonicMs, sleep } from '../toolkit/index.ts';
import { skipWithout } from './binaries.ts';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import type { Stored } from './demand.ts';
import { putObjects } from './etcd-objects.ts';
import { requestsPath } from './pods-and-requests.ts';

const skip = skipWithout('controlPlane');
const IS_FULL = process.env['SCALE'] === '1';
const REQUESTS = IS_FULL ? 100_000 : 10_000;
/** The chart's limit for this many, and the share of it that Node may use. */
const LIMIT_MIB = IS_FULL ? 1_024 : 512;
const HEAP_MIB = Math.floor(LIMIT_MIB * 0.75);
const ROLLUPS = 30;
/** The operator's lag is that since the last look at it: a percentile needs some hundred turns. */
const LOOK_EVERY_MS = 5_000;
const ASK_EVERY_MS = 20;
/** Distinct amounts, as a cluster of many teams has them. */
const SHAPES = 400;
const TEAMS = 50;

const stack = new AsyncDisposableStack();
let plane: ControlPlane;
let shard: AskingShard;
let folder = '';

before(async () => {
  if (skip !== false) return;
  ({ path: folder } = stack.use(createTempDir('scale')));
  plane = stack.use(await startControlPlane());
  shard = stack.use(await AskingShard.start());
});

after(() => stack.disposeAsync());

test(`15. Scale: ${REQUESTS} CRs in one cluster: heap within limit, roll-ups built, bootstrap answered meanwhile`, {
  skip,
}, async (t) => {
  plane.explainFailures(t);
  const namespace = await plane.namespace('scale');
  await store(namespace);
  const samplesFile = join(folder, 'samples');
  const args = [
    '--cluster-id=scale',
    `--shard-addr=${shard.address}`,
    `--kubeconfig=${plane.adminKubeconfig}`,
    '--rollup-interval=500ms',
    `--trace-samples=${samplesFile}`,
  ];
  const operator = stack.use(
    await launch('operator', args, {
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
    }),
  );
  const [, address = ''] = await operator.waitForLine(/ msg="metrics serving" .* addr=(\S+)/);
  const metric = async (series: string): Promise<number> => {
    const { body } = await http({ url: `http://${address}/metrics` });
    const line = body.split('\n').find((one) => one.startsWith(`${series} `));
    return Number(line?.slice(series.length) ?? Number.NaN);
  };
  await eventually(() => shard.rollups.length > 0, {
    what: 'the first roll-up',
    withinMs: 5 * HANG_MS,
    details: () => operator.output.text(),
    hopeless: () => (operator.exit === undefined ? undefined : 'the operator ended'),
  });
  const lagOf = (): Promise<number> => metric('nodejs_eventloop_lag_p99_seconds{thread="main"}');
  const readingLag = await lagOf();
  const asking = shard.askUntil(
    () => shard.rollups.length >= ROLLUPS || operator.exit !== undefined,
  );
  const lags: number[] = [];
  let heapMib = 0;
  await eventually(
    async () => {
      lags.push(await lagOf());
      heapMib = Math.max(
        heapMib,
        (await metric('nodejs_heap_size_used_bytes{thread="main"}')) / 2 ** 20,
      );
      return shard.rollups.length >= ROLLUPS;
    },
    {
      what: `${ROLLUPS} roll-ups`,
      everyMs: LOOK_EVERY_MS,
      details: () => operator.output.text(),
      hopeless: () => (operator.exit === undefined ? undefined : 'the operator ended'),
    },
  );
  await asking;
  const residentMib = (await metric('process_resident_memory_bytes')) / 2 ** 20;
  assert.equal(await metric('bigfleet_operator_capacity_requests'), REQUESTS);
  await operator.stop();

  const last = shard.rollups.at(-1);
  assert.equal(last?.needs.length, TEAMS);
  const millis = last.needs.map(({ aggregateResources }) =>
    millisOf(aggregateResources['cpu'] ?? ''),
  );
  assert.equal(
    millis.reduce((sum, one) => sum + one, 0),
    Array.from({ length: REQUESTS }, (_, at) => cpuMillis(at)).reduce((sum, one) => sum + one, 0),
  );
  assert.ok(heapMib < HEAP_MIB, `${heapMib} MiB of heap`);
  // Buffers and code are outside of the heap; the limit kills for all of it.
  assert.ok(residentMib < LIMIT_MIB, `${residentMib} MiB resident`);
  assert.ok(shard.answerMs.length > 0);
  const built = await rollupSeconds(samplesFile);
  assert.ok(built.length >= ROLLUPS);
  const inMs = (seconds: number): string => `${(seconds * 1_000).toFixed(1)} ms`;
  t.diagnostic(
    `${REQUESTS} requests: roll-up p99 ${inMs(p99(built))} of ${built.length}, ` +
      `event-loop lag p99 ${inMs(Math.max(...lags))} in the worst of ${lags.length} looks ` +
      `(${inMs(readingLag)} while it read them), ` +
      `bootstrap answer p99 ${p99(shard.answerMs).toFixed(1)} ms of ${shard.answerMs.length}, ` +
      `heap ${heapMib.toFixed(0)} MiB, resident ${residentMib.toFixed(0)} of ${LIMIT_MIB} MiB`,
  );
});

/** One request through the API server, and all others into etcd as the server stored that one. */
async function store(namespace: string): Promise<void> {
  const { admin, etcd } = plane;
  await admin.must(admin.create(requestsPath(namespace), request(0)));
  const { endpoint } = etcd.member(0);
  const keyOf = (name: string): string => `bigfleet.lucy.sh/capacityrequests/${namespace}/${name}`;
  const stored = await outsiderGet(endpoint, `/registry/${keyOf('r-0')}`);
  const pattern = JSON.parse(stored?.value ?? '') as Stored;
  const others = Array.from({ length: REQUESTS - 1 }, (_, index) => {
    const { metadata, spec } = request(index + 1) as Stored;
    const uid = randomUUID();
    const object = { ...pattern, metadata: { ...pattern.metadata, ...metadata, uid }, spec };
    return { key: keyOf(metadata.name), object };
  });
  // Controllers list all kinds of objects: that load on the server is none of what is measured.
  await Promise.all([plane.controllerManager.stop(), plane.scheduler.stop()]);
  await putObjects(plane, others);
}

function cpuMillis(at: number): number {
  return 1 + (at % SHAPES);
}

function request(at: number): object {
  return {
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'CapacityRequest',
    metadata: { name: `r-${at}`, labels: { 'bigfleet.lucy.sh/owned-by-pod': `uid-${at}` } },
    spec: {
      priority: 100,
      requirements: [{ key: 'team', operator: 'In', values: [`t-${at % TEAMS}`] }],
      resources: { cpu: `${cpuMillis(at)}m`, memory: '1Gi' },
    },
  };
}

function millisOf(cpu: string): number {
  return cpu.endsWith('m') ? Number(cpu.slice(0, -1)) : Number(cpu) * 1_000;
}

function p99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * 0.99) - 1)] ?? Number.NaN;
}

type Rollup = Extract<OperatorMessage['payload'], { case: 'rollup' }>['value'];

/** Confirms every roll-up, and times its bootstrap requests. */
class AskingShard implements AsyncDisposable {
  readonly address: string;
  readonly rollups: Rollup[] = [];
  readonly answerMs: number[] = [];
  readonly #stop: () => Promise<void>;
  readonly #asked = new Map<string, number>();
  #send: ((frame: Frame) => void) | undefined;

  private constructor(address: string, stop: () => Promise<void>) {
    this.address = address;
    this.#stop = stop;
  }

  static async start(): Promise<AskingShard> {
    const router = new Router({ gate: openGate });
    const server = createGrpcServer({
      runtime: realRuntime(),
      router,
      listen: ['127.0.0.1:0'],
      keepalive: 'session',
    });
    const [address = ''] = await server.bind();
    const shard = new AskingShard(address, () => server.stop());
    router.add(Shard, { session: rawStream((requests) => shard.#serve(requests)) });
    return shard;
  }

  /** One after the other, as fast as they come back and no faster than the rate. */
  async askUntil(isOver: () => boolean): Promise<void> {
    for (let number = 0; !isOver(); number++) {
      const requestId = `ask-${number}`;
      this.#asked.set(requestId, monotonicMs());
      this.#send?.({
        case: 'bootstrapRequest',
        value: { requestId, clusterId: 'scale', machineId: 'm-1' },
      });
      await sleep(ASK_EVERY_MS);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stop();
  }

  async *#serve(requests: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const queue: Frame[] = [];
    let wake = Promise.withResolvers<void>();
    this.#send = (frame) => {
      queue.push(frame);
      wake.resolve();
    };
    let isOver = false;
    const reading = (async () => {
      for await (const bytes of requests)
        this.#heard(decode(OperatorMessageSchema, bytes, 'INVALID_ARGUMENT'));
    })().finally(() => {
      isOver = true;
      wake.resolve();
    });
    while (!isOver) {
      for (let frame = queue.shift(); frame !== undefined; frame = queue.shift()) {
        yield encodeInit(ShardMessageSchema, { payload: frame });
      }
      await wake.promise;
      wake = Promise.withResolvers<void>();
    }
    await reading.catch(() => undefined);
  }

  #heard({ payload }: OperatorMessage): void {
    if (payload.case === 'hello') this.#acknowledge('hello');
    if (payload.case === 'rollup') {
      this.rollups.push(payload.value);
      this.#acknowledge('rollup');
    }
    if (payload.case === 'bootstrapResponse') {
      const sentMs = this.#asked.get(payload.value.requestId);
      if (sentMs !== undefined) this.answerMs.push(monotonicMs() - sentMs);
      assert.equal(payload.value.error, '');
    }
  }

  #acknowledge(echo: string): void {
    const extensions = echo === 'hello' ? ['reclaim-completion', 'node-identity'] : [];
    this.#send?.({ case: 'ack', value: { echo, extensions } });
  }
}

type Frame = NonNullable<Parameters<typeof encodeInit<typeof ShardMessageSchema>>[1]['payload']>;

async function rollupSeconds(file: string): Promise<readonly number[]> {
  const { series } = await readSamples(file);
  return Array.from(series.get('rollup')?.seconds ?? []);
}
