// Records failover of a ledger of 120,000 rows: how long after a SIGKILL or a SIGTERM of the leader
// until another serves a write, and how much of it the loading of the state is. Every law of a drill
// holds (no stale read, no lost write, no shard stands still), and the new leader has every row.

import { test } from 'node:test';
import { eventually, monotonicMs } from '../../toolkit/index.ts';
import { stopLeader } from './drills/hand-over.ts';
import { killLeader } from './drills/kill.ts';
import { assertLarge, enlargeLedger, LARGE_ROWS, stateLoadMs } from './large-ledger.ts';
import { longBoxMs, repeated } from './repeated.ts';
import { DEFAULT_TTL_MS, FailoverStage } from './stage.ts';

test(`failover of ${LARGE_ROWS} rows`, async (t) => {
  await using stage = await FailoverStage.start({ leaseTtlMs: DEFAULT_TTL_MS });
  const startedAtMs = monotonicMs();
  await enlargeLedger(stage);
  const filledMs = Math.round(monotonicMs() - startedAtMs);
  t.diagnostic(JSON.stringify({ rows: LARGE_ROWS, filledMs, backend: stage.partitions.backend }));
  const box = { withinMs: longBoxMs(0.4) };
  const measured = async <Sample>(drill: () => Promise<Sample>) => {
    const sample = await drill();
    // Asked again where the leadership changes between two questions.
    const loadMs = await eventually(
      async () => {
        await assertLarge((await stage.leader()).replica);
        return stateLoadMs(stage);
      },
      { what: 'a leader with every row' },
    );
    return { ...sample, loadMs };
  };
  await repeated(t, 'kill-large', 10, () => measured(() => killLeader(stage)), box);
  await repeated(t, 'hand-over-large', 5, () => measured(() => stopLeader(stage)), box);
  stage.noteCycles(t);
  stage.assertAssignmentsFlowed();
});
