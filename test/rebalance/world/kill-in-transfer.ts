// One kill in the middle of a transfer, and what must come of it: the shortage is relieved all the
// same, and the transfer is finished.

import { TransferRecordPhase } from '@bigfleet/wire';
import type { RebalanceWorld, Side, Victim } from './rebalance-world.ts';
import { want } from './workload.ts';

const LOOK_MS = 20;

export interface KillPlan {
  readonly victim: Victim;
  readonly instanceType: string;
  readonly to: Side;
  /** The transfer is so far when the kill comes. */
  readonly phase?: TransferRecordPhase;
  readonly podCount?: number;
}

export async function killInTransfer(world: RebalanceWorld, plan: KillPlan): Promise<void> {
  const { victim, instanceType, to, podCount = 2 } = plan;
  const { phase = TransferRecordPhase.PREPARING } = plan;
  const before = new Set((await world.transfers()).map(({ transferId }) => transferId));
  want(world.clusters[to].cluster, { instanceType, podCount });
  await world.until(
    `a transfer of ${instanceType} is under way`,
    async () => {
      const fresh = (await world.transfers()).filter(({ transferId }) => !before.has(transferId));
      return fresh.some((transfer) => transfer.phase >= phase);
    },
    { everyMs: LOOK_MS },
  );
  await world.kill(victim);
  await world.start(victim);
  await world.until(
    `${instanceType} serves ${to}`,
    () => world.configured(to, instanceType).length === podCount,
  );
  await world.until('every transfer is closed', async () =>
    (await world.transfers()).every(
      (each) =>
        each.phase === TransferRecordPhase.DONE || each.phase === TransferRecordPhase.ABORTED,
    ),
  );
}
