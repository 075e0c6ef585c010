// Proves what strangers get from the port: only GET, only known paths and parameters, refusals with stable
// codes, headers that keep pages to themselves, files of one folder only, and memory that a reader who does
// not read cannot grow.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { BigFleetError, createVirtualRuntime, err, ok, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks, realRuntime } from '@bigfleet/base/real';
import { captureSink, createLogger, createReadiness, createRegistry } from '@bigfleet/telemetry';
import type { ModelEvent, Fleet } from '../../model/index.ts';
import { type ServedFleet, serveFleet, type ServeFleetOptions } from '../serve-fleet.ts';
import { statusOf } from './answer.ts';

const root = mkdtempSync(path.join(tmpdir(), 'dashboard-http-'));
const webDir = path.join(root, 'web');
const PAGE = `<!doctype html><title>BigFleet</title>${'x'.repeat(2_000)}`;

/** Answers with what it was asked, refuses `needs`, and tells events when told to. */
class PlainFleet {
  version = 1;
  padding = '';
  readonly #listeners = new Set<(event: ModelEvent) => void>();

  answer: Fleet['answer'] = async (view, params) => {
    if (view === 'needs') return err({ code: 'need_not_found', message: 'no such need' });
    return ok({ view, params, version: this.version, padding: this.padding } as never);
  };

