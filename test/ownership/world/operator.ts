// The operator of the seeds, who moves zones between shards and removes shards: one now and then, and
// those that a recovery waits for once they are known to be gone for good (their process is stopped and
// their disk is empty). He is never wrong about that, except by a planted fault. A new shard of the same
// name begins with nothing.

import type { Random } from '@bigfleet/base';
import { assignDomain, removeShard, unassignDomain } from '@bigfleet/coordinator';
import type { Logger } from '@bigfleet/telemetry';
import type { FleetShard } from './fleet-shard.ts';
import type { Leader } from './leader.ts';
import { type MachinePark, ZONES } from './machine-park.ts';
import { pick } from './pick.ts';
import type { PlantedFault } from './planted-fault.ts';
import type { Tally } from './tally.ts';

/** A leader that has not answered by then is dead. */
const ANSWER_MS = 20_000;
const ZONE_KEY = 'topology.kubernetes.io/zone';

export interface OperatorOptions {
  readonly park: MachinePark;
  readonly tally: Tally;
  readonly fault: PlantedFault | undefined;
  readonly log: Logger;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

export class Operator {
  readonly #options: OperatorOptions;
  readonly #dead = new Set<string>();
  readonly #removing = new Set<string>();

  constructor(options: OperatorOptions) {
    this.#options = options;
  }

  /** Stopped for good, with its work; nothing of it is left on disk. */
  stop(shard: FleetShard): void {
    const { park } = this.#options;
    shard.wipe();
    this.#dead.add(shard.id);
    for (const id of park.ids) if (park.userOf(id) === shard.id) park.set(id, 'idle');
  }

  /** Nobody starts it meanwhile. */
  isRemoving({ id }: FleetShard): boolean {
    return this.#removing.has(id);
  }

  /** Another of its name takes its place. */
  replace({ id }: FleetShard): void {
    this.#dead.delete(id);
  }

  async remove(leader: Leader, shardId: string): Promise<void> {
    const { ledger, desk } = leader;
    const { now, sleep } = this.#options;
    const { soft, recovery } = desk;
    const onRemoved = (id: string): void => desk.forgetShard(id);
    this.#removing.add(shardId);
    try {
      const options = { ledger, soft, recovery, nowMs: now, onRemoved };
      await Promise.race([removeShard(options, shardId, true), sleep(ANSWER_MS)]);
    } finally {
      this.#removing.delete(shardId);
    }
  }

  /** A zone is given to a shard, or taken from the one that has it. */
  async moveZone(
    { ledger, desk }: Leader,
    random: Random,
    shardIds: readonly string[],
  ): Promise<void> {
    const { tally, sleep, log } = this.#options;
    const domain = { key: ZONE_KEY, value: pick(random, ZONES) };
    const shardId = pick(random, shardIds);
    const operations = { ledger, recovery: desk.recovery };
    const isTaken = ledger.state.domain(domain) !== undefined && random.below(2) === 0;
    const moving = isTaken
      ? unassignDomain(operations, domain)
      : assignDomain(operations, domain, shardId);
    const outcome = await Promise.race([moving, sleep(ANSWER_MS)]);
    log.debug('zone', {
      ...domain,
      shard: isTaken ? '' : shardId,
      outcome: outcome?.kind ?? 'lost',
    });
    if (outcome?.kind === 'done') tally.zoneMoves += 1;
  }

  /** What `doctor` would show him, and what he does about it. */
  async look(leader: Leader): Promise<void> {
    const { fault, tally } = this.#options;
    for (const { wait } of leader.desk.recovery.waits()) {
      if (wait.kind === 'dispute' || leader.isLost) continue;
      const mayRemove = this.#dead.has(wait.shardId) || fault === 'gives-up-the-living';
      if (!mayRemove) continue;
      tally.givenUp += 1;
      await this.remove(leader, wait.shardId);
    }
  }
}
