// Proves over real loopback connections: a full scrape, the probes, every refusal, the defences
// against slow and greedy clients, and a bounded shutdown.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { captureSink, createLogger } from '../logs/logger.ts';
import { B14 } from '../metrics/buckets.ts';
import { createRegistry, type MetricRegistry } from '../metrics/registry.ts';
import { parseFamilies, valuesOf } from '../metrics/testing/scrape-families.ts';
import { startProcessMetrics } from '../process/process-metrics.ts';
import { parseListenAddress } from './listen-address.ts';
import { createReadiness, type Readiness } from './readiness.ts';
import { type HttpServer, type HttpServerOptions, startHttpServer } from './server.ts';

const runtime = realRuntime();
const REASON = 'first provider reconcile not yet complete';

interface Started {
  readonly server: HttpServer;
  readonly url: string;
  readonly port: number;
  readonly registry: MetricRegistry;
  readonly readiness: Readiness;
  readonly lines: readonly string[];
}

const running: HttpServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close(0)));
});

async function start(
  addr = '127.0.0.1:0',
  options: Partial<HttpServerOptions> = {},
): Promise<Started> {
  const address = parseListenAddress(addr);
  assert.ok(address.ok);
  const registry = createRegistry();
  const readiness = createReadiness({ reason: REASON, latched: true });
  const sink = captureSink();
  const logger = createLogger({ clock: runtime.clock, sink });
  const server = await startHttpServer({
    runtime,
    address: address.value,
    registries: [registry],
    readiness,
    logger,
    ...options,
  });
  running.push(server);
  const url = `http://${server.address}`;
  const port = Number(/:(\d+)$/.exec(server.address ?? '')?.[1] ?? 0);
  return { server, url, port, registry, readiness, lines: sink.lines };
}

test('a full scrape over HTTP is what was counted, and readable', async () => {
  const { url, registry, lines, server } = await start();
  const metrics = startProcessMetrics({
    registry,
    clock: runtime.clock,
    build: { component: 'shard', version: '0.1.0', revision: 'unknown' },
  });
  registry
    .counter({ name: 'bigfleet_shard_actions_total', help: 'x', labels: { kind: ['Bootstrap'] } })
    .labels({ kind: 'Bootstrap' })
    .inc(3);
  const rejected = registry.counter({
    name: 'bigfleet_shard_rollups_rejected_total',
    help: 'x',
    labels: { cluster: { max: 5_000 } },
  });
  for (let at = 0; at < 5_000; at++) rejected.labels({ cluster: `c"${at}\n` }).inc(at);
  registry.histogram({ name: 'h_seconds', help: 'x', bounds: B14 }).observe(0.5);
  const response = await fetch(`${url}/metrics`);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  const families = parseFamilies(await response.text());
  metrics.stop();
  assert.deepEqual(valuesOf(families, 'bigfleet_shard_actions_total'), { Bootstrap: 3 });
  const clusters = valuesOf(families, 'bigfleet_shard_rollups_rejected_total');
  assert.equal(Object.keys(clusters).length, 5_000);
  assert.equal(clusters['c"4999\n'], 4_999);
  assert.ok(families.has('nodejs_eventloop_lag_p99_seconds'));
  assert.match(
    lines[0] ?? '',
    new RegExp(`level=INFO msg="metrics serving" addr=${server.address}`),
  );
});

test('liveness always answers; readiness says why not', async () => {
  const { url, readiness } = await start();
  const get = async (path: string): Promise<[number, string]> => {
    const response = await fetch(url + path);
    return [response.status, await response.text()];
  };
  assert.deepEqual(await get('/healthz'), [200, 'ok\n']);
  assert.deepEqual(await get('/readyz'), [503, `${REASON}\n`]);
  readiness.markReady();
  assert.deepEqual(await get('/readyz?verbose'), [200, 'ready\n']);
  readiness.markReady('the disk is full');
  assert.deepEqual(await get('/readyz'), [200, 'ready: the disk is full\n']);
  readiness.markReady('');
  assert.deepEqual(await get('/readyz'), [200, 'ready\n']);
  readiness.shutDown();
  assert.deepEqual(await get('/readyz'), [503, 'shutting down\n']);
  assert.deepEqual(await get('/healthz'), [200, 'ok\n']);
});

const refusals: readonly [string, string, string, number, RegExp][] = [
  ['an unknown path', 'GET', '/', 404, /serves \/metrics, \/healthz, \/readyz\n$/],
  ['a path below a known one', 'GET', '/metrics/', 404, /not found/],
  ['profiles without the flag', 'GET', '/debug/cpu-profile', 404, /not found/],
  ['POST', 'POST', '/metrics', 405, /use GET or HEAD/],
  ['DELETE of nothing', 'DELETE', '/nothing', 405, /use GET or HEAD/],
];