  subscribe(listener: (event: ModelEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(event: ModelEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  sizes = () => ({
    machines: 7,
    needs: 0,
    decisions: 0,
    columnBytes: 0,
    historyBytes: 0,
    recordBytes: 0,
    damagedRecords: 0,
  });
}

const fleet = new PlainFleet();
const runtime = realRuntime();
const readiness = createReadiness({ reason: 'starting', latched: true });
let served: ServedFleet;
let base = '';

function options(more: Partial<ServeFleetOptions> = {}): ServeFleetOptions {
  return {
    runtime,
    logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
    registry: createRegistry(),
    fleet: fleet as unknown as Fleet,
    readiness,
    listen: { kind: 'listen', host: '127.0.0.1', port: 0 },
    webDir,
    allowedHosts: ['fleet.example'],
    maxStreams: 2,
    version: '0.1.0',
    outsideVersion: () => 0,
    onBug: (bug) => assert.fail(String(bug)),
    ...more,
  };
}

before(async () => {
  mkdirSync(path.join(webDir, 'assets'), { recursive: true });
  writeFileSync(path.join(webDir, 'index.html'), PAGE);
  writeFileSync(path.join(webDir, 'assets/app-1a2b.js'), 'export const x = 1;\n'.repeat(100));
  writeFileSync(path.join(webDir, '.hidden'), 'secret');
  writeFileSync(path.join(root, 'outside.txt'), 'secret');
  symlinkSync(path.join(root, 'outside.txt'), path.join(webDir, 'assets/link.txt'));
  served = await serveFleet(options());
  base = `http://${served.address}`;
});
after(async () => {
  await served.close();
  rmSync(root, { recursive: true });
});

interface Got {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
}

/** As it stands: `fetch` would tidy the path up before it is sent. */
function get(target: string, more: { method?: string; headers?: object } = {}): Promise<Got> {
  const { method = 'GET', headers = {} } = more;
  return new Promise((resolve, reject) => {
    const [host, port] = served.address.split(':');
    const sent = request({ host, port, path: target, method, headers: { ...headers } });
    sent.on('error', reject);
    sent.on('response', (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () => {
        const { statusCode = 0, headers: got } = answer;
        resolve({ status: statusCode, headers: got, body: Buffer.concat(parts) });
      });
    });
    sent.end();
  });
}

async function problemOf(target: string, more = {}): Promise<[number, string]> {
  const { status, body } = await get(target, more);
  const { code, message } = JSON.parse(body.toString()) as { code: string; message: string };
  assert.ok(message.length > 0);
  return [status, code];
}

test('wrong questions get a status, a stable code and a sentence', async () => {
  const cases: readonly [string, number, string][] = [
    ['/api/v1/nowhere', 404, 'view_unknown'],
    ['/api/v1/__proto__', 404, 'view_unknown'],
    ['/api/v1/constructor', 404, 'view_unknown'],
    ['/api/v1/now?foo=1', 400, 'parameter_unknown'],
    ['/api/v1/now?at=1&at=2', 400, 'parameter_invalid'],
    ['/api/v1/now?at=yesterday', 400, 'parameter_invalid'],
    ['/api/v1/now?at=-1', 400, 'parameter_invalid'],
    ['/api/v1/now?at=1.5', 400, 'parameter_invalid'],
    ['/api/v1/now?at=1e300', 400, 'parameter_invalid'],
    ['/api/v1/map?by=colour', 400, 'parameter_invalid'],
    ['/api/v1/map?state=idle', 400, 'parameter_invalid'],
    ['/api/v1/machines?limit=5001', 400, 'parameter_invalid'],
    ['/api/v1/machines?limit=0', 400, 'parameter_invalid'],
    [`/api/v1/machines?q=${'x'.repeat(4_097)}`, 400, 'parameter_invalid'],
    ['/api/v1/record?shard=a&epoch=x&cycle=1', 400, 'parameter_invalid'],
    ['/api/v1/record?shard=a&epoch=1', 400, 'parameter_invalid'],
    ['/api/v1/explain?counterfactuals=yes', 400, 'parameter_invalid'],
    ['/api/v1/whatif?seed=-1', 400, 'parameter_invalid'],
    ['/api/v1/needs', 404, 'need_not_found'],
    ['/api/v2/now', 404, 'path_unknown'],
    ['/api/v1/stream?view=now&foo=1', 400, 'parameter_unknown'],
    ['/api/v1/stream?cells=yes', 400, 'parameter_invalid'],
    [`/api/v1/stream?after=${'x'.repeat(100)}`, 400, 'parameter_invalid'],
    [
      `/api/v1/stream?${Array.from({ length: 9 }, (_, at) => `view=now%3Fat%3D${at}`).join('&')}`,
      400,
      'parameter_invalid',
    ],
    ['/no/such/page', 404, 'path_unknown'],
    ['/assets/none.js', 404, 'path_unknown'],
  ];
  for (const [target, status, code] of cases) {
    assert.deepEqual(await problemOf(target), [status, code], target);
  }
});

test('a wrong parameter is named, with its value and what it may be', async () => {
  const { body } = await get('/api/v1/map?by=colour');
  assert.match(body.toString(), /by \\"colour\\": .*\\"place\\".*\\"cluster\\"/);
});

test('this process only reads', async () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    const { status, headers } = await get('/api/v1/now', { method });
    assert.deepEqual([method, status, headers['allow']], [method, 405, 'GET, HEAD']);
  }
  assert.deepEqual(await problemOf('/api/v1/now', { headers: { 'content-length': '3' } }), [
    413,
    'body_refused',
  ]);
  const head = await get('/api/v1/now', { method: 'HEAD' });
  assert.deepEqual([head.status, head.body.length], [200, 0]);
  const stream = await get('/api/v1/stream?view=now', { method: 'HEAD' });
  assert.deepEqual([stream.status, stream.body.length], [200, 0]);
  assert.match(String(stream.headers['content-type']), /^text\/event-stream/);
  const wrong = await get('/api/v1/stream?wat=1', { method: 'HEAD' });
  assert.equal(wrong.status, 400);
});

/** Bytes as they are, until the other side closes; `later` when the answer has begun. */
function sendRaw(bytes: string, later = ''): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const [host = '', port] = served.address.split(':');
  const socket = connect({ host, port: Number(port) });
  let read = '';
  socket.setEncoding('utf8').on('data', (text: string) => (read += text));
  socket.once('data', () => socket.write(later));
  // Closed before everything that was sent is read, it is a reset: what was answered before it counts.
  socket.on('error', () => undefined).on('close', () => resolve(read));
  socket.write(bytes);
  return promise;
}

