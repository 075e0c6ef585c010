// Proves that leased ports are free, outside the kernel's ephemeral range, and never handed out
// twice, neither within a process nor across processes that lease at the same moment.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { tryLease } from './lease.ts';
import { leasableRange, leasePort, leasePorts } from './ports.ts';
import { startProcess } from './process.ts';

const PORTS_URL = new URL('./ports.ts', import.meta.url).href;

test('a leased port can be bound and lies outside the ephemeral range', async () => {
  await using lease = await leasePort();
  const server = createServer().listen(lease.port, '127.0.0.1');
  await once(server, 'listening');
  server.close();
  const text = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
  const [low = 0, high = 0] = text.split(/\s+/).map(Number);
  assert.ok(lease.port < low || lease.port > high, `${lease.port} in ${low}-${high}`);
});

test('a released port can be leased again, a held one cannot', async () => {
  const lease = await leasePort();
  assert.equal(await tryLease('port', lease.port), undefined);
  await lease.release();
  await lease.release();
  const again = await tryLease('port', lease.port);
  assert.equal(again?.number, lease.port);
  await again?.release();
});

test('a port that someone else listens on is not handed out', async (t) => {
  const probe = await leasePort();
  const server = createServer().listen(probe.port, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  await probe.release();
  const next = await leasePort();
  assert.notEqual(next.port, probe.port);
  await next.release();
});

test('four processes leasing fifty ports each never share one', async () => {
  // All of them start at the same candidate: the worst case for the lease.
  const script = `
    Object.defineProperty(process, 'pid', { value: 1 });
    const { leasePorts } = await import(${JSON.stringify(PORTS_URL)});
    console.log('ports ' + (await leasePorts(50)).map((lease) => lease.port).join(' '));
    process.stdin.resume();`;
  const leasers = await Promise.all(
    [1, 2, 3, 4].map((n) =>
      startProcess({
        name: `leaser ${n}`,
        command: process.execPath,
        args: ['--input-type=module', '-e', script],
        ready: { kind: 'line', pattern: /^ports / },
      }),
    ),
  );
  const ports = leasers.flatMap(({ output }) =>
    (/^ports (.*)$/m.exec(output.text())?.[1] ?? '').split(' '),
  );
  for (const leaser of leasers) await leaser.kill();
  assert.equal(ports.length, 200);
  assert.equal(new Set(ports).size, 200);
});

test('a killed process releases its leases at once', async () => {
  const [lease] = await leasePorts(1);
  const port = lease?.port ?? 0;
  await lease?.release();
  const script = `
    const { tryLease } = await import(${JSON.stringify(new URL('./lease.ts', import.meta.url).href)});
    console.log((await tryLease('port', ${port})) === undefined ? 'taken' : 'held');
    process.stdin.resume();`;
  const holder = await startProcess({
    name: 'holder',
    command: process.execPath,
    args: ['--input-type=module', '-e', script],
    ready: { kind: 'line', pattern: /^held/ },
  });
  assert.equal(await tryLease('port', port), undefined);
  await holder.kill();
  const free = await tryLease('port', port);
  assert.equal(free?.number, port);
  await free?.release();
});

test('the range avoids what the kernel gives out', () => {
  const cases: readonly (readonly [string, number, number])[] = [
    ['32768\t60999\n', 10_240, 22_528],
    ['1024 40000', 40_001, 25_535],
    ['15000 20000', 20_001, 45_535],
  ];
  for (const [text, first, count] of cases) {
    assert.deepEqual(leasableRange(text), { first, count }, text);
  }
  assert.throws(() => leasableRange('1024 65535'), /sysctl/);
  assert.throws(() => leasableRange('nonsense'), /unreadable/);
});
