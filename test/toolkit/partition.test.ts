// Proves, on both means, that a partition is silent in the directions asked for and only there:
// no error, no close, other pairs and networks unharmed, and that healing delivers what was held
// back. Also that the lesser means is announced.

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startEchoClient, startEchoServer } from './partition-cases.ts';
import { createPartitions, type PartitionBackend, type Partitions } from './partition.ts';
import { netnsSupport } from './netns-support.ts';
import { leasePort } from './ports.ts';
import type { RunningProcess } from './process.ts';
import { sleep } from './real-time.ts';

/** Long enough for a loopback echo to arrive many times over, were it not cut. */
const SILENCE_MS = 300;
const HOSTS = { a: ['control', 'data'], b: ['control'], c: ['data'] };

const support = await netnsSupport();
const skip = { netns: support.ok ? false : support.reason, proxy: false } as const;

interface Pair {
  readonly partitions: Partitions;
  readonly server: RunningProcess;
  readonly client: RunningProcess;
}

/** An echo server on `a` and a connected client on b. */
async function connectedPair(t: TestContext, backend: PartitionBackend): Promise<Pair> {
  const partitions = await createPartitions({ hosts: HOSTS, backend, say: () => {} });
  const lease = await leasePort();
  const server = await startEchoServer(partitions.place('a'), lease.port);
  const client = await startEchoClient(
    partitions.place('b'),
    await partitions.dial('b', 'a', lease.port),
  );
  t.after(async () => {
    await client.kill();
    await server.kill();
    await partitions.remove();
    await lease.release();
  });
  client.write('open\n');
  await client.waitForLine(/^connected/);
  await expectEcho(client, 'hello');
  return { partitions, server, client };
}

async function expectEcho(client: RunningProcess, word: string): Promise<void> {
  client.write(`${word}\n`);
  await client.waitForLine(new RegExp(`^echo .*${word}`));
}

/** Sends a word and sees that neither an answer nor an error comes. */
async function expectSilence(client: RunningProcess, word: string): Promise<void> {
  const before = client.output.text();
  client.write(`${word}\n`);
  await sleep(SILENCE_MS);
  assert.equal(client.output.text(), before);
}

for (const backend of ['netns', 'proxy'] as const) {
  test(`${backend}: an isolated host is silent, then gets what was held back`, {
    skip: skip[backend],
  }, async (t) => {
    const { partitions, client } = await connectedPair(t, backend);
    assert.equal(partitions.backend, backend);
    await partitions.isolate('a');
    await expectSilence(client, 'held');
    await partitions.rejoin('a');
    await client.waitForLine(/^echo .*held/);
    assert.doesNotMatch(client.output.text(), /error|end/);
  });

  test(`${backend}: cutting one network leaves the other alone`, {
    skip: skip[backend],
  }, async (t) => {
    const { partitions, client } = await connectedPair(t, backend);
    await partitions.isolate('a', 'data');
    await expectEcho(client, 'still');
    await partitions.isolate('a', 'control');
    await expectSilence(client, 'now');
    await partitions.heal();
    await client.waitForLine(/^echo .*now/);
  });

  test(`${backend}: a one-way drop loses exactly that direction`, {
    skip: skip[backend],
  }, async (t) => {
    const { partitions, server, client } = await connectedPair(t, backend);
    await partitions.drop('c', 'a');
    await expectEcho(client, 'unrelated');
    await partitions.drop('a', 'b');
    await expectSilence(client, 'lost-answer');
    await partitions.restore('a', 'b');
    await client.waitForLine(/^echo .*lost-answer/);
    await partitions.drop('b', 'a');
    await expectSilence(client, 'lost-question');
    // A second connection attempt never reaches the server.
    client.write('open\n');
    await sleep(SILENCE_MS);
    assert.equal(server.output.text().match(/accepted/g)?.length, 1);
    await partitions.heal();
    await client.waitForLine(/^echo .*lost-question/);
  });
}

test('netns: a connection attempt into a partition hangs; nobody resets or refuses it', {
  skip: skip.netns,
}, async (t) => {
  const { partitions, client } = await connectedPair(t, 'netns');
  await partitions.isolate('b');
  await expectSilence(client, 'open');
  await partitions.heal();
  await client.waitForLine(/^connected/);
});

test('hosts without a common network cannot dial each other', { skip: skip.netns }, async () => {
  for (const backend of ['netns', 'proxy'] as const) {
    await using partitions = await createPartitions({ hosts: HOSTS, backend, say: () => {} });
    await assert.rejects(partitions.dial('b', 'c', 1), /share no network/);
    assert.throws(() => partitions.address('nobody'), /no host nobody/);
    assert.throws(() => partitions.address('b', 'data'), /no leg in data/);
  }
});

test('proxies are announced in one line, namespaces are preferred when allowed', async () => {
  const said: string[] = [];
  const say = (line: string): number => said.push(line);
  await using forced = await createPartitions({ hosts: HOSTS, backend: 'proxy', say });
  assert.equal(forced.backend, 'proxy');
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', /TCP fault proxies, not network namespaces: /);
  await using chosen = await createPartitions({ hosts: HOSTS, say });
  assert.equal(chosen.backend, support.ok ? 'netns' : 'proxy');
  assert.equal(said.length, support.ok ? 1 : 2);
});