test('what is no request is answered like one: a status, a code, and every header', async () => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['no request at all\r\n\r\n', /^HTTP\/1\.1 400 .*"code":"request_malformed"/s],
    [
      `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(33_000)}\r\n\r\n`,
      /^HTTP\/1\.1 431 .*"code":"request_too_large"/s,
    ],
    ['GET /api/v1/now HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 .*"code":"request_malformed"/s],
    ['GET /api/v1/now HTTP/1.0\r\n\r\n', /^HTTP\/1\.1 403 .*"code":"host_refused"/s],
    [
      'GET /healthz HTTP/1.1\r\nhost: localhost\r\nexpect: miracles\r\nconnection: close\r\n\r\n',
      /^HTTP\/1\.1 200 /,
    ],
  ];
  for (const [bytes, pattern] of wrong) {
    const answer = await sendRaw(bytes);
    assert.match(answer, pattern);
    assert.match(answer, /^content-security-policy: default-src 'none'/im);
    assert.match(answer, /^x-content-type-options: nosniff\r$/im);
  }
});

test('no refusal is written into an answer that has begun, or in the place of one', async () => {
  const ask = (target: string): string => `GET ${target} HTTP/1.1\r\nhost: localhost\r\n\r\n`;
  const noRequest = 'no request at all\r\n\r\n';
  const streamed = await sendRaw(ask('/api/v1/stream?view=now'), noRequest);
  assert.equal(streamed.match(/HTTP\/1\.1 /g)?.length, 1, streamed);
  const pipelined = await sendRaw(`${ask('/api/v1/now')}${noRequest}`);
  assert.ok(!pipelined.startsWith('HTTP/1.1 400'), pipelined);
});

test('requests that never come to their end make room again, read or not', async () => {
  const time = createVirtualRuntime({ seed: 'refused', drain: drainMicrotasks });
  const other = await serveFleet(options({ runtime: time.runtime }));
  const [host = '', port] = other.address.split(':');
  const address = { host, port: Number(port), allowHalfOpen: true };
  /** As many as it takes at once. */
  const silent = Array.from({ length: 512 + 2 }, () => connect(address).pause());
  try {
    for (const socket of silent)
      socket.on('error', () => undefined).write('GET / HTTP/1.1\r\nhost: l');
    const isServed = (): Promise<boolean> =>
      fetch(`http://${other.address}/healthz`, { headers: { connection: 'close' } }).then(
        ({ ok: isOk }) => isOk,
        () => false,
      );
    await until(async () => !(await isServed()));
    // Node itself counts the time of a request: as many turns as that takes.
    await until(async () => {
      await time.runFor(10);
      return await isServed();
    }, 100_000);
  } finally {
    for (const socket of silent) socket.destroy();
    await closeUnder(time, other);
  }
});

test('pages load nothing from elsewhere, and nobody frames them', async () => {
  for (const target of ['/', '/api/v1/now', '/metrics', '/nothing.txt']) {
    const { headers } = await get(target);
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self'(?:;|$)/, 'no inline script');
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe|https?:/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'same-origin');
  }
});

test('a loopback port answers to names of this machine, and of a proxy that was named', async () => {
  const status = async (host: string): Promise<number> =>
    (await get('/healthz', { headers: { host } })).status;
  for (const host of [
    'localhost',
    'LOCALHOST:8760',
    '127.0.0.1:1',
    '[::1]:8760',
    'fleet.example',
  ]) {
    assert.equal(await status(host), 200, host);
  }
  for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example']) {
    assert.equal(await status(host), 403, host);
  }
});

