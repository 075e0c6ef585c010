// Who votes in an etcd cluster, as one of its members says over the JSON gateway.

import assert from 'node:assert/strict';
import { eventually } from '../toolkit/index.ts';
import { gateway } from './gateway.ts';
import type { ManagedReplica } from './managed-replicas.ts';

export interface Voters {
  readonly names: readonly string[];
  readonly ids: ReadonlyMap<string, string>;
}

async function voters(replica: ManagedReplica): Promise<Voters> {
  const { members } = await gateway({ url: replica.clientUrl }, 'cluster/member/list', {});
  assert.ok(Array.isArray(members));
  const all = members as { name?: string; ID: string; isLearner?: boolean }[];
  const voting = all.filter(({ isLearner }) => isLearner !== true);
  return {
    names: voting.map(({ name }) => name ?? '').sort(),
    ids: new Map(voting.map(({ name, ID }) => [name ?? '', ID])),
  };
}

export function untilVoters(replica: ManagedReplica, names: readonly string[]): Promise<Voters> {
  return eventually(
    async () => {
      const seen = await voters(replica);
      return seen.names.join() === names.join() ? seen : undefined;
    },
    { what: `voters ${names.join()}` },
  );
}
