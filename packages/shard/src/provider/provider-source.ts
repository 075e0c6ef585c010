// One configured provider of the shard: its client, its cursor, its removal scope, its shrink
// guard. Its own failure domain: a List that fails removes nothing and says nothing about others.
// No loop and no clock of its own: the owner calls `refresh` when it wants one.

import { assert } from '@bigfleet/base';
import type { ListColumns } from './list/columns.ts';
import type { Provider } from './provider.ts';
import { ProviderError } from './provider-error.ts';
import type { AssignmentReader, IngestBatch } from './reconcile/ingest.ts';
import type { KnownMachines } from './reconcile/known-machines.ts';
import { type ListMode, ListPlan, type PlannedList } from './reconcile/list-plan.ts';
import { reconcileList, type ReconcileSummary } from './reconcile/reconcile-list.ts';
import { ShrinkGuard } from './reconcile/shrink-guard.ts';

export interface ProviderSourceOptions {
  /** As configured or registered; what `Machine.provider` says. */
  readonly name: string;
  readonly provider: Provider;
  /** Default: full. */
  readonly mode?: ListMode;
}

export interface RefreshOptions {
  readonly known: KnownMachines;
  /** Monotonic. */
  readonly nowMs: number;
  readonly readAssignment: AssignmentReader;
  /** The one writer of the inventory. It may let I/O in before it resolves. */
  readonly apply: (batch: IngestBatch, provider: string) => void | Promise<void>;
  readonly signal?: AbortSignal;
}

export type RefreshOutcome =
  | {
      readonly kind: 'refreshed';
      readonly list: PlannedList['kind'];
      readonly summary: ReconcileSummary;
    }
  /** Nothing was changed. */
  | { readonly kind: 'failed'; readonly error: ProviderError };

export class ProviderSource {
  readonly name: string;
  readonly provider: Provider;
  readonly #plan: ListPlan;
  readonly #guard = new ShrinkGuard();
  #isRefreshing = false;

  constructor({ name, provider, mode = 'full' }: ProviderSourceOptions) {
    this.name = name;
    this.provider = provider;
    this.#plan = new ListPlan(mode);
  }

  /** Machines whose removal waits for agreeing Lists. */
  get heldRemovalCount(): number {
    return this.#guard.heldCount;
  }

  /** One List, applied. Throws what `apply` throws; the cursor then stays where it was. */
  async refresh(options: RefreshOptions): Promise<RefreshOutcome> {
    assert(!this.#isRefreshing, 'one List of a provider at a time', { provider: this.name });
    this.#isRefreshing = true;
    try {
      return await this.#refresh(options);
    } finally {
      this.#isRefreshing = false;
    }
  }

  async #refresh(options: RefreshOptions): Promise<RefreshOutcome> {
    const planned = this.#plan.next(options.nowMs);
    const first = await this.#list(planned, options.signal);
    if (first.kind === 'listed') return this.#apply(planned, first.columns, options);
    if (!isCursorRefusal(planned, first.error)) return { kind: 'failed', error: first.error };
    this.#plan.askFull();
    const full = this.#plan.next(options.nowMs);
    const second = await this.#list(full, options.signal);
    if (second.kind === 'failed') return { kind: 'failed', error: second.error };
    return this.#apply(full, second.columns, options);
  }

  async #list(planned: PlannedList, signal: AbortSignal | undefined): Promise<Listed> {
    const request = planned.kind === 'full' ? {} : { sinceRevision: planned.sinceRevision };
    try {
      const columns = await this.provider.list(request, signal === undefined ? {} : { signal });
      return { kind: 'listed', columns };
    } catch (error) {
      if (error instanceof ProviderError) return { kind: 'failed', error };
      throw error;
    }
  }

  async #apply(
    planned: PlannedList,
    columns: ListColumns,
    { known, nowMs, readAssignment, apply }: RefreshOptions,
  ): Promise<RefreshOutcome> {
    const isFull = planned.kind === 'full';
    const batches = reconcileList({
      provider: this.name,
      columns,
      known,
      nowMs,
      readAssignment,
      isFull,
      guard: this.#guard,
    });
    let step = batches.next();
    while (step.done !== true) {
      await apply(step.value, this.name);
      step = batches.next();
    }
    const summary = step.value;
    this.#plan.applied(planned, columns.data.revision, nowMs);
    if (summary.removal.kind === 'held') this.#plan.askFull();
    return { kind: 'refreshed', list: planned.kind, summary };
  }
}

type Listed =
  | { readonly kind: 'listed'; readonly columns: ListColumns }
  | { readonly kind: 'failed'; readonly error: ProviderError };

/** A provider should answer a strange cursor in full; one that refuses it is listed in full. */
function isCursorRefusal(planned: PlannedList, error: ProviderError): boolean {
  return planned.kind === 'delta' && error.status !== 'CANCELLED' && isAnswer(error);
}

/** The provider spoke, as opposed to the network. */
function isAnswer(error: ProviderError): boolean {
  return error.failure !== 'unknown_result' || error.code === 'provider_answer_malformed';
}
