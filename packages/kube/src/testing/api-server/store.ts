// The objects of one cluster under one growing revision, and the log of their latest changes. A stored
// version is never changed in place (only a new schema rewrites it, as a real server does when it reads), so
// lists, the log and every watch share one object and one serialised text. The log is bounded: what falls
// out of it is compacted, and a reader that asks for something older is told so.
//
// Cost: a write is a map entry and an insertion into the sorted keys of its collection; a page of a list
// touches its own objects, plus the log's entries since the list's revision.

import { assert } from '@bigfleet/base';
import { type Obj, ownMeta } from './json.ts';

export class Stored {
  object: Obj;
  readonly revision: number;
  #text: string | undefined;

  constructor(object: Obj, revision: number) {
    this.object = object;
    this.revision = revision;
  }

  /** JSON, made once for all lists and watches. */
  get text(): string {
    this.#text ??= JSON.stringify(this.object);
    return this.#text;
  }

  rewrite(object: Obj): void {
    this.object = object;
    this.#text = undefined;
  }
}

export interface Change {
  readonly revision: number;
  readonly collection: string;
  readonly key: string;
  readonly before: Stored | undefined;
  /** The new version; for a removal the last one, under the removal's revision. */
  readonly after: Stored;
  readonly isRemoval: boolean;
}

export interface JournalEntry {
  readonly revision: number;
  readonly collection: string;
  readonly key: string;
  /** Null: removed. */
  readonly object: Obj | null;
}

export interface StoreOptions {
  /** Changes that stay readable for watches and continued lists. */
  readonly logLimit: number;
  readonly onChange: (change: Change) => void;
  readonly journal?: ((entry: JournalEntry) => void) | undefined;
}

/** New keys below this number are inserted one by one; more are sorted in together. */
const FEW_KEYS = 32;

class Collection {
  readonly objects = new Map<string, Stored>();
  #keys: string[] = [];
  /** Not yet in order: a burst of creates is sorted once, by the next reader. */
  #fresh: string[] = [];

