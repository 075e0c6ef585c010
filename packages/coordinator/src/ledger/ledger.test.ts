// Proves that a command waits no longer than its caller: one that comes to its turn after the caller's
// deadline is not written, a closer deadline of the command itself wins, and a call without a deadline
// has the ledger's own.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withDeadline } from '@bigfleet/base';
import { callerLedger } from './ledger.ts';
import { ReportWorld } from '../desk/testing/report-world.ts';

const rebind = { kind: 'BindCluster', cluster: 'c', shard: 'a', force: false } as const;

async function world(): Promise<ReportWorld> {
  const made = await ReportWorld.open();
  await made.apply({ kind: 'AddShard', id: 'a', address: 'a:1', registeredAtMs: 0 });
  return made;
}

interface Case {
  readonly name: string;
  /** Of the call; undefined = none. */
  readonly callMs: number | undefined;
  readonly commandMs?: number;
  readonly isWritten: boolean;
}

const CASES: readonly Case[] = [
  { name: 'the caller waits', callMs: 60_000, isWritten: true },
  { name: 'the caller has given up', callMs: 0, isWritten: false },
  { name: 'the command is in more of a hurry', callMs: 60_000, commandMs: 0, isWritten: false },
  { name: 'the caller names no deadline', callMs: undefined, isWritten: true },
];

for (const { name, callMs, commandMs, isWritten } of CASES) {
  test(name, async () => {
    const made = await world();
    const { ledger } = made;
    const { runtime } = made.time;
    const nowMs = runtime.clock.monotonicMs();
    const call = callMs === undefined ? undefined : withDeadline(runtime, callMs);
    const bounded = callerLedger(ledger, call?.signal);
    const own = commandMs === undefined ? {} : { deadlineMs: nowMs + commandMs };
    const result = await made.run(bounded.apply(rebind, own));
    call?.dispose();
    assert.equal(result.kind, isWritten ? 'applied' : 'unavailable');
    assert.equal(ledger.state.cluster('c') !== undefined, isWritten);
    assert.equal(bounded.state, ledger.state);
  });
}
