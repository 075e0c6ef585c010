// A shard of production parts: the coordinator client over the in-memory transport, and everything
// about ownership over files that a death can cut at any write. Its demand is "so many machines",
// and its actions are one line in the park, each behind the question that an executor asks last.

import { PINNED_BUCKET, type Runtime, sleep, ZERO_BUCKET } from '@bigfleet/base';
import { type CoordClient, type Endpoint, startCoordClient } from '@bigfleet/coordclient';
import { ActionKind, createProfile, type Shortfall, State } from '@bigfleet/engine';
import type { DurableFile } from '@bigfleet/shard';
import { LeanShard, openLeanStore, type OwnershipStore } from '@bigfleet/shard/testing/lean-shard';
import { createRegistry, type Logger } from '@bigfleet/telemetry';
import type { MemoryNetwork } from '@bigfleet/wire/memory';
import {
  type FleetShard,
  PROVIDER,
  PROVIDER_ADDRESS,
  REPORT_MS,
  SEED_CYCLES_PER_REPORT,
  type TransferStep,
} from './fleet-shard.ts';
import { CPU_PER_MACHINE, type MachinePark } from './machine-park.ts';
import { listedMachine, listedMachines } from './park-list.ts';

const SHORT_OF = createProfile({
  requirements: [],
  spread: [],
  priority: 100,
  interruptionBucket: PINNED_BUCKET,
  reclamationBucket: ZERO_BUCKET,
});
const PLACE = { name: PROVIDER, address: PROVIDER_ADDRESS } as const;

export interface RealShardOptions {
  readonly id: string;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly park: MachinePark;
  readonly network: MemoryNetwork;
  /** Replicas that may lead, as of now. */
  readonly coordinators: () => readonly string[];
  /** Writes reach the disk only with the next one: an fsync that lies. */
  readonly hasLyingDisk: boolean;
  /** Asked before and after every write. */
  readonly dies: () => boolean;
  readonly onChanged: () => void;
  readonly onStep: (step: TransferStep) => void;
  readonly onDeath: () => void;
  readonly supervise: (work: Promise<unknown>) => void;
}

export class RealShard implements FleetShard {
  readonly id: string;
  demand = 0;
  isQuotaBound = false;
  readonly #options: RealShardOptions;
  readonly #disk = new Map<string, string>();
  readonly #unwritten = new Map<string, string>();
  /** Counts processes; what belongs to an earlier one has no effect any more. */
  #life = 0;
  #isUp = false;
  #shard: LeanShard | undefined;
  #client: CoordClient | undefined;
  /** Of the process, or of the disk that the next one finds. */
  #store: OwnershipStore | undefined;
  #steps = new Map<string, TransferStep>();
  #ageCycles = 0;

  constructor(options: RealShardOptions) {
    this.id = options.id;
    this.#options = options;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  get slice(): number | undefined {
    return this.#store?.assignment.quotas.find(({ provider }) => provider === PROVIDER)?.slice;
  }

  get known(): ReadonlySet<string> {
    const foreign = this.#store?.assignment.foreignDomains ?? [];
    return new Set(foreign.map(({ shardId }) => shardId));
  }

