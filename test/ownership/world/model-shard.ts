// A small honest model of a shard as the coordinator sees it (coordinator §6.2, §9.6): it reports,
// carries out instructions in order, persists before it acts or acknowledges, and dies at any step
// between.
// Decisions about demand are reduced to "so many machines are wanted"; the rest is the protocol.

import { create } from '@bufbuild/protobuf';
import {
  type CoordinatorInstruction,
  type InstructAck,
  InstructAck_Outcome,
  InstructAckSchema,
  type PenaltyBucket,
  type ReportAck,
  type ShardReport,
  ShardReportSchema,
  type ShardAssignment,
  type TransferOwnership,
  TransferPhase,
} from '@bigfleet/wire';
import {
  Died,
  type FleetShard,
  PROVIDER,
  PROVIDER_ADDRESS,
  type TransferStep,
} from './fleet-shard.ts';
import { CPU_PER_MACHINE, type MachinePark } from './machine-park.ts';
import { entriesOf, givenBy, mergedWith } from './model-assignment.ts';
import { heldOthersOf, heldOverridesOf, statusesOf } from './model-report.ts';
import type { PlantedFault } from './planted-fault.ts';
import {
  type BookEntry,
  EMPTY_DISK,
  mayAct,
  type ShardDisk,
  withClaimed,
  withEntry,
  withoutEntries,
  withReleased,
} from './shard-disk.ts';

const FREEZE_TTL_REPORTS = 3;

interface ShortfallInit {
  deficit: { resources: { [name: string]: string } };
  minUnit: { resources: { [name: string]: string } };
  priority: number;
  ageCycles: number;
  escalate: boolean;
  interruptionPenaltyBucket: PenaltyBucket;
  reasonCode: string;
}

interface AckInit {
  machineIds?: string[];
  covered?: { resources: { [name: string]: string } };
  reasonCode?: string;
}

export interface ModelShardOptions {
  readonly id: string;
  readonly park: MachinePark;
  readonly fault: PlantedFault | undefined;
  /** Knows no `sharers`, `held_homes` and `known_shards`: it names them as domains. */
  readonly isOldBuild: boolean;
  readonly cyclesPerReport: number;
  /** Asked at every step that a death could fall on. */
  readonly dies: () => boolean;
  readonly onChanged: () => void;
  readonly onStep: (step: TransferStep) => void;
  readonly onDeath: () => void;
  /** Undefined: lost on the way, refused, or too late. */
  readonly post: (report: ShardReport) => Promise<ReportAck | undefined>;
}

export class ModelShard implements FleetShard {
  readonly id: string;
  isUp = false;
  demand = 0;
  isQuotaBound = false;
  readonly #options: ModelShardOptions;
  #disk: ShardDisk = EMPTY_DISK;
  #acks: InstructAck[] = [];
  #done = new Set<string>();
  #cycle = 0n;
  #ageCycles = 0;
  #revision = 0n;
  #sendHeld = false;
  #frozenReports = new Map<string, number>();
  readonly #late: (() => void)[] = [];

  constructor(options: ModelShardOptions) {
    this.id = options.id;
    this.#options = options;
  }

  get disk(): ShardDisk {
    return this.#disk;
  }

