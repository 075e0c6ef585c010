// Readers and writers at every replica at once, old leaders included, without following any hint:
// whoever answers is on record. What they heard must be linearizable (../linearizability): a deposed
// leader that still serves, or a write that was acknowledged and lost, has no legal order.
//
// A register is one cluster's binding. Registers are changed often, so that each history stays small
// enough to be checked.

import { RpcError } from '@bigfleet/wire';
import { ATTEMPT_MS, HANG_MS, monotonicMs, withDeadline } from '../../toolkit/index.ts';
import { History } from '../linearizability/history.ts';
import { judge, type Judged } from '../linearizability/checker.ts';
import type { Operation, Outcome } from '../linearizability/model.ts';
import { Background } from './background.ts';
import type { CoordinatorProcess } from './coordinator-process.ts';

const PAUSE_MS = 20;
const OPERATIONS_PER_REGISTER = 120;
/** Of each replica, in a failure. */
const OUTPUT_CHARS = 4_000;

/** What a register may hold: shards that exist in the ledger only. */
export const VALUES: readonly string[] = Array.from({ length: 8 }, (_, at) => `value-${at}`);

/** Before the first load. */
export async function registerValues({ coordinator }: CoordinatorProcess): Promise<void> {
  for (const shardId of VALUES) {
    await coordinator.reportShard({ shardId, cycle: 1n, shardEpoch: 1n });
  }
}

export interface ServedWrite {
  readonly nodeId: string;
  readonly calledAtMs: number;
  readonly returnedAtMs: number;
}

interface Waiter {
  readonly sinceMs: number;
  readonly notBy: string;
  readonly resolve: (served: ServedWrite) => void;
}

export interface RegisterLoadOptions {
  readonly name: string;
  readonly replicas: readonly CoordinatorProcess[];
  /** By node id, asked before each write; all unless told. */
  readonly mayWriteTo?: (nodeId: string) => boolean;
}

export class RegisterLoad implements AsyncDisposable {
  readonly #options: RegisterLoadOptions;
  readonly #history = new History();
  readonly #loops: readonly Background[];
  readonly #waiters = new Set<Waiter>();
  #operationCount = 0;
  #writeCount = 0;

  constructor(options: RegisterLoadOptions) {
    this.#options = options;
    this.#loops = options.replicas.flatMap((replica) => [
      new Background(PAUSE_MS, () => this.#write(replica)),
      new Background(PAUSE_MS, () => this.#read(replica)),
    ]);
  }

  /** The first write that another than `notBy` serves, called at or after `sinceMs`. */
  async servedAfter(sinceMs: number, notBy: string): Promise<ServedWrite> {
    let waiter: Waiter | undefined;
    try {
      return await withDeadline('a write that a new leader serves', HANG_MS, () => {
        const { promise, resolve } = Promise.withResolvers<ServedWrite>();
        waiter = { sinceMs, notBy, resolve };
        this.#waiters.add(waiter);
        return promise;
      });
    } catch (error) {
      // Which replica campaigned, and what it waited for, is in nobody's message but their logs.
      const outputs = this.#options.replicas.map(
        (each) => `--- ${each.nodeId}\n${each.outputText().slice(-OUTPUT_CHARS)}`,
      );
      throw new Error(`nobody served a write\n${outputs.join('\n')}`, { cause: error });
    } finally {
      if (waiter !== undefined) this.#waiters.delete(waiter);
    }
  }

  get heardCount(): number {
    return this.#history.heardCount;
  }

  /** Ends the load; throws when what was heard has no legal order. */
  async finish(): Promise<Judged> {
    await this[Symbol.asyncDispose]();
    return judge(this.#history, this.#options.name);
  }

  /** Also ends it; for the drill that failed before it could finish. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop[Symbol.asyncDispose]()));
  }

  async #write(replica: CoordinatorProcess): Promise<void> {
    const { mayWriteTo = () => true } = this.#options;
    if (!replica.isRunning || !mayWriteTo(replica.nodeId)) return;
    this.#writeCount += 1;
    const shard = VALUES[this.#writeCount % VALUES.length] ?? '';
    const calledAtMs = monotonicMs();
    const outcome = await this.#record(
      replica,
      { kind: 'force', shard },
      async (register, signal) => {
        await replica.admin.bindCluster(
          { clusterId: register, shardId: shard, force: true },
          { signal },
        );
        return { kind: 'ok' };
      },
    );
    if (outcome.kind === 'ok') {
      this.#served({ nodeId: replica.nodeId, calledAtMs, returnedAtMs: monotonicMs() });
    }
  }

  async #read(replica: CoordinatorProcess): Promise<void> {
    if (!replica.isRunning) return;
    await this.#record(replica, { kind: 'read' }, async (register, signal) => {
      const { bindings } = await replica.admin.listClusterBindings({}, { signal });
      const found = bindings.find(({ clusterId }) => clusterId === register);
      return { kind: 'value', shard: found?.shardId ?? null };
    });
  }

  #record(
    { nodeId }: CoordinatorProcess,
    operation: Operation,
    call: (register: string, signal: AbortSignal) => Promise<Outcome>,
  ): Promise<Outcome> {
    this.#operationCount += 1;
    const turn = Math.floor(this.#operationCount / OPERATIONS_PER_REGISTER);
    const register = `${this.#options.name}-${turn}`;
    return this.#history.record(`${operation.kind}@${nodeId}`, register, operation, async () => {
      try {
        return await withDeadline(register, ATTEMPT_MS, (signal) => call(register, signal));
      } catch (error) {
        return operation.kind === 'read' ? { kind: 'none' } : outcomeOf(error);
      }
    });
  }

  #served(served: ServedWrite): void {
    for (const waiter of this.#waiters) {
      const { sinceMs, notBy, resolve } = waiter;
      if (served.nodeId !== notBy && served.calledAtMs >= sinceMs) resolve(served);
    }
  }
}

/** A refusal by a replica that does not lead, and a call that never left, had no effect. */
function outcomeOf(error: unknown): Outcome {
  if (error instanceof RpcError) {
    // The load itself is wrong: "unknown" would hide that nothing was ever written.
    if (error.code === 'INVALID_ARGUMENT' || error.code === 'NOT_FOUND') throw error;
    if (error.code === 'FAILED_PRECONDITION') return { kind: 'none' };
  }
  const isUnsent = error instanceof Error && error.message.includes('ECONNREFUSED');
  return { kind: isUnsent ? 'none' : 'unknown' };
}
