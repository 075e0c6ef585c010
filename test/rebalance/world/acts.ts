// Every mutating call that the provider was sent, in order, with the shard that sent it; and the law
// of it: the shard that acts on a machine changes only with a transfer of that machine, in that
// direction. Calls that the provider refused count too: whoever sends one believes to be the owner.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';

export interface Act {
  readonly kind: string;
  readonly machineId: string;
  readonly shardId: string;
}

export interface Handover {
  readonly from: string;
  readonly to: string;
  readonly machineIds: readonly string[];
}

export function appendAct(file: string, { kind, machineId, shardId }: Act): void {
  appendFileSync(file, `${kind} ${machineId} ${shardId}\n`);
}

export function readActs(file: string): readonly Act[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const [kind = '', machineId = '', shardId = ''] = line.split(' ');
    return { kind, machineId, shardId };
  });
}

/**
 * Acts of a shard that could not own the machine; none is the good answer. `handovers` are the
 * transfers that committed, oldest first. A machine that was moved on without being touched passes
 * several of them between two acts.
 */
export function foreignActs(
  acts: readonly Act[],
  handovers: readonly Handover[],
): readonly string[] {
  const paths = new Map<string, Handover[]>();
  for (const handover of handovers) {
    for (const id of handover.machineIds) paths.set(id, [...(paths.get(id) ?? []), handover]);
  }
  const owners = new Map<string, string>();
  const foreign: string[] = [];
  for (const { kind, machineId, shardId } of acts) {
    const path = paths.get(machineId) ?? [];
    const first = path[0]?.from ?? shardId;
    let owner = owners.get(machineId) ?? first;
    while (owner !== shardId && path[0]?.from === owner) owner = path.shift()?.to ?? owner;
    if (owner !== shardId) foreign.push(`${kind} of ${machineId} by ${shardId}, owned by ${owner}`);
    owners.set(machineId, owner);
  }
  return foreign;
}