  mayAct(machineId: string): boolean {
    return mayAct(this.#disk, machineId);
  }

  owned(): readonly string[] {
    const { park } = this.#options;
    return park.ids.filter((id) => park.stateOf(id) !== 'gone' && this.mayAct(id));
  }

  idle(): readonly string[] {
    return this.owned().filter((id) => this.#options.park.stateOf(id) === 'idle');
  }

  get slice(): number | undefined {
    return this.#disk.slice;
  }

  get known(): ReadonlySet<string> {
    return this.#disk.others;
  }

  get frozenFor(): readonly string[] {
    const frozen = [...this.#disk.book].filter(([, { state }]) => state === 'frozen');
    return frozen.map(([id]) => id);
  }

  async start(): Promise<void> {
    this.isUp = true;
    this.#acks = [];
    this.#done = new Set();
    this.#cycle = 0n;
    this.#ageCycles = 0;
    this.#revision = this.#disk.revision;
    this.#sendHeld = false;
    this.#frozenReports = new Map();
    this.#disk = { ...this.#disk, epoch: this.#disk.epoch + 1n };
  }

  kill(): void {
    if (!this.isUp) return;
    this.isUp = false;
    this.#late.length = 0;
    this.#options.onDeath();
  }

  wipe(): void {
    this.kill();
    this.#disk = { ...EMPTY_DISK, epoch: this.#disk.epoch };
  }

  async turn(): Promise<void> {
    this.decide();
    const { report, acks } = this.report();
    const { epoch } = this.#disk;
    const reply = await this.#options.post(report);
    if (!this.isUp || this.#disk.epoch !== epoch) return;
    this.afterReport();
    if (reply === undefined) this.requeue(acks);
    else this.take(reply, acks);
  }

  /** Phases of its cycle: bind what is wanted, let go of what is not, notice what is gone. */
  decide(): void {
    const { park } = this.#options;
    const owned = this.owned();
    const busy = owned.filter((id) => park.stateOf(id) === 'busy');
    for (const id of busy.slice(this.demand)) park.set(id, 'idle');
    const wanted = Math.max(0, this.demand - busy.length);
    for (const id of this.idle().slice(0, wanted)) park.use(id, this.id);
    this.#makeMachines();
    const isShort = this.#missing() > 0;
    this.#ageCycles = isShort ? this.#ageCycles + this.#options.cyclesPerReport : 0;
    for (const [id, given] of this.#disk.adopted) {
      if (park.stateOf(id) === 'gone' && !this.#disk.gone.has(id)) {
        this.#persist({ ...this.#disk, gone: new Map(this.#disk.gone).set(id, given) });
        this.#options.onStep('gone');
      }
    }
    if (this.#options.fault === 'thaws-by-itself') this.#thawOld();
  }

  /** The next report; its acks are the caller's to give back when nobody took them. */
  report(): { readonly report: ShardReport; readonly acks: readonly InstructAck[] } {
    this.#cycle += 1n;
    const acks = this.#acks;
    this.#acks = [];
    const owned = this.owned();
    const idle = this.idle().length;
    const summary = {
      name: PROVIDER,
      address: PROVIDER_ADDRESS,
      totalMachines: owned.length,
      idleMachines: idle,
      freeMachines: idle,
      shared: true,
      healthy: true,
      source: 'flag',
    };
    const report = create(ShardReportSchema, {
      shardId: this.id,
      cycle: this.#cycle,
      shardEpoch: this.#disk.epoch,
      instructionAcks: [...acks],
      observedCoordinatorTerm: this.#disk.term,
      assignmentRevision: this.#revision,
      providerShared: true,
      summary: { totalMachines: owned.length, idleMachines: idle, providers: [summary] },
      shortfalls: this.#shortfalls(),
      transfers: statusesOf(this.#disk),
      keepsSharers: !this.#options.isOldBuild,
      ...(this.#sendHeld
        ? {
            heldOverrides: heldOverridesOf(this.#disk),
            ...heldOthersOf(this.id, this.#disk, this.#options),
          }
        : {}),
    });
    return { report, acks };
  }

  requeue(acks: readonly InstructAck[]): void {
    this.#acks = [...acks, ...this.#acks];
  }

  /** The answer to the report in flight. */
  take(reply: ReportAck, acks: readonly InstructAck[]): void {
    if (reply.coordinatorTerm < this.#disk.term) return this.requeue(acks);
    if (reply.coordinatorTerm > this.#disk.term) {
      this.#persist({ ...this.#disk, term: reply.coordinatorTerm });
    }
    if (!reply.acknowledged) return;
    this.#sendHeld = reply.sendHeld;
    if (reply.assignment !== undefined) this.#assign(reply.assignment);
    const over = reply.retiredTransferIds.filter(
      (id) => this.#disk.book.get(id)?.state !== 'frozen',
    );
    if (over.length > 0) this.#persist(withoutEntries(this.#disk, over));
    for (const instruction of reply.instructions) this.#obey(instruction);
  }

  #obey(instruction: CoordinatorInstruction): void {
    const { instructionId } = instruction;
    if (this.#done.has(instructionId)) {
      return this.#ack(instructionId, InstructAck_Outcome.ACCEPTED, {
        reasonCode: 'duplicate_redelivery',
      });
    }
    const { payload } = instruction;
    switch (payload.case) {
      case 'transferOwnership':
        return this.#transfer(instructionId, payload.value);
      case 'reassignSpeculative':
        this.#persist({ ...this.#disk, slice: payload.value.newSlice });
        return this.#accept(instructionId);
      default:
        return this.#ack(instructionId, InstructAck_Outcome.REJECTED_INVALID, {
          reasonCode: 'not_implemented',
        });
    }
  }

  #transfer(instructionId: string, order: TransferOwnership): void {
    switch (order.phase) {
      case TransferPhase.PREPARE:
        return this.#prepare(instructionId, order);
      case TransferPhase.RELEASE:
        return this.#release(instructionId, order);
      case TransferPhase.CLAIM:
        return this.#claim(instructionId, order);
      case TransferPhase.CANCEL:
        return this.#cancel(instructionId, order);
      default:
        return this.#reject(instructionId, 'unknown_payload');
    }
  }

  #prepare(instructionId: string, order: TransferOwnership): void {
    const known = this.#disk.book.get(order.transferId);
    const ids = known?.machineIds ?? this.idle().slice(0, this.#wantedOf(order));
    if (ids.length === 0) return this.#reject(instructionId, 'no_eligible_machines');
    const accept = (): void =>
      this.#accept(instructionId, {
        machineIds: [...ids],
        covered: { resources: { cpu: String(ids.length * CPU_PER_MACHINE) } },
      });
    const entry: BookEntry = {
      role: 'donor',
      state: 'frozen',
      peer: order.toShardId,
      machineIds: ids,
    };
    if (this.#options.fault === 'acks-before-persisting') {
      // The ack leaves with the next report, and only then is the freeze written.
      accept();
      this.#late.push(() => this.#persist(withEntry(this.#disk, order.transferId, entry)));
      return;
    }
    if (known === undefined) this.#persist(withEntry(this.#disk, order.transferId, entry));
    accept();
  }

  #release(instructionId: string, order: TransferOwnership): void {
    const known = this.#disk.book.get(order.transferId);
    if (known?.state === 'claimed') return this.#reject(instructionId, 'unknown_transfer');
    const machineIds = known?.machineIds ?? order.machineIds;
    const entry: BookEntry = {
      role: 'donor',
      state: 'released',
      peer: order.toShardId,
      machineIds,
    };
    if (this.#options.fault === 'releases-before-persisting') {
      this.#persist(withoutEntries(this.#disk, [order.transferId]));
    }
    if (known?.state !== 'released') {
      this.#step(withReleased(this.#disk, order.transferId, entry));
    }
    this.#accept(instructionId, { machineIds: [...machineIds] });
  }