for (const [what, method, path, status, body] of refusals) {
  test(`refused: ${what}`, async () => {
    const { url } = await start();
    const response = await fetch(url + path, { method });
    assert.equal(response.status, status);
    assert.match(await response.text(), body);
    if (status === 405) assert.equal(response.headers.get('allow'), 'GET, HEAD');
  });
}

test('HEAD has the headers of GET and no body', async () => {
  const { url } = await start();
  const head = await fetch(`${url}/healthz`, { method: 'HEAD' });
  assert.equal(head.headers.get('content-length'), '3');
  assert.equal(await head.text(), '');
});

test('"0" disables: nothing listens', async () => {
  for (const addr of ['0', '']) {
    const { server } = await start(addr);
    assert.equal(server.address, undefined);
    await server.close();
  }
});

test('IPv6 loopback and all interfaces', async () => {
  const six = await start('[::1]:0');
  assert.match(six.server.address ?? '', /^\[::1\]:\d+$/);
  assert.equal((await fetch(`${six.url}/healthz`)).status, 200);
  const all = await start(':0');
  assert.equal((await fetch(`http://127.0.0.1:${all.port}/healthz`)).status, 200);
});

test('a port in use is an error that says what to do', async () => {
  const { port } = await start();
  const address = `127.0.0.1:${port}`;
  await assert.rejects(start(address, { flag: '--shard-metrics-addr' }), (error: unknown) => {
    assert.ok(error instanceof Error && 'code' in error);
    assert.equal(error.code, 'address_in_use');
    assert.match(error.message, new RegExp(`cannot listen on ${address}: another process uses`));
    assert.match(error.message, /choose another address with --shard-metrics-addr/);
    return true;
  });
});

test('an address that is not ours is an error that names it', async () => {
  await assert.rejects(start('192.0.2.1:1'), /cannot listen on 192\.0\.2\.1:1 .*--metrics-addr/);
});

async function rawConnection(port: number): Promise<{ socket: Socket; answer: Promise<string> }> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  await once(socket, 'connect');
  // Of writing into a connection that was cut off.
  socket.on('error', () => {});
  const answer = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
  });
  return { socket, answer };
}

const quick = { headerTimeoutMs: 500, requestTimeoutMs: 60_000, checkEveryMs: 20 };

test('a client that dribbles its headers is cut off, others are served meanwhile', async () => {
  // The limit holds for the other client too, which this process may keep waiting on a busy machine.
  const limits = { ...quick, headerTimeoutMs: 5_000 };
  const { url, port } = await start('127.0.0.1:0', { limits });
  const { socket, answer } = await rawConnection(port);
  socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n');
  const dribble = (): void => {
    if (socket.destroyed) return;
    socket.write('X-Slow: 1\r\n');
    runtime.timers.after(10, dribble);
  };
  dribble();
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  // Empty when a header met the closed connection before the client read why.
  assert.match(await answer, /^(HTTP\/1\.1 408 Request Timeout|$)/);
});

test('a client that stops in the middle of its headers is told', async () => {
  const { port } = await start('127.0.0.1:0', { limits: quick });
  const { socket, answer } = await rawConnection(port);
  socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n');
  assert.match(await answer, /^HTTP\/1\.1 408 Request Timeout/);
});

test('a client that sends nothing is cut off', async () => {
  const { port } = await start('127.0.0.1:0', { limits: quick });
  const { answer } = await rawConnection(port);
  assert.match(await answer, /^(HTTP\/1\.1 408 Request Timeout|$)/);
});

test('the spec asks for 5 s, checked every second, and that is the default', async () => {
  const { DEFAULT_LIMITS } = await import('./server.ts');
  assert.equal(DEFAULT_LIMITS.headerTimeoutMs, 5_000);
  assert.ok(DEFAULT_LIMITS.checkEveryMs <= 1_000);
});

