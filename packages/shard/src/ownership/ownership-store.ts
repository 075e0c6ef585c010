// What this shard owns, durable: the assignment and the transfers, their files, and the rules over
// them. Every step is made durable before it takes effect or is acknowledged, with one exception:
// what stops us from acting (a freeze, a machine that is gone) holds from the moment it is decided,
// so that no action slips in while the disk works. Steps run one at a time, in the order they were
// asked for.
//
// assignment.json is written only while a provider is shared, transfers.json before it, so that an
// assignment without transfers means a lost file: then nothing is owned until the coordinator
// answers (security §4.4). A file that cannot be understood refuses the start.

import { BigFleetError, describeThrown, type Result } from '@bigfleet/base';
import type { DurableFile } from '../rails/durable-file.ts';
import {
  domainId,
  type DomainRef,
  extendAssignment,
  foldOverrides,
  isAuthoritative,
  type MachineOverride,
  noAssignmentYet,
  replaceAssignment,
  type ShardAssignment,
  type StoredAssignment,
  withEmpty,
  withReleasing,
} from './assignment.ts';
import {
  formatAssignment,
  parseAssignment,
  formatTransfers,
  parseTransfers,
} from './ownership-files.ts';
import { OwnershipRules, type RuleInputs } from './ownership-rules.ts';
import {
  claimedIn,
  clearedIn,
  emptyBook,
  frozenIn,
  goneIn,
  releasedIn,
  settledIn,
  type TransferBook,
  type TransferStep,
} from './transfer-book.ts';
import { writeDurably } from './durable-json.ts';

export interface OwnershipFiles {
  readonly assignment: DurableFile;
  readonly transfers: DurableFile;
}

export interface OwnershipStoreOptions {
  readonly files: OwnershipFiles;
  readonly factsOf: RuleInputs['factsOf'];
  /** Whether any provider is shared, as of now. */
  readonly hasShared: () => boolean;
}

/** Machines whose ownership may have changed. */
export type OwnershipChange = readonly string[] | 'all';

export async function openOwnershipStore(options: OwnershipStoreOptions): Promise<OwnershipStore> {
  const { assignment, transfers } = options.files;
  const book = await load(transfers, parseTransfers, 'transfers_file_corrupt');
  const stored = await load(assignment, parseAssignment, 'assignment_file_corrupt');
  const isTrusted = stored !== undefined && book !== undefined;
  return new OwnershipStore(options, {
    book: book ?? emptyBook,
    assignment: isTrusted ? foldAll(stored, book) : noAssignmentYet,
    hasFiles: stored !== undefined || book !== undefined,
  });
}

interface Opened {
  readonly book: TransferBook;
  readonly assignment: StoredAssignment;
  readonly hasFiles: boolean;
}

