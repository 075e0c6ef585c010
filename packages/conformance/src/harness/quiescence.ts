// Waiting until a provider rests, before a cursor is anchored: leftovers of an earlier check that
// settle afterwards would look like changes that nobody made.

import { type CheckContext, CheckFailed } from './check.ts';
import type { Inventory } from './endpoint.ts';
import { fullList, sameBytes } from './inventory.ts';
import { isTransitional } from './machine.ts';
import { pause, scaled, SETTLE_MS } from './wait.ts';

const REST_MS = 200;

/** The inventory at rest: nothing in transition and two equal revisions 200 ms apart. */
export async function quiescence(context: CheckContext): Promise<Inventory> {
  const { clock } = context.runtime;
  const endMs = clock.monotonicMs() + scaled(context, 2 * SETTLE_MS);
  let last: Inventory | undefined;
  for (;;) {
    const current = await fullList(context);
    const moving = current.machines.find(({ state }) => isTransitional(state));
    const isSame = last !== undefined && sameBytes(last.revision, current.revision);
    if (moving === undefined && isSame) return current;
    if (clock.monotonicMs() >= endMs) {
      throw new CheckFailed(
        moving === undefined
          ? 'the revision keeps changing although no call was made and no machine is in transition'
          : `${moving.id} does not leave ${moving.state}`,
      );
    }
    last = moving === undefined ? current : undefined;
    await pause(context, REST_MS);
  }
}