test('oversized headers, bodies and garbage are refused and closed', async () => {
  const { port, url } = await start();
  const cases: readonly [string, RegExp][] = [
    [`GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
    [`GET /${'y'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, /^HTTP\/1\.1 431 /],
    ['GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nGET ', /^HTTP\/1\.1 413 /],
    ['GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n', /^HTTP\/1\.1 413 /],
    ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', /^HTTP\/1\.1 400 /],
  ];
  for (const [bytes, expected] of cases) {
    const { socket, answer } = await rawConnection(port);
    socket.write(bytes, 'latin1');
    assert.match(await answer, expected);
  }
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
});

test('connections beyond the bound are dropped, the rest is served', async () => {
  const { port } = await start('127.0.0.1:0', { limits: { maxConnections: 2 } });
  const first = await rawConnection(port);
  const second = await rawConnection(port);
  const third = await rawConnection(port);
  assert.equal(await third.answer, '');
  first.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  assert.match(await first.answer, /^HTTP\/1\.1 200 OK/);
  second.socket.destroy();
});

test('a collector that throws is a 500, is logged, and the next scrape works', async () => {
  const { url, registry, lines } = await start();
  let broken = true;
  registry.onCollect(() => {
    if (broken) throw new Error('no /proc today');
  });
  assert.equal((await fetch(`${url}/metrics`)).status, 500);
  assert.match(
    lines.at(-1) ?? '',
    /level=ERROR msg="request failed" target=\/metrics err="no \/proc/,
  );
  broken = false;
  assert.equal((await fetch(`${url}/metrics`)).status, 200);
});

test('a bug behind a request ends the process, like every bug', () => {
  const program = `
    import { realRuntime } from '@bigfleet/base/real';
    import { captureSink, createLogger, createReadiness, createRegistry, startHttpServer }
      from '${new URL('../index.ts', import.meta.url).href}';
    const registry = createRegistry();
    registry.gauge({ name: 'a', help: 'a' });
    const runtime = realRuntime();
    const server = await startHttpServer({
      runtime,
      address: { kind: 'listen', host: '127.0.0.1', port: 0 },
      registries: [registry, registry],
      readiness: createReadiness({ reason: 'x', latched: true }),
      logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
    });
    await fetch('http://' + server.address + '/metrics');
    process.exit(0);`;
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
  assert.equal(child.status, 1);
  assert.match(child.stderr, /AssertionError: two registries of one scrape share a metric name/);
});

/** A close that waited for this bound would hang. */
const NO_END_MS = 3_600_000;

test('closing lets a running scrape finish and refuses new connections', async () => {
  const { server, url, registry } = await start();
  const family = registry.gauge({ name: 'a', help: 'a', labels: { c: { max: 5_000 } } });
  for (let at = 0; at < 5_000; at++) family.labels({ c: `c${at}` });
  let closing: Promise<void> | undefined;
  registry.onCollect(() => {
    closing ??= server.close(NO_END_MS);
  });
  const response = await fetch(`${url}/metrics`);
  assert.equal(response.headers.get('connection'), 'close');
  assert.equal(parseFamilies(await response.text()).get('a')?.samples.length, 5_000);
  await closing;
  await assert.rejects(fetch(`${url}/healthz`));
});

test('closing cuts off whoever does not finish within the bound', async () => {
  const { server, port } = await start();
  const { socket, answer } = await rawConnection(port);
  socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n');
  await server.close(20);
  assert.equal(await answer, '');
});

interface CpuProfile {
  readonly nodes: readonly unknown[];
  readonly startTime: number;
  readonly endTime: number;
}

interface LoopReport {
  readonly lagSinceLastReport: { readonly p99Seconds: number };
  readonly memory: { readonly rss: number };
}

interface HeapSnapshot {
  readonly snapshot: { readonly node_count: number };
}

async function getJson(url: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}

test('with the flag: CPU profile, heap snapshot and event-loop report', async () => {
  const { url } = await start('127.0.0.1:0', { debugEndpoints: true });
  const [profile, busy] = await Promise.all([
    getJson(`${url}/debug/cpu-profile?seconds=0.05`),
    getJson(`${url}/debug/cpu-profile?seconds=0.05`),
  ]);
  assert.deepEqual(
    [profile.status, busy.status].toSorted((a, b) => a - b),
    [200, 409],
  );
  const taken = JSON.parse((profile.status === 200 ? profile : busy).body) as CpuProfile;
  assert.ok(taken.nodes.length > 0 && taken.endTime > taken.startTime);
  for (const seconds of ['0', '61', '-1', 'x', '']) {
    assert.equal((await getJson(`${url}/debug/cpu-profile?seconds=${seconds}`)).status, 400);
  }
  const loop = JSON.parse((await getJson(`${url}/debug/event-loop`)).body) as LoopReport;
  assert.ok(loop.lagSinceLastReport.p99Seconds >= 0 && loop.memory.rss > 0);
  const heap = await getJson(`${url}/debug/heap-snapshot`);
  assert.ok((JSON.parse(heap.body) as HeapSnapshot).snapshot.node_count > 0);
  assert.match((await getJson(`${url}/debug/x`)).body, /\/debug\/event-loop/);
});

test('a client that leaves frees the profiler', async () => {
  const { url, port } = await start('127.0.0.1:0', { debugEndpoints: true });
  const { socket } = await rawConnection(port);
  socket.write('GET /debug/cpu-profile?seconds=60 HTTP/1.1\r\nHost: x\r\n\r\n');
  while ((await getJson(`${url}/debug/cpu-profile?seconds=0.01`)).status !== 409);
  socket.destroy();
  let status = 409;
  while (status === 409) ({ status } = await getJson(`${url}/debug/cpu-profile?seconds=0.01`));
  assert.equal(status, 200);
});