export class OwnershipStore {
  readonly #options: OwnershipStoreOptions;
  readonly #beingFrozen = new Set<string>();
  readonly #beingLost = new Set<string>();
  readonly #beingEmptied = new Set<string>();
  readonly #listeners: ((change: OwnershipChange) => void)[] = [];
  #assignment: StoredAssignment;
  #book: TransferBook;
  #rules: OwnershipRules;
  /** What the last report may name; 0 asks for the whole assignment again. */
  #revision: bigint;
  #hasFiles: boolean;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: OwnershipStoreOptions, { book, assignment, hasFiles }: Opened) {
    this.#options = options;
    this.#assignment = assignment;
    this.#book = book;
    this.#revision = assignment.revision;
    this.#hasFiles = hasFiles;
    this.#rules = this.#makeRules();
  }

  get assignment(): StoredAssignment {
    return this.#assignment;
  }

  get book(): TransferBook {
    return this.#book;
  }

  /** Applied and durable. */
  get revision(): bigint {
    return this.#revision;
  }

  get rules(): OwnershipRules {
    return this.#rules;
  }

  onChange(listener: (change: OwnershipChange) => void): void {
    this.#listeners.push(listener);
  }

  /** Resolves when the assignment is durable and in force. `held`: see `heldForeignDomains`. */
  apply(incoming: ShardAssignment, held: readonly DomainRef[] = []): Promise<void> {
    return this.#inTurn(async () => {
      const isWhole = isAuthoritative(this.#assignment, incoming);
      const book = isWhole ? this.#followed(incoming) : this.#book;
      const assignment = isWhole
        ? withReleasing(replaceAssignment(this.#assignment, incoming, book.lastOrder), held)
        : extendAssignment(this.#assignment, incoming);
      await this.#persist(book, assignment);
      this.#revision = isWhole ? incoming.revision : 0n;
      this.#install(book, assignment, 'all');
      if (isWhole) await this.#settle(incoming);
    });
  }

  /** A change of the assignment by an instruction. */
  change(edit: (assignment: StoredAssignment) => StoredAssignment): Promise<void> {
    return this.#inTurn(async () => {
      const assignment = edit(this.#assignment);
      if (assignment === this.#assignment) return;
      await this.#persist(this.#book, assignment);
      this.#install(this.#book, assignment, 'all');
    });
  }

  /** A change of the book that moves nothing. */
  note(edit: (book: TransferBook) => TransferBook): Promise<void> {
    return this.#inTurn(async () => {
      const book = edit(this.#book);
      if (book === this.#book) return;
      const changed = [...this.#book.gone.keys(), ...book.gone.keys()];
      await this.#persistBook(book);
      this.#install(book, this.#assignment, changed);
    });
  }

  /** Holds at once; durable when it resolves. When it rejects nothing is frozen. */
  async freeze(step: TransferStep): Promise<void> {
    for (const id of step.machineIds) this.#beingFrozen.add(id);
    this.#changed(step.machineIds);
    try {
      await this.#inTurn(async () => {
        const book = frozenIn(this.#book, step);
        await this.#persistBook(book);
        this.#book = book;
      });
    } finally {
      for (const id of step.machineIds) this.#beingFrozen.delete(id);
      this.#changed(step.machineIds);
    }
  }

  /**
   * Adopted machines that are no more: not this shard's at once, durable when it resolves, and its own
   * again when it rejects. Once reported, the ledger gives the id back to its domain or home; a machine made
   * of the same slot meanwhile would have two owners.
   */
  async lose(gone: readonly MachineOverride[]): Promise<void> {
    const ids = gone.map(({ machineId }) => machineId);
    for (const id of ids) this.#beingLost.add(id);
    this.#changed(ids);
    try {
      await this.#inTurn(async () => {
        const book = goneIn(this.#book, gone);
        await this.#persistBook(book);
        this.#book = book;
      });
    } finally {
      for (const id of ids) this.#beingLost.delete(id);
      this.#changed(ids);
    }
  }

  /** CANCEL, or another edit that gives machines back. Durable before they are free. */
  unfreeze(edit: (book: TransferBook) => TransferBook, ids: readonly string[]): Promise<void> {
    return this.#inTurn(async () => {
      const book = edit(this.#book);
      await this.#persistBook(book);
      this.#install(book, this.#assignment, ids);
    });
  }

  release(step: TransferStep): Promise<void> {
    return this.#inTurn(async () => {
      const book = releasedIn(this.#book, step);
      const released = overridesOf(step);
      const { lastOrder: order } = book;
      await this.#move(book, foldOverrides(this.#assignment, { released, order }), step);
    });
  }

  claim(step: TransferStep): Promise<void> {
    return this.#inTurn(async () => {
      const book = claimedIn(this.#book, step);
      const adopted = overridesOf(step);
      const { lastOrder: order } = book;
      await this.#move(book, foldOverrides(this.#assignment, { adopted, order }), step);
    });
  }

  /**
   * Domains that are being given up, and hold nothing of ours: nothing enters there from this moment,
   * durable when it resolves, and open again when it rejects. Before the report that is silent about
   * them: its answer may be lost, and a machine that runs there afterwards is the next owner's.
   */
  async empty(domains: readonly Pick<DomainRef, 'key' | 'value'>[]): Promise<void> {
    const ids = new Set(domains.map(domainId));
    for (const id of ids) this.#beingEmptied.add(id);
    this.#changed('all');
    try {
      await this.change((assignment) => withEmpty(assignment, ids));
    } finally {
      for (const id of ids) this.#beingEmptied.delete(id);
      this.#changed('all');
    }
  }

  /**
   * The ledger has taken a report and sent no assignment. It must say all the same whose an emptied domain is
   * now: a ledger that was restored may never have known the domain, and would never mention it.
   */
  askAboutEmpty(): void {
    const { releasing, revision } = this.#assignment;
    if (revision > 0n && releasing.some(({ isEmpty }) => isEmpty)) this.#revision = revision - 1n;
  }

  /**
   * Drops records that the new assignment makes needless. Only after the assignment is on the disk: with the
   * one before, a machine that is gone or was released would be this shard's again.
   */
  async #settle({ adopted, released }: ShardAssignment): Promise<void> {
    const book = settledIn(clearedIn(this.#book, adopted), released);
    if (book === this.#book) return;
    if (this.#hasFiles) await this.#persistBook(book);
    this.#install(book, this.#assignment, []);
  }

  /** What a whole assignment says about our transfers, as steps of our own. */
  #followed(incoming: ShardAssignment): TransferBook {
    let book = this.#book;
    for (const step of stepsOf(incoming.released)) {
      if (book.records.get(step.transferId)?.state === 'frozen') book = releasedIn(book, step);
    }
    const known = new Set(this.#assignment.adopted.map(overrideKey));
    const fresh = incoming.adopted.filter((override) => !known.has(overrideKey(override)));
    for (const step of stepsOf(fresh)) book = claimedIn(book, mergedStep(book, step));
    return book;
  }

  async #move(book: TransferBook, assignment: StoredAssignment, step: TransferStep): Promise<void> {
    await this.#persist(book, assignment);
    if (assignment.revision < this.#revision) this.#revision = assignment.revision;
    this.#install(book, assignment, step.machineIds);
  }

  #install(book: TransferBook, assignment: StoredAssignment, change: OwnershipChange): void {
    this.#book = book;
    this.#assignment = assignment;
    this.#changed(change);
  }

  #changed(change: OwnershipChange): void {
    this.#rules = this.#makeRules();
    for (const listener of this.#listeners) listener(change);
  }

  #makeRules(): OwnershipRules {
    return new OwnershipRules({
      assignment: this.#assignment,
      book: this.#book,
      beingFrozen: this.#beingFrozen,
      beingLost: this.#beingLost,
      beingEmptied: this.#beingEmptied,
      factsOf: this.#options.factsOf,
    });
  }

  async #persist(book: TransferBook, assignment: StoredAssignment): Promise<void> {
    const isShared = this.#options.hasShared() || assignment.providers.some((p) => p.isShared);
    if (!isShared && !this.#hasFiles) return;
    await this.#persistBook(book);
    await writeDurably(this.#options.files.assignment, formatAssignment(assignment));
  }

  async #persistBook(book: TransferBook): Promise<void> {
    await writeDurably(this.#options.files.transfers, formatTransfers(book));
    this.#hasFiles = true;
  }

  /** A step that fails fails its caller, not the next one. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work, work);
    this.#queue = turn.catch(() => {});
    return turn;
  }
}

/** Steps that reached transfers.json but not yet assignment.json before the process ended. */
function foldAll(assignment: StoredAssignment, book: TransferBook): StoredAssignment {
  const late = [...book.records.values()]
    .filter(({ order, state }) => order > assignment.foldedOrder && state !== 'frozen')
    .sort((a, b) => a.order - b.order);
  let folded = assignment;
  for (const record of late) {
    const overrides = overridesOf(record);
    folded = foldOverrides(folded, {
      [record.state === 'claimed' ? 'adopted' : 'released']: overrides,
      order: record.order,
    });
  }
  return folded;
}

function overridesOf({ transferId, peerShardId, machineIds }: TransferStep): MachineOverride[] {
  return machineIds.map((machineId) => ({ machineId, transferId, peerShardId }));
}

function stepsOf(overrides: readonly MachineOverride[]): readonly TransferStep[] {
  const steps = new Map<string, { peerShardId: string; machineIds: string[] }>();
  for (const { transferId, peerShardId, machineId } of overrides) {
    if (transferId === '') continue;
    const step = steps.get(transferId);
    if (step === undefined) steps.set(transferId, { peerShardId, machineIds: [machineId] });
    else step.machineIds.push(machineId);
  }
  return [...steps].map(([transferId, step]) => ({ transferId, ...step }));
}

/** A transfer may arrive in parts: machines that were claimed before stay claimed. */
function mergedStep(book: TransferBook, step: TransferStep): TransferStep {
  const before = book.records.get(step.transferId);
  if (before?.state !== 'claimed') return step;
  return { ...step, machineIds: [...new Set([...before.machineIds, ...step.machineIds])] };
}

function overrideKey({ machineId, transferId }: MachineOverride): string {
  return JSON.stringify([machineId, transferId]);
}

async function load<T>(
  file: DurableFile,
  parse: (text: string) => Result<T, string>,
  code: 'transfers_file_corrupt' | 'assignment_file_corrupt',
): Promise<T | undefined> {
  let text: string | undefined;
  try {
    text = await file.read();
  } catch (cause) {
    const problem = `${file.path} cannot be read: ${describeThrown(cause)}`;
    throw new BigFleetError(code, problem, { cause });
  }
  if (text === undefined) return undefined;
  const parsed = parse(text);
  if (parsed.ok) return parsed.value;
  throw new BigFleetError(code, `${file.path} cannot be used: ${parsed.error}`);
}
