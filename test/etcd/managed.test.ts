// Proves of managed etcd, with real child processes: one cluster forms, a learner is promoted, a
// killed child is started again; and what the leader does with the member list for each kind of
// join, so that no join may cost the majority. Lost volumes: managed.long.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handleJoin } from '@bigfleet/coordinator/etcd';
import { eventually } from '../toolkit/index.ts';
import { ManagedReplicas, untilVoters } from './managed-replicas.ts';

test('ordinal 0 begins, ordinal 1 joins and is promoted, a killed child is started again', async () => {
  await using fleet = new ManagedReplicas();
  const [zero, one] = [await fleet.add('c-0'), await fleet.add('c-1')];
  await zero.start({ bootstrap: true });
  await eventually(() => zero.leadership !== undefined, { what: 'a leader' });
  await one.start({ bootstrap: true });
  await untilVoters(one, ['c-0', 'c-1']);
  const formations = [zero, one].map(({ events }) => events[0]);
  assert.deepEqual(formations, [
    { kind: 'formation', formation: 'bootstrap' },
    { kind: 'formation', formation: 'join' },
  ]);
  const [a, b] = await Promise.all([zero.store.status(), one.store.status()]);
  assert.equal(a.clusterUid, b.clusterUid);
  const pid = await one.etcdPid();
  process.kill(pid, 'SIGKILL');
  await eventually(
    async () => (await one.etcdPid()) !== pid && (await one.store.leader()) !== undefined,
    { what: 'c-1 back through its own member' },
  );
  assert.equal(one.events.filter(({ kind }) => kind === 'ended').length, 1);
});

type MemberCalls = Parameters<typeof handleJoin>[0]['client'];

/** The member list as a real etcd would give it, and what was asked of it. */
function membersOnly(list: readonly { name: string; url: string; isLearner?: boolean }[]): {
  client: MemberCalls;
  asked: string[];
} {
  const asked: string[] = [];
  const members = list.map(({ name, url, isLearner }, at) => ({
    $typeName: 'etcdserverpb.Member' as const,
    ID: BigInt(at + 1),
    name,
    peerURLs: [url],
    clientURLs: [] as string[],
    isLearner: isLearner ?? false,
  }));
  const client: MemberCalls = {
    memberList: () => Promise.resolve([...members]),
    memberAddLearner: (url) => {
      asked.push(`add ${url}`);
      const added = { ...memberTemplate, ID: 9n, peerURLs: [url], isLearner: true };
      members.push(added);
      return Promise.resolve(added);
    },
    memberUpdate: (id, url) => {
      asked.push(`update ${id} ${url}`);
      const found = members.find(({ ID }) => ID === id);
      if (found !== undefined) found.peerURLs = [url];
      return Promise.resolve();
    },
    memberRemove: (id) => {
      asked.push(`remove ${id}`);
      members.splice(
        members.findIndex(({ ID }) => ID === id),
        1,
      );
      return Promise.resolve();
    },
  };
  return { client, asked };
}

const memberTemplate = {
  $typeName: 'etcdserverpb.Member' as const,
  name: '',
  clientURLs: [] as string[],
};
const abc = ['a', 'b', 'c'].map((name) => ({ name, url: `http://${name}:1` }));

interface JoinCase {
  readonly name: string;
  readonly present: readonly string[];
  readonly request: { nodeId: string; peerUrl: string; isFresh: boolean };
  readonly list?: typeof abc;
  readonly asked: readonly string[];
  readonly answer: RegExp;
}

const cases: readonly JoinCase[] = [
  {
    name: 'a newcomer is added as a learner',
    present: ['a', 'b', 'c'],
    request: { nodeId: 'd', peerUrl: 'http://d:1', isFresh: true },
    asked: ['add http://d:1'],
    answer: /^a=http:\/\/a:1,b=http:\/\/b:1,c=http:\/\/c:1,d=http:\/\/d:1$/,
  },
  {
    name: 'a member that is there needs nothing',
    present: [],
    request: { nodeId: 'b', peerUrl: 'http://b:1', isFresh: false },
    asked: [],
    answer: /b=http:\/\/b:1/,
  },
  {
    name: 'a member at a new address is updated',
    present: [],
    request: { nodeId: 'b', peerUrl: 'http://moved:1', isFresh: false },
    asked: ['update 2 http://moved:1'],
    answer: /b=http:\/\/moved:1/,
  },
  {
    name: 'a member without its data is replaced when the others are a majority',
    present: ['a', 'c'],
    request: { nodeId: 'b', peerUrl: 'http://b:1', isFresh: true },
    asked: ['remove 2', 'add http://b:1'],
    answer: /^a=http:\/\/a:1,c=http:\/\/c:1,b=http:\/\/b:1$/,
  },
  {
    name: 'and is refused when they are not',
    present: ['a', 'b'],
    request: { nodeId: 'b', peerUrl: 'http://b:1', isFresh: true },
    asked: [],
    answer: /would leave 1 healthy of 2 voting members, and 2 are needed/,
  },
  {
    name: 'a learner that was added and never started is not added twice',
    present: ['a'],
    list: [...abc.slice(0, 1), { name: '', url: 'http://b:1' }],
    request: { nodeId: 'b', peerUrl: 'http://b:1', isFresh: true },
    asked: [],
    answer: /^a=http:\/\/a:1,b=http:\/\/b:1$/,
  },
];

for (const { name, present, request, list, asked: expected, answer } of cases) {
  test(`joining: ${name}`, async () => {
    const { client, asked } = membersOnly(list ?? abc);
    const context = { client, presentNodeIds: new Set(present), limits: { deadlineMs: 1_000 } };
    const result = await handleJoin(context, request);
    assert.deepEqual(asked, expected);
    assert.match(result.kind === 'member' ? result.initialCluster : result.message, answer);
  });
}
