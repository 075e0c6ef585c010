// What one pass may still do, and what it has already promised: one open transfer per shard and
// role, a number of moves, a number of victims, and no second move on a flow (coordinator §9.7).

import type { FleetView } from '../state/fleet-view.ts';
import { type Flow, meets } from '../moves/flow.ts';
import type { Move } from '../moves/plan.ts';

/** Fleet-wide, per pass. */
const MAX_VICTIMS_PER_PASS = 5;

export class PassBudget {
  readonly #givers = new Set<string>();
  readonly #takers = new Set<string>();
  readonly #flows: Flow[] = [];
  #movesLeft: number;
  #victimsLeft: number = MAX_VICTIMS_PER_PASS;

  constructor(state: FleetView, maxMoves: number) {
    this.#movesLeft = maxMoves;
    for (const transfer of state.openTransfers()) {
      this.#givers.add(transfer.from);
      this.#takers.add(transfer.to);
    }
  }

  get movesLeft(): number {
    return this.#movesLeft;
  }

  get victimsLeft(): number {
    return this.#victimsLeft;
  }

  isGiving(shardId: string): boolean {
    return this.#givers.has(shardId);
  }

  isTaking(shardId: string): boolean {
    return this.#takers.has(shardId);
  }

  isUsed(flow: Flow): boolean {
    return this.#flows.some((used) => meets(used, flow));
  }

  spend(move: Move, flow: Flow): void {
    this.#movesLeft -= 1;
    this.#flows.push(flow);
    this.#takers.add(move.to);
    if (move.tier === 3) this.#victimsLeft -= move.selector.count;
    else this.#givers.add(move.from);
  }
}