  /** In byte order, as etcd lists. */
  get keys(): readonly string[] {
    if (this.#fresh.length > FEW_KEYS) {
      this.#keys = this.#keys.concat(this.#fresh).toSorted((a, b) => (a < b ? -1 : 1));
    } else for (const key of this.#fresh) this.#keys.splice(lowerBound(this.#keys, key), 0, key);
    if (this.#fresh.length > 0) this.#fresh = [];
    return this.#keys;
  }

  put(key: string, stored: Stored): void {
    if (!this.objects.has(key)) this.#fresh.push(key);
    this.objects.set(key, stored);
  }

  remove(key: string): void {
    if (!this.objects.delete(key)) return;
    const index = lowerBound(this.keys, key);
    this.#keys.splice(index, 1);
  }
}

export class Store {
  readonly #options: StoreOptions;
  readonly #collections = new Map<string, Collection>();
  #log: Change[] = [];
  /** Entries of the log before this index are dropped; they are cut off in blocks. */
  #logStart = 0;
  #revision = 1;
  #compacted = 0;

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Changes up to this revision cannot be read any more. */
  get compactedRevision(): number {
    return this.#compacted;
  }

  get(collection: string, key: string): Stored | undefined {
    return this.#collections.get(collection)?.objects.get(key);
  }

  count(collection: string): number {
    return this.#collections.get(collection)?.objects.size ?? 0;
  }

  collections(): IterableIterator<string> {
    return this.#collections.keys();
  }

  values(collection: string): Iterable<Stored> {
    return this.#collections.get(collection)?.objects.values() ?? [];
  }

  /** Objects whose key starts with `prefix`, in order, from `from` on. */
  *range(collection: string, prefix: string, from = ''): IterableIterator<[string, Stored]> {
    const found = this.#collections.get(collection);
    if (found === undefined) return;
    const { keys } = found;
    for (let i = lowerBound(keys, from > prefix ? from : prefix); i < keys.length; i++) {
      const key = keys[i] ?? '';
      if (!key.startsWith(prefix)) return;
      const stored = found.objects.get(key);
      assert(stored !== undefined, 'every key has its object', { key });
      yield [key, stored];
    }
  }

  /** How many objects `range` would give. */
  countFrom(collection: string, prefix: string, from: string): number {
    const keys = this.#collections.get(collection)?.keys ?? [];
    const start = lowerBound(keys, from > prefix ? from : prefix);
    return (prefix === '' ? keys.length : lowerBound(keys, `${prefix}\uffff`)) - start;
  }

  /** The same, as of an older revision: the log's changes since then, undone. */
  *rangeAt(
    collection: string,
    prefix: string,
    { from, revision }: { readonly from: string; readonly revision: number },
  ): IterableIterator<[string, Stored]> {
    const undone = new Map<string, Stored | undefined>();
    for (let i = this.#log.length - 1; i >= this.#logStart; i--) {
      const change = this.#log[i];
      if (change === undefined || change.revision <= revision) break;
      if (change.collection === collection) undone.set(change.key, change.before);
    }
    const gone = [...undone]
      .filter(([key, before]) => before !== undefined && this.get(collection, key) === undefined)
      .map(([key]) => key)
      .filter((key) => key.startsWith(prefix) && key >= from)
      .toSorted((a, b) => (a < b ? -1 : 1));
    let next = 0;
    for (const [key, stored] of this.range(collection, prefix, from)) {
      for (; (gone[next] ?? key) < key; next++) {
        const old = undone.get(gone[next] ?? '');
        if (old !== undefined) yield [gone[next] ?? '', old];
      }
      const then = undone.has(key) ? undone.get(key) : stored;
      if (then !== undefined) yield [key, then];
    }
    for (; next < gone.length; next++) {
      const old = undone.get(gone[next] ?? '');
      if (old !== undefined) yield [gone[next] ?? '', old];
    }
  }

  /** Takes the object over: the caller must not change it afterwards. */
  put(collection: string, key: string, object: Obj): Stored {
    const before = this.get(collection, key);
    const revision = ++this.#revision;
    ownMeta(object)['resourceVersion'] = String(revision);
    const after = new Stored(object, revision);
    this.#collectionOf(collection).put(key, after);
    this.#record({ revision, collection, key, before, after, isRemoval: false });
    return after;
  }

  remove(collection: string, key: string): Stored {
    const before = this.get(collection, key);
    assert(before !== undefined, 'only an object that is there is removed', { collection, key });
    const revision = ++this.#revision;
    const metadata = { ...ownMeta(before.object), resourceVersion: String(revision) };
    const after = new Stored({ ...before.object, metadata }, revision);
    this.#collectionOf(collection).remove(key);
    this.#record({ revision, collection, key, before, after, isRemoval: true });
    return after;
  }

  /** A journal's entry at start: no change for watches, and no older revision to read. */
  restore({ revision, collection, key, object }: JournalEntry): void {
    if (object === null) this.#collectionOf(collection).remove(key);
    else this.#collectionOf(collection).put(key, new Stored(object, revision));
    this.#revision = Math.max(this.#revision, revision);
    this.#compacted = this.#revision;
  }

  /** Changes after `revision`, oldest first. The caller has checked that they are not compacted. */
  *since(collection: string, revision: number): IterableIterator<Change> {
    for (let i = this.#firstAfter(revision); i < this.#log.length; i++) {
      const change = this.#log[i];
      if (change?.collection === collection) yield change;
    }
  }

  /** Forgets every change so far, as etcd's compaction at the current revision. */
  compact(): void {
    this.#log = [];
    this.#logStart = 0;
    this.#compacted = this.#revision;
  }

  /** A new schema: every version that can still be read is read through it. */
  rewrite(collection: string, read: (object: Obj) => Obj): void {
    const seen = new Set<Stored>();
    const rewriteOnce = (stored: Stored | undefined): void => {
      if (stored === undefined || seen.has(stored)) return;
      seen.add(stored);
      stored.rewrite(read(stored.object));
    };
    for (const stored of this.values(collection)) rewriteOnce(stored);
    for (let i = this.#logStart; i < this.#log.length; i++) {
      const change = this.#log[i];
      if (change?.collection !== collection) continue;
      rewriteOnce(change.before);
      rewriteOnce(change.after);
    }
  }

  #record(change: Change): void {
    this.#log.push(change);
    const over = this.#log.length - this.#logStart - this.#options.logLimit;
    if (over > 0) {
      this.#compacted = this.#log[this.#logStart]?.revision ?? this.#compacted;
      this.#logStart += over;
      // Cut off in blocks, so that a full log costs a copy per block and not per write.
      if (this.#logStart >= this.#options.logLimit) {
        this.#log = this.#log.slice(this.#logStart);
        this.#logStart = 0;
      }
    }
    const { revision, collection, key, after, isRemoval } = change;
    this.#options.journal?.({ revision, collection, key, object: isRemoval ? null : after.object });
    this.#options.onChange(change);
  }

  #firstAfter(revision: number): number {
    let low = this.#logStart;
    let high = this.#log.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#log[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #collectionOf(name: string): Collection {
    let found = this.#collections.get(name);
    if (found === undefined) this.#collections.set(name, (found = new Collection()));
    return found;
  }
}

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
