// Proves that network namespaces give every host its own addresses, that the test reaches a host
// even while it is cut off, that no path leads around a partition, and that nothing is left over:
// neither after removal nor after the owner was killed together with its reaper.

import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { etcdPut } from './etcd-gateway.ts';
import { startEtcd } from './etcd.ts';
import { eventually } from './eventually.ts';
import { startEchoClient, startEchoServer } from './partition-cases.ts';
import { blockAddress, createNetwork } from './netns.ts';
import { listNamespaces, netnsSupport, sweepAbandonedNamespaces } from './netns-support.ts';
import { startProcess } from './process.ts';
import { ownIdentity } from './process-identity.ts';
import { canConnect } from './readiness.ts';
import { HANG_MS, sleep, withDeadline } from './real-time.ts';

const support = await netnsSupport();
const options = { skip: support.ok ? false : support.reason };
const mine = (): readonly string[] =>
  listNamespaces().filter((name) => name.startsWith(`bigfleet-${ownIdentity().pid}-`));

function reaches(host: string, port: number): Promise<boolean> {
  return withDeadline('connect', HANG_MS, (signal) => canConnect(host, port, signal));
}

test(
  'hosts use the same port on their own addresses; the test reaches all of them',
  options,
  async () => {
    await using network = await createNetwork({ hosts: { a: ['n'], b: ['n'] } });
    const [a, b] = [network.host('a'), network.host('b')];
    assert.notEqual(a.address, b.address);
    await using serverA = await startEchoServer(a, 7780);
    await using serverB = await startEchoServer(b, 7780);
    assert.ok(await reaches(a.address, 7780));
    assert.ok(await reaches(b.address, 7780));
    await network.isolate('a');
    assert.ok(await reaches(a.address, 7780), 'the management path is never cut');
    await Promise.all([serverA.kill(), serverB.kill()]);
  },
);

test('the management network is no way around a partition', options, async () => {
  await using network = await createNetwork({ hosts: { a: ['n'], b: ['n'] } });
  const [a, b] = [network.host('a'), network.host('b')];
  const place = { address: '0.0.0.0', command: a.command.bind(a) };
  await using server = await startEchoServer(place, 7780);
  await using client = await startEchoClient(b, { host: a.managementAddress, port: 7780 });
  client.write('open\n');
  await sleep(300);
  assert.equal(client.output.text(), '');
  assert.equal(server.output.text(), 'listening');
  await Promise.all([server.kill(), client.kill()]);
});

test(
  'a partitioned etcd member cannot write, the majority can, and it catches up',
  options,
  async () => {
    await using network = await createNetwork({ hosts: { a: ['n'], b: ['n'], c: ['n'] } });
    await using cluster = await startEtcd({
      places: network.hosts,
      heartbeatMs: 50,
      electionMs: 500,
    });
    const leader = await cluster.leader();
    const index = cluster.members.indexOf(leader);
    const name = network.hosts[index]?.name ?? '';
    await network.isolate(name);
    await assert.rejects(etcdPut(leader.endpoint, '/k', 'minority', 800));
    const other = cluster.member((index + 1) % 3);
    await eventually(() => etcdPut(other.endpoint, '/k', 'majority'), {
      what: 'majority write',
    });
    await network.heal();
    await cluster.waitHealthy();
    assert.equal(await cluster.get('/k'), 'majority');
    await cluster.stop();
  },
);

test(
  'removal leaves no namespace and no interface, and refuses while processes run',
  options,
  async () => {
    const network = await createNetwork({ hosts: { a: ['n'] } });
    assert.equal(mine().length, 2);
    assert.ok(networkInterfaces()[network.testDevice] !== undefined);
    const server = await startEchoServer(network.host('a'), 7780);
    await assert.rejects(network.remove(), /still holds processes/);
    await server.kill();
    await network.remove();
    assert.deepEqual(mine(), []);
    assert.equal(networkInterfaces()[network.testDevice], undefined);
  },
);

test(
  'namespaces of an owner that died with its reaper are swept at the next start',
  options,
  async () => {
    const netns = JSON.stringify(new URL('./netns.ts', import.meta.url).href);
    const owner = await startProcess({
      name: 'owner',
      command: process.execPath,
      args: [
        '--input-type=module',
        '-e',
        `const { createNetwork } = await import(${netns});
       const network = await createNetwork({ hosts: { lost: ['n'] } });
       const { readFileSync } = await import('node:fs');
       const child = readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').trim();
       console.log('reaper ' + child + ' ' + network.host('lost').namespace);
       process.stdin.resume();`,
      ],
    });
    const [, reaper, namespace = ''] = await owner.waitForLine(/^reaper (\d+) (\S+)$/);
    assert.ok(listNamespaces().includes(namespace));
    // The reaper first, so that nobody is left to clean up.
    process.kill(Number(reaper), 'SIGKILL');
    await owner.kill();
    assert.ok(listNamespaces().includes(namespace));
    const swept = await sweepAbandonedNamespaces();
    assert.ok(swept.includes(namespace));
    assert.equal(listNamespaces().includes(namespace), false);
  },
);

test('names and counts are checked before anything is created', options, async () => {
  const bad = ['UPPER', 'has space', '../up', ''];
  for (const name of bad) {
    await assert.rejects(createNetwork({ hosts: { [name]: ['n'] } }), /bad host or network name/);
  }
  const many = Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`h${i}`, ['n']]));
  await assert.rejects(createNetwork({ hosts: many }), /at most 200 hosts/);
  assert.deepEqual(mine(), []);
});

test('address blocks are disjoint and stay inside the benchmark range', () => {
  const seen = new Set<string>();
  for (let block = 0; block < 64; block += 1) {
    for (let network = 0; network < 8; network += 1) seen.add(blockAddress(block, network, 1));
  }
  assert.equal(seen.size, 512);
  assert.ok([...seen].every((address) => /^198\.1[89]\.\d{1,3}\.1$/.test(address)));
});