test('the app has its pages, hashed files for good, and nothing outside of its folder', async () => {
  for (const target of ['/', '/map', '/what-if', '/index.html']) {
    const { status, headers, body } = await get(target);
    assert.deepEqual([status, body.toString()], [200, PAGE], target);
    assert.equal(headers['cache-control'], 'no-cache');
  }
  const asset = await get('/assets/app-1a2b.js', { headers: { 'accept-encoding': 'gzip, br' } });
  assert.equal(asset.headers['content-encoding'], 'br');
  assert.match(String(asset.headers['cache-control']), /immutable/);
  assert.match(brotliDecompressSync(asset.body).toString(), /^export const x = 1;/);
  const zipped = await get('/index.html', { headers: { 'accept-encoding': 'gzip, br;q=0' } });
  assert.equal(gunzipSync(zipped.body).toString(), PAGE);
  const again = { headers: { 'if-none-match': asset.headers.etag, 'accept-encoding': 'br' } };
  assert.equal((await get('/assets/app-1a2b.js', again)).status, 304);
  const outside = [
    '/../outside.txt',
    '/assets/../../outside.txt',
    '/%2e%2e/outside.txt',
    '/assets/link.txt',
    '/.hidden',
    '/assets/',
    '//outside.txt',
    '/assets/app-1a2b.js%00.txt',
  ];
  for (const target of outside) {
    const { status, body } = await get(target);
    assert.equal(status, 404, target);
    assert.doesNotMatch(body.toString(), /secret/);
  }
});

test('an app that is not built says so and names the command, and the API is there', async () => {
  const other = await serveFleet(options({ webDir: path.join(root, 'nothing') }));
  try {
    const page = await fetch(`http://${other.address}/`);
    assert.equal(page.status, 503);
    assert.match(await page.text(), /make web\n.*--web-dir/s);
    assert.equal((await fetch(`http://${other.address}/api/v1/now`)).status, 200);
  } finally {
    await other.close();
  }
});

