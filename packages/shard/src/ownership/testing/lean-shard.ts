// What of a shard is about ownership, and nothing else: the production store, book, rules, keeper,
// orders and reports over a production fleet and its Lists, without engine, sessions and execution.
// Who holds it decides what the machines do, and asks `fleet.mayAct` first as an executor would.
// For model checks that need thousands of shards; a whole one is in owned-shard.ts.

import { assert, type Runtime } from '@bigfleet/base';
import { decodeShardMetadata, type Shortfall } from '@bigfleet/engine';
import type { Logger, MetricRegistry } from '@bigfleet/telemetry';
import { machineOfNewReport } from '../../execute/adopt.ts';
import type { ActionOrder } from '../../execute/execution.ts';
import { Fleet } from '../../fleet/fleet.ts';
import { ProviderRounds } from '../../provider/provider-rounds.ts';
import { ProviderSet } from '../../provider/provider-set.ts';
import { ProviderSource } from '../../provider/provider-source.ts';
import type { ReportedMachine } from '../../provider/provider.ts';
import { Control } from '../control.ts';
import { openOwnership, type OpenOwnership, type OwnershipOptions } from '../open-ownership.ts';
import { openOwnershipStore, type OwnershipStore } from '../ownership-store.ts';
import { ProviderDirectory } from '../provider-directory.ts';
import { ListedProvider } from './listed-provider.ts';

export type { OwnershipStore, ReportedMachine };

export interface LeanShardOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
  readonly shardId: string;
  readonly epoch: bigint;
  readonly files: OwnershipOptions['files'];
  /** The only one, shared by flag. */
  readonly provider: { readonly name: string; readonly address: string };
  /** What the provider lists, as of now. */
  readonly machines: () => readonly ReportedMachine[];
  /** An action that ownership itself asks for; false: not taken. */
  readonly offer: (order: ActionOrder) => boolean;
  readonly supervise: (work: Promise<void>) => void;
}

export class LeanShard {
  readonly control: Control;
  readonly fleet: Fleet;
  readonly store: OwnershipStore;
  readonly #options: LeanShardOptions;
  readonly #rounds: ProviderRounds;
  #cycleCount = 0;

  static async open(options: LeanShardOptions): Promise<LeanShard> {
    const { logger, registry, files, provider, machines } = options;
    const source = new ProviderSource({
      name: provider.name,
      provider: new ListedProvider(machines),
    });
    const providers = new ProviderSet([source]);
    const made: { fleet: Fleet | undefined } = { fleet: undefined };
    const ownership = await openOwnership(
      {
        files,
        directory: directoryOf(provider),
        isSharedByFlag: true,
        connect: undefined,
        connected: [],
      },
      { providers, logger, registry, fleet: () => made.fleet as Fleet },
    );
    const shard = new LeanShard(options, ownership, providers);
    made.fleet = shard.fleet;
    return shard;
  }

  private constructor(options: LeanShardOptions, ownership: OpenOwnership, providers: ProviderSet) {
    const { runtime } = options;
    this.#options = options;
    this.store = ownership.store;
    const nothing = (): void => {};
    this.fleet = new Fleet({
      feed: { put: nothing, remove: nothing, move: nothing, withhold: nothing },
      clock: runtime.clock,
      onNodeChange: nothing,
      gate: ownership.keeper,
    });
    this.#rounds = new ProviderRounds({
      runtime,
      providers,
      isPatient: () => true,
      onLate: nothing,
      onRefreshed: nothing,
    });
    this.control = new Control({
      ...options,
      ...ownership,
      providers,
      core: this.#core(),
      host: { priorities: async (ids) => ids.map((id) => this.#priorityOf(id)) },
      actuation: { effective: { paused: false, dryRun: false } },
      demand: { clusters: () => [] },
      operators: { sessions: { all: () => [] } },
      supervise: (_, work) => options.supervise(work),
    });
  }

  /** Lists the provider, and lets ownership look at what is there and what is short. */
  async cycle(shortfalls: ReadonlyMap<string, Shortfall>): Promise<void> {
    const { fleet } = this;
    this.#cycleCount += 1;
    const refreshes = await this.#rounds.next({
      known: fleet.known,
      nowMs: fleet.nowMs(),
      readAssignment: decodeShardMetadata,
      apply: (batch) => fleet.apply(batch),
      takeWrites: (provider) => fleet.takeWrites(provider),
    });
    this.control.cycled({ answer: { shortfalls }, refreshes });
  }

  /** One machine as it is now, as the answer to an action would say. */
  observe(reported: ReportedMachine): void {
    const machine = machineOfNewReport(reported, this.#options.provider.name);
    assert(machine.ok, 'a machine of the test is refused', { id: reported.id });
    this.fleet.observe(machine.value);
  }

  #core(): ConstructorParameters<typeof Control>[0]['core'] {
    const { fleet } = this;
    const { offer } = this.#options;
    const cycleCount = (): number => this.#cycleCount;
    return {
      fleet,
      isFenced: false,
      get cycleCount() {
        return cycleCount();
      },
      wake: () => {},
      offer,
    };
  }

  #priorityOf(machineId: string): number {
    const slot = this.fleet.inventory.slotOf(machineId);
    return slot < 0 ? Number.POSITIVE_INFINITY : this.fleet.read(slot).assigned.priority;
  }
}

/** What a process that is started on these files would own. */
export function openLeanStore(
  options: Pick<LeanShardOptions, 'files' | 'provider'>,
): Promise<OwnershipStore> {
  const { files, provider } = options;
  return openOwnershipStore({ files, directory: directoryOf(provider) });
}

function directoryOf({ name, address }: LeanShardOptions['provider']): ProviderDirectory {
  const isShared = true;
  return new ProviderDirectory([
    [name, { address, source: 'flag', isShared, region: '', isRetiring: false }],
  ]);
}
