// One leader over the engine in memory, under virtual time, for tests of everything that the leader
// does with reports: the production desk, ledger and state machine; only the sagas are a notebook.

import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { type CapturedLog, captureSink, createLogger, type Logger } from '@bigfleet/telemetry';
import {
  decode,
  encodeInit,
  type ReportAck,
  type ShardReport,
  ShardReportSchema,
} from '@bigfleet/wire';
import { type ApplyQueue, openLedger } from '../../ledger/apply-queue.ts';
import type { PendingInstruction } from '../../instructions/instruction-queue.ts';
import type { ApplyResult } from '../../ledger/ledger.ts';
import type { CoordinatorObserver } from '../../metrics/observer.ts';
import type { CommandBody } from '../../state/commands.ts';
import { MemoryDisk } from '../../store/testing/memory-disk.ts';
import { MemoryStore } from '../../store/testing/memory-store.ts';
import { createReportDesk, type ReportDesk } from '../report-desk.ts';
import type { ReportOutcome, TransferPort } from '../report-handler.ts';

type Init<S extends Parameters<typeof encodeInit>[0]> = Parameters<typeof encodeInit<S>>[1];
export type ReportInit = Exclude<Init<typeof ShardReportSchema>, { readonly $typeName: string }>;

export function makeReport(init: ReportInit): ShardReport {
  return decode(ShardReportSchema, encodeInit(ShardReportSchema, init), 'INTERNAL');
}

/** Every callback, in order, as `name argument argument`. */
export class ObserverNotes implements CoordinatorObserver {
  readonly lines: string[] = [];

  onReport(result: string): void {
    this.lines.push(`report ${result}`);
  }

  onPendingInstructions(shardId: string, count: number): void {
    this.lines.push(`pending ${shardId} ${count}`);
  }

  onUnregisteredProvider(shardId: string, isUnregistered: boolean): void {
    this.lines.push(`unregistered ${shardId} ${isUnregistered}`);
  }

  onShardRemoved(shardId: string): void {
    this.lines.push(`removed ${shardId}`);
  }

  onOwnershipConflict(): void {
    this.lines.push('ownership-conflict');
  }

  onClusterBindingConflict(): void {
    this.lines.push('binding-conflict');
  }

  onTermJumpRefused(): void {
    this.lines.push('term-jump-refused');
  }

  onRebalancePass(): void {
    this.lines.push('pass');
  }

  onRebalanceMove(tier: string, result: string): void {
    this.lines.push(`move ${tier} ${result}`);
  }

  count(line: string): number {
    return this.lines.filter((known) => known === line).length;
  }
}

export class SagaNotes implements TransferPort {
  readonly lines: string[] = [];
  retired: readonly string[] = [];

  onStatuses(shardId: string, statuses: Parameters<TransferPort['onStatuses']>[1]): void {
    for (const { transferId, state } of statuses) {
      this.lines.push(`status ${shardId} ${transferId} ${state}`);
    }
  }

  retiredOf(): readonly string[] {
    return this.retired;
  }

  onAck(pending: PendingInstruction, ack: Parameters<TransferPort['onAck']>[1]): void {
    this.lines.push(`ack ${pending.transferId} ${ack.outcome} ${pending.failures}`);
  }
}

export interface WorldOptions {
  readonly disk?: MemoryDisk;
  readonly seed?: bigint;
  readonly minRecoveryMs?: number;
}

export class ReportWorld {
  readonly time: VirtualRuntime;
  readonly store: MemoryStore;
  readonly observer: ObserverNotes = new ObserverNotes();
  readonly sagas: SagaNotes = new SagaNotes();
  readonly raised: bigint[] = [];
  readonly logLines: CapturedLog = captureSink();
  readonly log: Logger;
  readonly #options: WorldOptions;
  #ledger: ApplyQueue | undefined;
  #desk: ReportDesk | undefined;
  #bug: { readonly error: unknown } | undefined;
  readonly #cycles = new Map<string, bigint>();

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.time = createVirtualRuntime({ seed: options.seed ?? 1n, drain: drainMicrotasks });
    const disk = options.disk ?? new MemoryDisk();
    this.store = new MemoryStore({ runtime: this.time.runtime, disk });
    this.log = createLogger({ clock: this.time.runtime.clock, sink: this.logLines });
  }

  static async open(options: WorldOptions = {}): Promise<ReportWorld> {
    const world = new ReportWorld(options);
    await world.elect();
    return world;
  }

  /** A new leadership: everything soft is gone. */
  async elect(): Promise<void> {
    const { runtime } = this.time;
    const leadership = await this.run(this.store.campaign(new AbortController().signal));
    const options = { runtime, store: this.store, leadership, log: this.log };
    this.#ledger = await this.run(openLedger(options));
    const { minRecoveryMs } = this.#options;
    this.#desk = createReportDesk({
      ledger: this.#ledger,
      runtime,
      log: this.log,
      observer: this.observer,
      raiseAbove: (term) => this.raised.push(term),
      sagas: () => this.sagas,
      ...(minRecoveryMs === undefined ? {} : { minRecoveryMs }),
    });
  }

  get ledger(): ApplyQueue {
    if (this.#ledger === undefined) throw new Error('nobody leads');
    return this.#ledger;
  }

  get desk(): ReportDesk {
    if (this.#desk === undefined) throw new Error('nobody leads');
    return this.#desk;
  }

  /** A loop of the leader: what it throws comes out of the next call. */
  supervise(loop: Promise<unknown>): void {
    loop.catch((error: unknown) => {
      this.#bug = { error };
    });
  }

  /** Lets virtual time pass until the promise has settled. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const watched = promise.finally(() => {
      isSettled = true;
    });
    watched.catch(() => {});
    for (let turn = 0; turn < 10_000 && !isSettled; turn++) await this.time.runFor(1);
    if (this.#bug !== undefined) throw this.#bug.error;
    return watched;
  }

  apply(body: CommandBody): Promise<ApplyResult> {
    return this.run(this.ledger.apply(body));
  }

  handle(report: ShardReport): Promise<ReportOutcome> {
    return this.run(this.desk.handler.handle(report));
  }

  /** The next report of a shard; it must be acknowledged or at least answered. */
  async report(shardId: string, init: ReportInit = {}): Promise<ReportAck> {
    const cycle = (this.#cycles.get(shardId) ?? 0n) + 1n;
    this.#cycles.set(shardId, cycle);
    const outcome = await this.handle(makeReport({ shardId, shardEpoch: 1n, cycle, ...init }));
    if (outcome.kind !== 'ack') throw new Error(`${outcome.status} ${outcome.message}`);
    return outcome.ack;
  }
}