test('an answer that has not changed is not sent again', async () => {
  fleet.padding = 'y'.repeat(2_000);
  const first = await get('/api/v1/cost?zone=a', { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(first.headers['content-encoding'], 'gzip');
  assert.match(gunzipSync(first.body).toString(), /"zone":"a"/);
  const tagged = { headers: { 'if-none-match': first.headers.etag } };
  assert.equal((await get('/api/v1/cost?zone=a', tagged)).status, 304);
  const { etag } = first.headers;
  assert.ok(typeof etag === 'string');
  const proxies = [`"other", ${etag}`, `W/${etag.replace(/^W\//, '')}`, '*'];
  for (const tags of proxies) {
    const { status, headers } = await get('/api/v1/cost?zone=a', {
      headers: { 'if-none-match': tags },
    });
    assert.deepEqual([status, headers['vary']], [304, 'accept-encoding'], tags);
  }
  fleet.version += 1;
  assert.equal((await get('/api/v1/cost?zone=a', tagged)).status, 200);
});

test('nobody gets an encoding that was refused, and a tag does not promise bytes of another', async () => {
  fleet.padding = 'y'.repeat(2_000);
  for (const [accepted, encoding] of [
    ['gzip;q=0', undefined],
    ['br, gzip; q=0.000, identity', undefined],
    ['x-gzip', undefined],
    ['GZIP;q=0.5', 'gzip'],
  ] as const) {
    const { headers } = await get('/api/v1/cost', { headers: { 'accept-encoding': accepted } });
    assert.deepEqual([accepted, headers['content-encoding']], [accepted, encoding]);
    // The same answer in other bytes: only a weak tag may be equal.
    assert.match(String(headers['etag']), /^W\//);
  }
});

test('the schema of the API, metrics and probes are served', async () => {
  const schema = JSON.parse((await get('/api/v1/schema')).body.toString()) as {
    parameters: Record<string, { properties: object }>;
    answers: Record<string, unknown>;
    stream: Record<string, unknown>;
  };
  assert.ok('by' in (schema.parameters['map']?.properties ?? {}));
  assert.ok(Object.keys(schema.answers).length >= 15 && 'hello' in schema.stream);
  assert.match((await get('/metrics')).body.toString(), /^bigfleet_dashboard_machines 7$/m);
  assert.equal((await get('/healthz')).status, 200);
  assert.deepEqual((await get('/readyz')).status, 503);
  readiness.markReady();
  assert.equal((await get('/readyz')).status, 200);
});

test('a socket that does not read is not written to, and gets the newest when it reads again', async () => {
  const time = createVirtualRuntime({ seed: 'slow', drain: drainMicrotasks });
  const slow = await serveFleet(options({ runtime: time.runtime }));
  const [host = '', port] = slow.address.split(':');
  const socket = connect({ host, port: Number(port) });
  try {
    fleet.padding = 'z'.repeat(1_000_000);
    socket.pause();
    socket.write('GET /api/v1/stream?view=now&view=cost HTTP/1.1\r\nhost: localhost\r\n\r\n');
    for (let cycle = 0; cycle < 60; cycle++) {
      fleet.version += 1;
      // Each would be two views of a megabyte.
      await time.runFor(6_000);
      for (let turns = 0; turns < 5; turns++) await runtime.timers.turn();
    }
    let read = '';
    socket.setEncoding('utf8').on('data', (text: string) => (read += text));
    socket.resume();
    const newest = `"version":${fleet.version}`;
    const count = (text: string): number => read.split(text).length - 1;
    await until(async () => {
      await time.runFor(100);
      return count(newest) === 2;
    });
    assert.ok(count('event: view') < 60, `${count('event: view')} of 120 views waited for it`);
  } finally {
    socket.destroy();
    fleet.padding = '';
    await closeUnder(time, slow);
  }
});

test('as many streams as may be, the next is told when to come again', async () => {
  const open = [1, 2].map(() => fetch(`${base}/api/v1/stream`));
  const streams = await Promise.all(open);
  const refused = await fetch(`${base}/api/v1/stream`);
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '5']);
  assert.equal(((await refused.json()) as { code: string }).code, 'streams_exceeded');
  for (const { body } of streams) await body?.cancel();
  await until(() => gauge('bigfleet_dashboard_streams 0'));
});

test('a stream resumes after the id of its header', async () => {
  fleet.padding = '';
  const first = await readUntil(`${base}/api/v1/stream`, {}, 'event: hello');
  const id = /^id: (\S+)$/m.exec(first)?.[1] ?? '';
  fleet.tell({ name: 'decision', data: { id: 'shard-0/1/7/0' } as never });
  const headers = { 'last-event-id': id };
  const second = await readUntil(`${base}/api/v1/stream?after=stale`, headers, 'shard-0/1/7/0');
  assert.match(second, /"isResumed":true/);
});

test('a port in use is refused with who holds it and which flag chooses another', async () => {
  const [host = '', port] = served.address.split(':');
  const listen = { kind: 'listen', host, port: Number(port) } as const;
  await assert.rejects(serveFleet(options({ listen })), (error: unknown) => {
    assert.ok(error instanceof BigFleetError);
    assert.equal(error.code, 'address_in_use');
    assert.match(error.message, new RegExp(`\\(pid ${process.pid}\\) uses this port; .*--listen`));
    return true;
  });
});

/** Real sockets, virtual timers: time moves on until it is closed. */
async function closeUnder(time: VirtualRuntime, open: ServedFleet): Promise<void> {
  let isClosed = false;
  const closing = open.close().then(() => (isClosed = true));
  await until(async () => {
    await time.runFor(1_000);
    return isClosed;
  });
  await closing;
}

async function gauge(line: string): Promise<boolean> {
  return (await get('/metrics')).body.toString().split('\n').includes(line);
}

async function until(isSo: () => Promise<boolean>, maxTurns = 2_000): Promise<void> {
  for (let turns = 0; turns < maxTurns; turns++) {
    if (await isSo()) return;
    await runtime.timers.turn();
  }
  assert.fail('it never came');
}

async function readUntil(
  url: string,
  headers: Record<string, string>,
  text: string,
): Promise<string> {
  const { body } = await fetch(url, { headers });
  assert.ok(body !== null);
  let read = '';
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    read += part;
    if (read.includes(text)) break;
  }
  return read;
}

test('a question that names nothing is the asker’s mistake, a source that is away is not', () => {
  const statusOfCode = (code: string): number => statusOf({ code, message: '' });
  assert.equal(statusOfCode('subject_missing'), 400);
  assert.equal(statusOfCode('machine_not_found'), 404);
  assert.equal(statusOfCode('source_absent'), 503);
});