  #claim(instructionId: string, order: TransferOwnership): void {
    const known = this.#disk.book.get(order.transferId);
    if (known !== undefined && known.state !== 'claimed') {
      return this.#reject(instructionId, 'unknown_transfer');
    }
    if (known === undefined) {
      const { fromShardId: peer, machineIds } = order;
      const entry: BookEntry = { role: 'recipient', state: 'claimed', peer, machineIds };
      this.#step(withClaimed(this.#disk, order.transferId, entry));
    }
    this.#accept(instructionId);
  }

  #cancel(instructionId: string, order: TransferOwnership): void {
    if (this.#disk.book.get(order.transferId)?.state !== 'frozen') {
      return this.#reject(instructionId, 'unknown_transfer');
    }
    this.#persist(withoutEntries(this.#disk, [order.transferId]));
    this.#accept(instructionId);
  }

  #assign(assignment: ShardAssignment): void {
    this.#forgetEarly(assignment);
    const isWhole =
      (assignment.complete && assignment.ledgerGeneration >= this.#disk.generation) ||
      this.#options.fault === 'obeys-an-incomplete-assignment';
    let disk = this.#disk;
    for (const [id, entry] of entriesOf(assignment.released, 'donor')) {
      const isFrozen = disk.book.get(id)?.state === 'frozen' && !this.#isDeaf;
      if (isWhole && isFrozen) disk = withReleased(disk, id, entry);
    }
    for (const [id, entry] of entriesOf(assignment.adopted, 'recipient')) {
      const isNew = entry.machineIds.some((m) => disk.adopted.get(m)?.transferId !== id);
      if (isNew) disk = withClaimed(disk, id, mergedWith(disk.book.get(id), entry));
    }
    if (isWhole) disk = this.#replaced(disk, assignment);
    this.#persist(isWhole ? { ...disk, revision: assignment.revision } : disk);
    // What is not whole has to be asked for again; only this process knows that.
    this.#revision = isWhole ? assignment.revision : 0n;
  }

  /** The planted fault: what the assignment takes by name is not let go of. */
  get #isDeaf(): boolean {
    return this.#options.fault === 'ignores-what-is-released';
  }

  /** The planted fault: thawed on one write, released only on the next. */
  #forgetEarly({ released }: ShardAssignment): void {
    if (this.#options.fault !== 'releases-before-persisting') return;
    const ids = released.map(({ transferId }) => transferId);
    this.#persist(withoutEntries(this.#disk, ids));
  }

  #replaced(disk: ShardDisk, assignment: ShardAssignment): ShardDisk {
    const adopted = givenBy(assignment.adopted);
    const slice = assignment.quotas.find(({ provider }) => provider === PROVIDER)?.slice;
    const given = new Set(assignment.released.map(({ machineId }) => machineId));
    const settled = [...disk.book].filter(
      ([, { state, machineIds }]) =>
        state === 'released' && !machineIds.some((id) => given.has(id)),
    );
    return {
      ...withoutEntries(
        disk,
        settled.map(([id]) => id),
      ),
      adopted,
      released: this.#isDeaf ? disk.released : givenBy(assignment.released),
      gone: new Map([...disk.gone].filter(([id]) => adopted.has(id))),
      isHome: assignment.ownsUnmatchedProviders.includes(PROVIDER_ADDRESS),
      others: new Set([
        ...assignment.foreignDomains.map(({ shardId }) => shardId),
        ...(this.#options.isOldBuild ? [] : assignment.sharers),
        ...assignment.released.map(({ peerShardId }) => peerShardId),
      ]),
      hasAssignment: true,
      generation: assignment.ledgerGeneration,
      slice,
    };
  }

  /** Work that a faulty shard puts off until after its report. */
  afterReport(): void {
    for (const work of this.#late.splice(0)) work();
  }

  /** By an instruction: the assignment it goes beyond is asked for again. */
  #step(disk: ShardDisk): void {
    const revision = disk.revision > 0n ? disk.revision - 1n : 0n;
    this.#persist({ ...disk, revision });
    if (revision < this.#revision) this.#revision = revision;
  }

  #persist(disk: ShardDisk): void {
    this.#mayDie();
    const before = this.#disk;
    this.#disk = disk;
    this.#options.onChanged();
    for (const [id, { state }] of disk.book) {
      if (before.book.get(id)?.state !== state) this.#options.onStep(state);
    }
    this.#mayDie();
  }

  #mayDie(): void {
    if (!this.#options.dies()) return;
    this.kill();
    throw new Died(this.id);
  }

  #accept(instructionId: string, more: AckInit = {}): void {
    this.#done.add(instructionId);
    this.#ack(instructionId, InstructAck_Outcome.ACCEPTED, more);
  }

  #reject(instructionId: string, reasonCode: string): void {
    this.#ack(instructionId, InstructAck_Outcome.REJECTED_INVALID, { reasonCode });
  }

  #ack(instructionId: string, outcome: InstructAck['outcome'], more: AckInit): void {
    this.#acks.push(create(InstructAckSchema, { ...more, instructionId, outcome }));
  }

  #thawOld(): void {
    for (const [id, { state }] of this.#disk.book) {
      if (state !== 'frozen') continue;
      const age = (this.#frozenReports.get(id) ?? 0) + 1;
      this.#frozenReports.set(id, age);
      if (age > FREEZE_TTL_REPORTS) this.#persist(withoutEntries(this.#disk, [id]));
    }
  }

  /** What is gone is a slot again for whoever owns its id by rule, and not by an override. */
  #makeMachines(): void {
    const { park } = this.#options;
    if (this.#missing() === 0) return;
    const slot = park.ids.find((id) => {
      return park.stateOf(id) === 'gone' && this.mayAct(id) && !this.#disk.adopted.has(id);
    });
    if (slot !== undefined) park.use(slot, this.id);
  }

  #missing(): number {
    return Math.max(0, this.demand - this.owned().length);
  }

  #wantedOf(order: TransferOwnership): number {
    const deficit = Number(order.selector?.deficit?.resources['cpu'] ?? 0);
    return Math.min(order.selector?.count ?? 0, Math.ceil(deficit / CPU_PER_MACHINE));
  }

  #shortfalls(): ShortfallInit[] {
    const missing = this.#missing();
    if (missing === 0) return [];
    return [
      {
        deficit: { resources: { cpu: String(missing * CPU_PER_MACHINE) } },
        minUnit: { resources: { cpu: String(CPU_PER_MACHINE) } },
        priority: 100,
        ageCycles: this.#ageCycles,
        escalate: this.#ageCycles > 5,
        interruptionPenaltyBucket: 5,
        reasonCode: this.isQuotaBound ? 'quota_exhausted' : 'no_matching_supply',
      },
    ];
  }
}
