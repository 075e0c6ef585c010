// One configured provider of the shard: its client, its cursor, its removal scope, its shrink
// guard. Its own failure domain: a List that fails removes nothing and says nothing about others.
// No loop and no clock of its own: the owner calls `refresh` when it wants one.
//
// A refresh is a List, scanned elsewhere (scan/), its notable rows merged here in batches. The scanner
// offers records again that the fleet could not take in, so the cursor always moves on (row-trust.ts).
// Machines in doubt are asked about one by one before a delta, and where that does not work, the List
// is a full one. A delta that contradicts the cursor it was asked with is not read: the full List
// follows at once.

import { assert, BigFleetError } from '@bigfleet/base';
import { askMachines } from './ask-machines.ts';
import { ListColumns } from './list/columns.ts';
import { decodeMachineList } from './list/decode-list.ts';
import { malformedAnswer, ProviderError } from './provider-error.ts';
import type { Provider } from './provider.ts';
import type { AssignmentReader, IngestBatch } from './reconcile/ingest.ts';
import type { KnownMachines } from './reconcile/known-machines.ts';
import { type ListMode, ListPlan, type PlannedList } from './reconcile/list-plan.ts';
import {
  reconcileList,
  type ReconcileOptions,
  type ReconcileSummary,
} from './reconcile/reconcile-list.ts';
import { ShrinkGuard } from './reconcile/shrink-guard.ts';
import { type LocalWrites, RowTrust } from './row-trust.ts';
import { askHere, type ListAnswer, type ListAsker } from './scan/list-asker.ts';
import type { ListScans } from './scan/list-scans.ts';
import { createInlineScans } from './scan/scanner.ts';

export interface ProviderSourceOptions {
  /** As configured or registered; what `Machine.provider` says. */
  readonly name: string;
  readonly provider: Provider;
  /** Default: full. */
  readonly mode?: ListMode;
  /** Shared by the sources of a process, which closes it. Default: inline, for this one. */
  readonly scans?: ListScans;
  /** Who asks for Lists. Default: this thread asks `provider`, and `scans` scans the answer. */
  readonly asker?: ListAsker;
}

export interface RefreshOptions {
  readonly known: KnownMachines;
  /** Monotonic. */
  readonly nowMs: number;
  readonly readAssignment: AssignmentReader;
  /** The one writer of the inventory. */
  readonly apply: (batch: IngestBatch, provider: string) => void | Promise<void>;
  /** Lets I/O in, between two batches: behind the last one the caller has its own turn. */
  readonly breathe?: () => Promise<void>;
  /** What others than reconcile wrote since they were last asked. Default: nothing. */
  readonly takeWrites?: (provider: string) => LocalWrites;
  readonly signal?: AbortSignal | undefined;
}

export type RefreshOutcome =
  | {
      readonly kind: 'refreshed';
      readonly list: PlannedList['kind'];
      readonly summary: ReconcileSummary;
    }
  /** Nothing was changed. */
  | { readonly kind: 'failed'; readonly error: BigFleetError };

export class ProviderSource {
  readonly name: string;
  readonly provider: Provider;
  readonly #plan: ListPlan;
  readonly #guard = new ShrinkGuard();
  readonly #asker: ListAsker;
  readonly #trust = new RowTrust();
  #isRefreshing = false;
  #isAsking = false;

  constructor({ name, provider, mode = 'full', scans, asker }: ProviderSourceOptions) {
    this.name = name;
    this.provider = provider;
    this.#plan = new ListPlan(mode);
    this.#asker = asker ?? askHere(provider, scans ?? createInlineScans());
  }

  /** A question is with the provider, which may never answer. */
  get isAsking(): boolean {
    return this.#isAsking;
  }

  /** Machines whose removal waits for agreeing Lists. */
  get heldRemovalCount(): number {
    return this.#guard.heldCount;
  }

  /**
   * Every row of the next List is looked at, and it is a full one. For whoever lets machines in by
   * rules of its own, when the rules change: rows that were turned away do not come again by
   * themselves.
   */
  lookAgain(): void {
    this.#trust.forgetAll();
    this.#plan.askFull();
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
    const planned = await this.#planned(options);
    const first = await this.#list(planned, options);
    if (first.kind === 'scanned') {
      if (!this.#isOfAnotherLife(planned, first)) return this.#apply(planned, first, options);
      this.#trust.unread(first.rows);
    } else if (!isCursorRefusal(planned, first.error)) return first;
    this.#plan.askFull();
    const full = this.#plan.next(options.nowMs);
    const second = await this.#list(full, options);
    return second.kind === 'failed' ? second : this.#apply(full, second, options);
  }

  /** Asked with a cursor that the provider cannot know: the delta leaves out what is gone, or more. */
  #isOfAnotherLife(planned: PlannedList, { data, connection }: Answered): boolean {
    if (planned.kind === 'full') return false;
    return this.#plan.isContradicted({ revision: data.revision, connection });
  }

