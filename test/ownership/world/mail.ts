// What travels between model shards and whoever leads: lost, late, doubled, or to a leader of the past.
// A shard that is cut off acts on as before and reaches nobody. Real shards have a network of their own
// (coordinator-net.ts); what a leader does after each report is the same for both.

import type { Random } from '@bigfleet/base';
import type { ReportAck, ShardReport } from '@bigfleet/wire';
import type { Judge } from './judge.ts';
import type { Leader } from './leader.ts';
import type { Leaderships } from './leaderships.ts';
import type { Tally } from './tally.ts';

const REPLY_DEADLINE_MS = 5_000;

export interface MailOptions {
  readonly random: Random;
  readonly tally: Tally;
  readonly judge: () => Judge;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly supervise: (work: Promise<unknown>) => void;
  readonly leaderships: () => Leaderships;
}

export class Mail {
  isCalm = true;
  readonly #options: MailOptions;
  readonly #cutOffUntil = new Map<string, number>();

  constructor(options: MailOptions) {
    this.#options = options;
  }

  cutOff(shardId: string, untilMs: number): void {
    this.#cutOffUntil.set(shardId, untilMs);
  }

  reconnect(): void {
    this.#cutOffUntil.clear();
  }

  isCutOff(shardId: string): boolean {
    return this.#options.now() < (this.#cutOffUntil.get(shardId) ?? 0);
  }

  /** Over the network, whose accidents are its own. */
  async answer(leader: Leader, report: ShardReport): Promise<ReportAck | undefined> {
    const reply = await this.#ask(leader, report);
    this.#options.supervise(this.#drive(leader));
    return reply;
  }

  /** Undefined: lost on the way, refused, or too late. */
  async call(report: ShardReport): Promise<ReportAck | undefined> {
    const { random, sleep, supervise } = this.#options;
    const { zombie, leader } = this.#options.leaderships();
    const target = zombie !== undefined && random.below(3) === 0 ? zombie : leader;
    await sleep(this.isCalm ? 10 : random.below(3_000));
    if (target === undefined || this.#isLost(report.shardId)) return undefined;
    if (!this.isCalm && random.below(10) === 0) supervise(target.handle(report));
    const reply = await Promise.race([
      this.#ask(target, report),
      sleep(REPLY_DEADLINE_MS).then(() => undefined),
    ]);
    supervise(this.#drive(target));
    await sleep(this.isCalm ? 10 : random.below(4_000));
    return this.#isLost(report.shardId) ? undefined : reply;
  }

  /** A leader that fails gives no reply; one with a bug ends the seed, which `supervise` sees to. */
  #ask(leader: Leader, report: ShardReport): Promise<ReportAck | undefined> {
    const work = leader.handle(report);
    this.#options.supervise(work);
    return work.catch(() => undefined);
  }

  /** The ledger of whoever leads, as the laws see it. */
  look(leader: Leader): void {
    const { judge, now, leaderships } = this.#options;
    if (leader.isLost || leader !== leaderships().leader) return;
    judge().looksAtLedger(leader.ledger.state, leader.ledger.term, now());
  }

  async #drive(leader: Leader): Promise<void> {
    const { random, sleep } = this.#options;
    await sleep(random.below(1_500));
    await leader.drive();
    this.look(leader);
  }

  #isLost(shardId: string): boolean {
    const { random, tally } = this.#options;
    const isLost = this.isCutOff(shardId) || (!this.isCalm && random.below(10) === 0);
    if (isLost) tally.lostMessages += 1;
    return isLost;
  }
}
