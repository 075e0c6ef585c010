// Proves the membership rules without an etcd: who is added, refused or replaced when it asks to join,
// that a replica with data asks only the cluster of that data, and that a learner which never comes
// keeps the others out for minutes, not for ever.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError, createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import type { Member } from '@bigfleet/wire/etcd';
import { handleJoin } from './join-handler.ts';
import { promoteLearners, reconcileSelf } from './membership.ts';

function member(
  ID: bigint,
  name: string,
  more: { isLearner?: boolean; url?: string } = {},
): Member {
  const { isLearner = false, url = `http://${name || 'new'}:1` } = more;
  const $typeName = 'etcdserverpb.Member';
  return { $typeName, ID, name, peerURLs: [url], clientURLs: [], isLearner };
}

/** etcd's member list with its rule of one learner at a time. */
class MemberList {
  readonly members: Member[];
  #nextId = 100n;

  constructor(...members: Member[]) {
    this.members = members;
  }

  memberList = async (): Promise<Member[]> => [...this.members];

  memberAddLearner = async (url: string): Promise<Member> => {
    if (this.members.some(({ isLearner }) => isLearner)) {
      throw new BigFleetError('etcd_refused', 'too many learner members in cluster');
    }
    const added = member(this.#nextId++, '', { url, isLearner: true });
    this.members.push(added);
    return added;
  };

  memberRemove = async (id: bigint): Promise<void> => {
    this.members.splice(
      this.members.findIndex(({ ID }) => ID === id),
      1,
    );
  };

  memberUpdate = async (id: bigint, url: string): Promise<void> => {
    const known = this.members.find(({ ID }) => ID === id);
    if (known !== undefined) known.peerURLs = [url];
  };

  memberPromote = async (): Promise<void> => {
    throw new BigFleetError('etcd_refused', 'can only promote a learner member which is in sync');
  };
}

const limits = { deadlineMs: 1_000 };

const JOINS: readonly (readonly [
  name: string,
  nodeId: string,
  isFresh: boolean,
  outcome: 'member' | 'refused',
])[] = [
  ['a new replica with an empty disk', 'c-9', true, 'member'],
  ['a stranger with data of another cluster', 'c-9', false, 'refused'],
  ['a known replica with its data', 'c-1', false, 'member'],
  ['a known replica that lost its data', 'c-1', true, 'member'],
];

for (const [name, nodeId, isFresh, outcome] of JOINS) {
  test(`${name}: ${outcome}`, async () => {
    const client = new MemberList(member(1n, 'c-0'), member(2n, 'c-1'), member(3n, 'c-2'));
    const presentNodeIds = new Set(['c-0', 'c-2']);
    const request = { nodeId, peerUrl: 'http://other:1', isFresh };
    const result = await handleJoin({ client, presentNodeIds, limits }, request);
    assert.equal(result.kind, outcome);
    if (result.kind === 'refused') {
      assert.match(result.message, /c-9 is no member of this cluster and its data .* not empty/);
      assert.equal(client.members.length, 3);
    }
  });
}

function virtual(): VirtualRuntime {
  return createVirtualRuntime({ seed: 'membership', drain: drainMicrotasks });
}

const UIDS: readonly (readonly [own: string, theirs: string | undefined, isAsked: boolean])[] = [
  ['fleet-a', 'fleet-a', true],
  ['fleet-a', 'fleet-b', false],
  ['', 'fleet-b', true],
  ['fleet-a', undefined, true],
];

for (const [own, theirs, isAsked] of UIDS) {
  test(`data of ${own || 'nothing'}, ${theirs ?? 'nobody'} answers: asked ${isAsked}`, async () => {
    const time = virtual();
    const problems: unknown[] = [];
    let askedCount = 0;
    const stop = new AbortController();
    const running = reconcileSelf(
      {
        runtime: time.runtime,
        client: new MemberList(member(1n, 'c-0')),
        nodeId: 'c-1',
        peerUrl: 'http://c-1:1',
        port: {
          join: async () => {
            askedCount += 1;
            return { clusterUid: theirs ?? '', initialCluster: '', memberId: 0n };
          },
          clusterUid: async () => theirs,
        },
        observesLeader: async () => true,
        ownClusterUid: async () => own,
        onProblem: (_what, error) => problems.push(error),
      },
      stop.signal,
    );
    await time.runFor(1_000);
    assert.equal(askedCount, isAsked ? 1 : 0);
    const codes = problems.map((error) => error instanceof BigFleetError && error.code);
    assert.deepEqual(codes, isAsked ? [] : ['etcd_other_cluster']);
    stop.abort();
    await time.runFor(10_000);
    await running;
  });
}

const MINUTE_MS = 60_000;

const STALE: readonly (readonly [
  what: string,
  learner: Member,
  present: readonly string[],
  goneAfterMinutes: number | undefined,
])[] = [
  ['never started', member(9n, '', { isLearner: true }), [], 5],
  ['started and gone', member(9n, 'c-9', { isLearner: true }), [], 30],
  ['started and there, only slow', member(9n, 'c-9', { isLearner: true }), ['c-9'], undefined],
  ['a voter that is gone', member(9n, 'c-9'), [], undefined],
];

for (const [what, learner, present, goneAfterMinutes] of STALE) {
  test(`a learner, ${what}: dropped after ${goneAfterMinutes ?? 'no'} minutes`, async () => {
    const time = virtual();
    const client = new MemberList(member(1n, 'c-0'), learner);
    const stop = new AbortController();
    const running = promoteLearners(
      { runtime: time.runtime, client, presentNodeIds: async () => new Set(['c-0', ...present]) },
      stop.signal,
    );
    const isThere = (): boolean => client.members.includes(learner);
    await time.runFor(((goneAfterMinutes ?? 61) - 1) * MINUTE_MS);
    assert.ok(isThere());
    await time.runFor(2 * MINUTE_MS);
    assert.equal(isThere(), goneAfterMinutes === undefined);
    if (goneAfterMinutes === 5) {
      const request = { nodeId: 'c-2', peerUrl: 'http://c-2:1', isFresh: true };
      const joined = await handleJoin({ client, presentNodeIds: new Set(), limits }, request);
      assert.equal(joined.kind, 'member');
    }
    stop.abort();
    await time.runFor(10_000);
    await running;
  });
}
