// Proves which ports a run opens, and that a busy one is told with who has it and with a command that works.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { test, type TestContext } from 'node:test';
import { portHolder } from '@bigfleet/process';
import { leasePorts } from '../../../test/toolkit/index.ts';
import { parseOptions } from '../options.ts';
import { HOST } from '../places.ts';
import { profiles } from '../profiles.ts';
import { portProblems } from './port-problems.ts';
import { defaultPorts, type PortName, portNames, usedPorts, portVariable } from './ports.ts';

/** Another process that listens there. */
async function holder(t: TestContext, ...ports: readonly number[]): Promise<ChildProcess> {
  const listen = ports.map((port) => `net.createServer().listen(${port}, '${HOST}')`);
  const code = `const all = [${listen.join()}]; all.at(-1).once('listening', () => console.log('up'))`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

/** A port that is ours, with a free one where the first offer would fall. */
async function portWithFreeOffer(): Promise<number> {
  for (const { port } of await leasePorts(8)) {
    const problems = await portProblems({ ...defaultPorts, shard: port + 1_000 }, ['shard']);
    if (problems.length === 0) return port;
  }
  throw new Error('eight ports, and none has a free one beside it');
}

test('a busy port is told with its process, and what is offered is free and given once', async (t) => {
  const shard = await portWithFreeOffer();
  const web = shard + 1_000;
  const child = await holder(t, shard, web);
  const ports = { ...defaultPorts, shard, 'web-eu': web };
  const [first, second, offer, ...rest] = await portProblems(ports, ['shard', 'web-eu']);
  assert.deepEqual(rest, []);
  assert.equal(portHolder(shard)?.pid, child.pid);
  assert.match(
    first ?? '',
    new RegExp(`^port ${shard} \\(shard\\) is in use by process ${child.pid} \\(\\S*node -e const`),
  );
  assert.match(second ?? '', new RegExp(`^port ${web} \\(web-eu\\) is in use by process`));
  const [, otherShard, otherWeb] =
    /^stop what .* make up SHARD_PORT=(\d+) WEB_EU_PORT=(\d+)$/.exec(offer ?? '') ?? [];
  assert.notEqual(otherShard, otherWeb);
  for (const port of [otherShard, otherWeb]) {
    const server = net.createServer().listen(Number(port), HOST);
    await once(server, 'listening');
    server.close();
  }
});

test('many busy ports are a few lines, and one command for all', async (t) => {
  const port = await portWithFreeOffer();
  await holder(t, port, port + 1_000);
  const names = portNames.slice(0, 9);
  const ports = { ...defaultPorts, ...Object.fromEntries(names.map((name) => [name, port])) };
  const lines = await portProblems(ports, names);
  assert.equal(lines.length, 4 + 2);
  assert.equal(lines[4], 'and 5 more ports');
  const offered = [...(lines[5] ?? '').matchAll(/_PORT=(\d+)/g)].map(([, other]) => other);
  assert.equal(new Set(offered).size, names.length);
  assert.equal(offered.includes(String(port + 1_000)), false, 'that one is busy too');
});

test('nobody listens: no holder, no problem', async () => {
  const [lease] = await leasePorts(1);
  assert.ok(lease !== undefined);
  assert.equal(portHolder(lease.port), undefined);
  assert.deepEqual(await portProblems({ ...defaultPorts, shard: lease.port }, ['shard']), []);
});

test('a run opens the ports of its profile, and more for an etcd or a cluster that joins', () => {
  const count = (profile: keyof typeof profiles, hasEtcd = false, hasJoined = false): number =>
    usedPorts({ profile: profiles[profile], hasEtcd, hasJoined }).length;
  assert.equal(count('small') - count('tiny'), 2 + 2 * 2);
  assert.equal(count('large') - count('small'), 5 * 2);
  assert.equal(count('small', true) - count('small'), 6);
  assert.equal(count('small', false, true) - count('small'), 1);
  assert.equal(count('large', true, true), portNames.length);
});

test('default ports differ, and each has a variable of its own', () => {
  assert.equal(new Set(Object.values(defaultPorts)).size, portNames.length);
  assert.equal(new Set(portNames.map(portVariable)).size, portNames.length);
  assert.equal(portVariable('sim-north-metrics'), 'SIM_NORTH_METRICS_PORT');
});

test('a port given twice is refused only where both are used', () => {
  const args = (name: PortName): readonly string[] => [`--${name}-port`, '9000'];
  const twice = parseOptions(args('shard'), {});
  assert.equal(twice.ok ? '' : twice.problem, 'port 9000 is given twice');
  assert.equal(parseOptions(args('web-sa'), {}).ok, true);
});
