// How a leader answers the operations of a history: the production ledger (apply queue over an
// engine), and for everything that is read from memory the confirmation that coordinator §3.3 demands.

import type { ApplyResult, CommandBody, Ledger } from '@bigfleet/coordinator';
import type { Operation, Outcome } from './model.ts';

export const shardIds: readonly string[] = ['s-a', 's-b', 's-c'];

/** Commands that must have been applied before a history starts; repeating them is harmless. */
export async function prepare(ledger: Ledger): Promise<void> {
  for (const id of shardIds) {
    await ledger.apply({ kind: 'AddShard', id, address: `${id}:1`, registeredAtMs: 1 });
  }
}

export async function serve(
  ledger: Ledger,
  register: string,
  operation: Operation,
): Promise<Outcome> {
  if (operation.kind === 'read') {
    const shard = ledger.state.cluster(register)?.shardId ?? null;
    return (await ledger.confirm()) === 'leading' ? { kind: 'value', shard } : { kind: 'none' };
  }
  return outcomeOf(ledger, await ledger.apply(bodyOf(register, operation)));
}

function bodyOf(cluster: string, operation: Exclude<Operation, { kind: 'read' }>): CommandBody {
  switch (operation.kind) {
    case 'unbind':
      return { kind: 'UnbindCluster', cluster };
    case 'bind':
    case 'force': {
      const force = operation.kind === 'force';
      return { kind: 'BindCluster', cluster, shard: operation.shard, force };
    }
  }
}

async function outcomeOf(ledger: Ledger, result: ApplyResult): Promise<Outcome> {
  switch (result.kind) {
    case 'applied':
      return { kind: 'ok' };
    case 'unchanged':
    case 'refused': {
      // Read from memory: a deposed leader's memory proves nothing.
      if ((await ledger.confirm()) !== 'leading') return { kind: 'none' };
      return { kind: result.kind === 'unchanged' ? 'ok' : 'refused' };
    }
    case 'unavailable':
      return { kind: result.outcome === 'unknown' ? 'unknown' : 'none' };
    case 'not-leader':
    case 'busy':
      return { kind: 'none' };
  }
}
