// One coordinator after another over one ledger: elected, dead, deposed without noticing, or restored
// from an older copy of the ledger. At most one leads; the one before it may still answer.

import type { VirtualRuntime } from '@bigfleet/base';
import type { CoordinatorObserver, SagaRules } from '@bigfleet/coordinator';
import { MemoryDisk, MemoryStore } from '@bigfleet/coordinator/testing';
import type { Logger } from '@bigfleet/telemetry';
import { Leader, SEED_SETTINGS } from './leader.ts';
import { cooldownsOf, type PlantedFault } from './planted-fault.ts';
import { markRestored, registrationsIn, Snapshots } from './snapshots.ts';
import type { Tally } from './tally.ts';

export interface LeadershipsOptions {
  readonly time: VirtualRuntime;
  readonly log: Logger;
  readonly observer: CoordinatorObserver;
  readonly fault: PlantedFault | undefined;
  readonly tally: Tally;
  readonly rules: SagaRules;
  /** Its process is gone. */
  readonly onCrash: (replica: string) => void;
  readonly onElected: (leader: Leader) => void;
  /** Whether one of these shards remembers that one. */
  readonly isRemembered: (shardId: string, by: ReadonlySet<string>) => boolean;
  readonly supervise: (work: Promise<unknown>) => void;
}

export class Leaderships {
  readonly snapshots: Snapshots = new Snapshots();
  readonly #options: LeadershipsOptions;
  #disk = new MemoryDisk();
  #lastGeneration = 0;
  #leader: Leader | undefined;
  #zombie: Leader | undefined;

  constructor(options: LeadershipsOptions) {
    this.#options = options;
  }

  get leader(): Leader | undefined {
    return this.#leader;
  }

  get zombie(): Leader | undefined {
    return this.#zombie;
  }

  get disk(): MemoryDisk {
    return this.#disk;
  }

  async elect(): Promise<Leader> {
    const { time, log, observer, fault, tally, rules, onElected, supervise } = this.#options;
    this.#leader = undefined;
    tally.elections += 1;
    const name = `coordinator-${tally.elections}`;
    const runtime = time.runtimeFor(name);
    const store = new MemoryStore({ runtime, disk: this.#disk, nodeId: name });
    if (this.#disk.leader !== undefined) this.#disk.depose();
    await store.open();
    const leadership = await store.campaign(new AbortController().signal);
    const leader = await Leader.open({
      name,
      runtime,
      store,
      leadership,
      log,
      observer,
      settings: SEED_SETTINGS,
      cooldowns: cooldownsOf(fault),
      rules,
    });
    this.#leader = leader;
    onElected(leader);
    supervise(leader.desk.recoveryDriver.run(leader.ledger.lost));
    return leader;
  }

  /** Whoever leads, after an election if nobody does. */
  async current(): Promise<Leader> {
    return this.#leader?.isLost === false ? this.#leader : this.elect();
  }

  async crash(): Promise<void> {
    this.#kill();
    this.#options.tally.deaths += 1;
    await this.elect();
  }

  /** Its lease ended and it does not know: it goes on until it looks. */
  async deposeQuietly(): Promise<void> {
    const { leader } = this.#disk;
    if (leader !== undefined) this.#disk.lead({ ...leader, depose: () => {} });
    this.#disk.depose();
    this.#zombie = this.#leader;
    await this.elect();
  }

  /**
   * Twice per seed at most, into one data directory. The shards that the restored ledger does not know;
   * undefined: nothing to go to. What neither the ledger nor a shard in it remembers cannot be waited
   * for: there no restore is safe, and the operator guide says so.
   */
  async restore(disk: MemoryDisk | undefined): Promise<readonly string[] | undefined> {
    const { tally, isRemembered } = this.#options;
    if (disk === undefined || tally.restores > 1) return undefined;
    const now = registrationsIn(this.#disk);
    const then = registrationsIn(disk);
    const unknown = [...now.keys()].filter((id) => !then.has(id));
    const same = new Set([...then].filter(([id, uid]) => now.get(id) === uid).map(([id]) => id));
    if (
      !unknown.every((id) => isRemembered(id, same)) ||
      !markRestored(disk, this.#lastGeneration + 1)
    )
      return undefined;
    tally.restores += 1;
    this.#lastGeneration = disk.meta?.ledgerGeneration ?? 0;
    if ([...then].some(([id, uid]) => now.get(id) !== uid)) tally.restoredRemoved += 1;
    if (unknown.length > 0) tally.restoredUnknown += 1;
    this.#kill();
    this.#disk = disk;
    await this.elect();
    return unknown;
  }

  #kill(): void {
    if (this.#leader === undefined) return;
    this.#leader.store.crash();
    this.#options.onCrash(this.#leader.name);
  }
}