  get frozenFor(): readonly string[] {
    const records = [...(this.#store?.book.records.values() ?? [])];
    return records.filter(({ state }) => state === 'frozen').map(({ transferId }) => transferId);
  }

  mayAct(machineId: string): boolean {
    const { instanceType, zone, labels, capacityType } = listedMachine(
      this.#options.park,
      machineId,
    );
    if (this.#store === undefined || capacityType === 0) return false;
    const machine = { id: machineId, provider: PROVIDER, instanceType, zone, labels, capacityType };
    const ownership = this.#store.rules.of(machine);
    // What runs in a domain that it gives up is its own, and enters again when it restarts.
    const isBusy = this.#options.park.stateOf(machineId) === 'busy';
    return ownership === 'mine' || (ownership === 'releasing' && isBusy);
  }

  idle(): readonly string[] {
    const { park } = this.#options;
    return park.ids.filter((id) => park.stateOf(id) === 'idle' && this.mayAct(id));
  }

  async start(): Promise<void> {
    const { runtime, logger, park, supervise } = this.#options;
    this.#life += 1;
    const life = this.#life;
    this.#isUp = true;
    this.#ageCycles = 0;
    const registry = createRegistry();
    const shard = await LeanShard.open({
      runtime,
      logger,
      registry,
      shardId: this.id,
      epoch: BigInt(life),
      files: this.#files(life),
      provider: PLACE,
      machines: () => listedMachines(park),
      offer: ({ kind, machineId }) => this.#drainForAnother(life, kind, machineId),
      supervise,
    });
    if (life !== this.#life) return;
    this.#shard = shard;
    this.#store = shard.store;
    shard.store.onChange(() => this.#changed(life));
    const client = await startCoordClient({
      runtime,
      logger,
      registry,
      control: shard.control,
      coordinatorAddress: 'coordinator:7790',
      shardAddress: `${this.id}:7780`,
      intervalMs: REPORT_MS,
      termFile: this.#file('coordinator-term', life),
      resolve: async () => this.#options.coordinators().map((address) => ({ address })),
      connect: (endpoint) => this.#connect(endpoint),
    });
    if (life === this.#life) this.#client = client;
    else client.stop();
  }

  async turn(): Promise<void> {
    const life = this.#life;
    const shard = this.#shard;
    if (shard === undefined) return;
    // Two Lists per report, so that one may see what came of it before the next says so.
    for (const waitMs of [0, REPORT_MS / 3]) {
      await sleep(this.#options.runtime, waitMs);
      if (life === this.#life) await shard.cycle(this.#shortfalls());
      if (life === this.#life) this.#decide(shard);
    }
  }

  kill(): void {
    if (!this.#isUp) return;
    this.#life += 1;
    this.#isUp = false;
    this.#client?.stop();
    this.#client = undefined;
    this.#shard = undefined;
    this.#unwritten.clear();
    this.#options.onDeath();
    this.#options.supervise(this.#readDisk(this.#life));
  }

  wipe(): void {
    this.kill();
    this.#life += 1;
    this.#disk.clear();
    this.#store = undefined;
  }

  async #readDisk(life: number): Promise<void> {
    const store = await openLeanStore({ files: this.#files(life), provider: PLACE });
    if (life !== this.#life) return;
    this.#store = store;
    this.#options.onChanged();
  }

  /** Lets go of what is not wanted, takes what is, and makes machines of slots when short. */
  #decide(shard: LeanShard): void {
    const { park } = this.#options;
    const isMine = (id: string): boolean => park.userOf(id) === this.id;
    const busy = park.ids.filter(isMine);
    for (const id of busy.slice(this.demand)) {
      if (this.#mayDo(shard, id, ActionKind.Reclaim)) this.#change(shard, id, 'idle');
    }
    let missing = this.demand - busy.length;
    for (const id of park.ids) {
      if (missing <= 0) break;
      if (park.stateOf(id) === 'busy' || !this.#mayDo(shard, id, ActionKind.Bootstrap)) continue;
      this.#change(shard, id, 'busy');
      missing -= 1;
    }
    this.#ageCycles = missing > 0 ? this.#ageCycles + SEED_CYCLES_PER_REPORT / 2 : 0;
  }

  #mayDo({ fleet }: LeanShard, id: string, kind: Parameters<typeof fleet.mayAct>[1]): boolean {
    const slot = fleet.inventory.slotOf(id);
    if (slot < 0 || !fleet.mayAct(slot, kind)) return false;
    return kind === ActionKind.Reclaim || fleet.read(slot).withheld === undefined;
  }

  #change(shard: LeanShard, id: string, to: 'idle' | 'busy'): void {
    const { park } = this.#options;
    if (to === 'busy') park.use(id, this.id);
    else park.set(id, 'idle');
    shard.observe(listedMachine(park, id));
  }

  #drainForAnother(life: number, kind: number, machineId: string): boolean {
    const shard = this.#shard;
    if (life !== this.#life || shard === undefined || kind !== ActionKind.Preempt) return false;
    const slot = shard.fleet.inventory.slotOf(machineId);
    if (slot < 0 || shard.fleet.stateOf(slot) !== State.Configured) return false;
    this.#change(shard, machineId, 'idle');
    return true;
  }

  #shortfalls(): ReadonlyMap<string, Shortfall> {
    const { park } = this.#options;
    const missing = this.demand - park.ids.filter((id) => park.userOf(id) === this.id).length;
    if (missing <= 0 || this.#ageCycles === 0) return new Map();
    const shortfall: Shortfall = {
      profile: SHORT_OF,
      deficit: new Map([['cpu', missing * CPU_PER_MACHINE * 1_000]]),
      minUnit: new Map([['cpu', CPU_PER_MACHINE * 1_000]]),
      ageCycles: this.#ageCycles,
      reasonCode: this.isQuotaBound ? 'quota_exhausted' : 'no_matching_supply',
      clusters: [],
    };
    return new Map([[SHORT_OF.fingerprint, shortfall]]);
  }

  #changed(life: number): void {
    if (life !== this.#life || this.#store === undefined) return;
    this.#options.logger.debug('ownership', { shard: this.id, ...holdings(this.#store) });
    this.#options.onChanged();
    const before = this.#steps;
    this.#steps = new Map();
    for (const id of this.#store.book.gone.keys()) {
      this.#steps.set(id, 'gone');
      if (!before.has(id)) this.#options.onStep('gone');
    }
    for (const { transferId, state } of this.#store.book.records.values()) {
      this.#steps.set(transferId, state);
      if (before.get(transferId) !== state) this.#options.onStep(state);
    }
  }

  #connect({ address }: Endpoint): ReturnType<MemoryNetwork['connect']> {
    return this.#options.network.connect({ from: this.id, to: address });
  }

  #files(life: number): Record<'assignment' | 'transfers' | 'providers', DurableFile> {
    return {
      assignment: this.#file('assignment.json', life),
      transfers: this.#file('transfers.json', life),
      providers: this.#file('providers.json', life),
    };
  }

  #file(path: string, life: number): DurableFile {
    return {
      path,
      read: async () => this.#disk.get(path),
      replace: (text) => this.#replace(path, text, life),
    };
  }

  /** A process that died in a write is never answered. */
  async #replace(path: string, text: string, life: number): Promise<void> {
    if (life !== this.#life || this.#diesHere()) return new Promise(() => {});
    this.#write(path, text);
    if (this.#diesHere()) return new Promise(() => {});
  }

  #write(path: string, text: string): void {
    const isLate = this.#options.hasLyingDisk;
    const kept = isLate ? this.#unwritten.get(path) : text;
    if (kept !== undefined) this.#disk.set(path, kept);
    if (isLate) this.#unwritten.set(path, text);
  }

  #diesHere(): boolean {
    if (!this.#isUp || !this.#options.dies()) return false;
    this.kill();
    return true;
  }
}

/** For whoever replays a seed. */
function holdings({ assignment, book, revision }: OwnershipStore): Record<string, string> {
  const domains = (all: readonly { readonly value: string }[]): string =>
    all.map(({ value }) => value).join(',');
  const machines = (all: readonly { readonly machineId: string }[]): string =>
    all.map(({ machineId }) => machineId).join(',');
  const records = [...book.records.values()];
  return {
    revision: `${revision}/${assignment.generation}`,
    domains: domains(assignment.domains),
    foreign: domains(assignment.foreignDomains),
    releasing: assignment.releasing
      .map(({ value, isEmpty }) => (isEmpty ? `(${value})` : value))
      .join(','),
    homes: assignment.ownsUnmatchedProviders.join(','),
    adopted: machines(assignment.adopted),
    released: machines(assignment.released),
    book: records.map(({ state, machineIds }) => `${state}:${machineIds.join('+')}`).join(','),
  };
}