  /** A delta only when no machine is in doubt, or the provider answered about all that are. */
  async #planned(options: RefreshOptions): Promise<PlannedList> {
    const { known, nowMs, signal, takeWrites } = options;
    // Before anything is asked: what is written from here on is younger than the answer.
    if (takeWrites !== undefined) this.#trust.wrote(takeWrites(this.name));
    const planned = this.#plan.next(nowMs);
    if (planned.kind === 'full') return planned;
    const due = this.#trust.due(known, nowMs);
    if (due.length === 0) return planned;
    const asked =
      due === 'too_many'
        ? undefined
        : await this.#asking(askMachines(this.provider, due, { signal }));
    if (due === 'too_many' || asked?.kind !== 'answered') {
      this.#plan.askFull();
      return this.#plan.next(nowMs);
    }
    const columns = decodeMachineList(asked.bytes);
    const { unsettled } = await this.#merge({ columns, isFull: false }, options);
    this.#trust.asked(due, unsettled);
    return planned;
  }

  async #asking<T>(answer: Promise<T>): Promise<T> {
    this.#isAsking = true;
    try {
      return await answer;
    } finally {
      this.#isAsking = false;
    }
  }

  async #list(planned: PlannedList, { signal }: RefreshOptions): Promise<Listed> {
    const marks = this.#trust.take();
    this.#isAsking = true;
    try {
      const answer = await this.#asker.ask({
        provider: this.name,
        request: planned.kind === 'full' ? {} : { sinceRevision: planned.sinceRevision },
        isFull: planned.kind === 'full',
        ...marks,
        signal,
        onAnswered: () => {
          this.#isAsking = false;
        },
      });
      if (answer.kind === 'scanned') return answer;
      const cause = new BigFleetError('message_malformed', answer.detail);
      return { kind: 'failed', error: malformedAnswer('List answered with no MachineList', cause) };
    } catch (error) {
      this.#trust.giveBack(marks);
      if (error instanceof ProviderError) return { kind: 'failed', error };
      if (error instanceof BigFleetError && error.code === 'reconcile_lost') {
        this.lookAgain();
        return { kind: 'failed', error };
      }
      throw error;
    } finally {
      this.#isAsking = false;
    }
  }

  async #apply(
    planned: PlannedList,
    { data, rows, absent, connection }: Answered,
    options: RefreshOptions,
  ): Promise<RefreshOutcome> {
    const isFull = planned.kind === 'full';
    const part = { columns: new ListColumns(data), isFull, rows, absent };
    const summary = await this.#merge(part, options);
    const { unsettled, removal } = summary;
    this.#trust.offered(unsettled, { isFull });
    this.#plan.applied(planned, { revision: data.revision, connection }, options.nowMs);
    if (removal.kind === 'held' || unsettled.isOverfull) this.#plan.askFull();
    return { kind: 'refreshed', list: planned.kind, summary };
  }

  async #merge(
    part: Pick<ReconcileOptions, 'columns' | 'isFull' | 'rows' | 'absent'>,
    { known, nowMs, readAssignment, apply, breathe }: RefreshOptions,
  ): Promise<ReconcileSummary> {
    const provider = this.name;
    const guard = this.#guard;
    const batches = reconcileList({ provider, known, nowMs, readAssignment, guard, ...part });
    try {
      let step = batches.next();
      while (step.done !== true) {
        await apply(step.value, provider);
        step = batches.next();
        if (step.done !== true) await breathe?.();
      }
      return step.value;
    } catch (error) {
      // An unknown part of the List was applied.
      this.lookAgain();
      throw error;
    }
  }
}

type Answered = Extract<ListAnswer, { readonly kind: 'scanned' }>;
type Listed = Answered | { readonly kind: 'failed'; readonly error: BigFleetError };

/** A provider should answer a strange cursor in full; one that refuses it is listed in full. */
function isCursorRefusal(planned: PlannedList, error: BigFleetError): boolean {
  if (planned.kind !== 'delta' || !(error instanceof ProviderError)) return false;
  return error.status !== 'CANCELLED' && isAnswer(error);
}

/** The provider spoke, as opposed to the network. */
function isAnswer(error: ProviderError): boolean {
  return error.failure !== 'unknown_result' || error.code === 'provider_answer_malformed';
}
