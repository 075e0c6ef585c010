// What this shard owns, durable: the assignment and the transfers, their files, and the rules over
// them. Every step is made durable before it takes effect or is acknowledged, with one exception:
// what stops us from acting (a freeze, a machine that is gone) holds from the moment it is decided,
// so that no action slips in while the disk works. Steps run one at a time, in the order they were
// asked for.
//
// assignment.json is written only while a provider is shared, transfers.json before it, so that an
// assignment without transfers means a lost file: then nothing is owned until the coordinator
// answers (security §4.4). A file that cannot be understood refuses the start.

import { assert } from '@bigfleet/base';
import { type DurableFile, readDurably, writeDurably } from '../rails/durable-file.ts';
import {
  domainId,
  type Domain,
  type DomainRef,
  extendAssignment,
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
import { OwnershipRules } from './ownership-rules.ts';
import type { ProviderDirectory } from './provider-directory.ts';
import {
  claimedIn,
  clearedIn,
  emptyBook,
  foldRecord,
  frozenIn,
  goneIn,
  releasedIn,
  settledIn,
  stepsOf,
  type TransferBook,
  type TransferStep,
} from './transfer-book.ts';

export interface OwnershipFiles {
  readonly assignment: DurableFile;
  readonly transfers: DurableFile;
}

export interface OwnershipStoreOptions {
  readonly files: OwnershipFiles;
  readonly directory: Pick<ProviderDirectory, 'get' | 'hasShared'>;
}

/** Machines whose ownership may have changed. */
export type OwnershipChange = readonly string[] | 'all';

export async function openOwnershipStore(options: OwnershipStoreOptions): Promise<OwnershipStore> {
  const { assignment, transfers } = options.files;
  const book = await readDurably(transfers, 'transfers_file_corrupt', parseTransfers);
  const stored = await readDurably(assignment, 'assignment_file_corrupt', parseAssignment);
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

  /** A change of the book that moves no machine, or frees these: durable before they are free. */
  note(edit: (book: TransferBook) => TransferBook, freed: readonly string[] = []): Promise<void> {
    return this.#inTurn(async () => {
      const book = edit(this.#book);
      if (book === this.#book) return;
      await this.#persistBook(book);
      this.#install(book, this.#assignment, freed);
    });
  }

  /** Holds at once; durable when it resolves. When it rejects nothing is frozen. */
  freeze(step: TransferStep): Promise<void> {
    const ids = step.machineIds;
    return this.#holding(this.#beingFrozen, ids, ids, () =>
      this.note((book) => frozenIn(book, step), ids),
    );
  }

  /**
   * Adopted machines that are no more: not this shard's at once, durable when it resolves, and its own
   * again when it rejects. Once reported, the ledger gives the id back to its domain or home; a machine made
   * of the same slot meanwhile would have two owners.
   */
  lose(gone: readonly MachineOverride[]): Promise<void> {
    const ids = gone.map(({ machineId }) => machineId);
    return this.#holding(this.#beingLost, ids, ids, () =>
      this.note((book) => goneIn(book, gone), ids),
    );
  }

  release(step: TransferStep): Promise<void> {
    return this.#inTurn(() => this.#move(releasedIn(this.#book, step), step));
  }

  claim(step: TransferStep): Promise<void> {
    return this.#inTurn(() => this.#move(claimedIn(this.#book, step), step));
  }

  /**
   * Domains that are being given up, and hold nothing of ours: nothing enters there from this moment,
   * durable when it resolves, and open again when it rejects. Before the report that is silent about
   * them: its answer may be lost, and a machine that runs there afterwards is the next owner's.
   */
  empty(domains: readonly Domain[]): Promise<void> {
    const ids = new Set(domains.map(domainId));
    return this.#holding(this.#beingEmptied, ids, 'all', () =>
      this.change((assignment) => withEmpty(assignment, ids)),
    );
  }

  /** The rules count these ids as if the disk said so already, until it does or refuses. */
  async #holding(
    held: Set<string>,
    ids: Iterable<string>,
    change: OwnershipChange,
    write: () => Promise<void>,
  ): Promise<void> {
    for (const id of ids) held.add(id);
    this.#changed(change);
    try {
      await write();
    } finally {
      for (const id of ids) held.delete(id);
      this.#changed(change);
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
    for (const step of namedSteps(incoming.released)) {
      if (book.records.get(step.transferId)?.state === 'frozen') book = releasedIn(book, step);
    }
    const known = new Set(this.#assignment.adopted.map(overrideKey));
    const fresh = incoming.adopted.filter((override) => !known.has(overrideKey(override)));
    for (const step of namedSteps(fresh)) book = claimedIn(book, mergedStep(book, step));
    return book;
  }

  async #move(book: TransferBook, { transferId, machineIds }: TransferStep): Promise<void> {
    const record = book.records.get(transferId);
    assert(record !== undefined, 'a step is in the book that it made', { transferId });
    const assignment = foldRecord(this.#assignment, record);
    await this.#persist(book, assignment);
    if (assignment.revision < this.#revision) this.#revision = assignment.revision;
    this.#install(book, assignment, machineIds);
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
      factsOf: (provider) => this.#options.directory.get(provider),
    });
  }

  async #persist(book: TransferBook, assignment: StoredAssignment): Promise<void> {
    const isShared =
      this.#options.directory.hasShared || assignment.providers.some((p) => p.isShared);
    if (!isShared && !this.#hasFiles) return;
    await this.#persistBook(book);
    const { files } = this.#options;
    await writeDurably(files.assignment, 'ownership_unwritable', formatAssignment(assignment));
  }

  async #persistBook(book: TransferBook): Promise<void> {
    const { files } = this.#options;
    await writeDurably(files.transfers, 'ownership_unwritable', formatTransfers(book));
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
  return [...book.records.values()]
    .filter(({ order, state }) => order > assignment.foldedOrder && state !== 'frozen')
    .sort((a, b) => a.order - b.order)
    .reduce(foldRecord, assignment);
}

/** An override of a ledger that forgot its transfer is no step of ours. */
function namedSteps(overrides: readonly MachineOverride[]): readonly TransferStep[] {
  return stepsOf(overrides.filter(({ transferId }) => transferId !== ''));
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
