// Keeps one collection of the API server as a map of small records, for ever (kubernetes §8.2). The
// map is complete from the first full list on: a relist builds a new map beside it and swaps it in one
// turn, so that a reader never sees half a cluster. A watch that ends, breaks, falls silent or is
// answered 410 is taken up again here; nobody above has to restart anything.
//
// The reader turns each object into a record at once and the object is dropped: a cluster's Pods do not
// fit into an operator's memory, what it needs of them does. Readers and observers are synchronous; a
// throw of theirs is counted and answered with a relist, because the record of that object is unknown.
//
// States: listing (no watch; the old map, if any, stays in use) → watching (from the list's or the last
// event's resourceVersion) → listing after 410, a change of the schema, a thrown reader, bytes that are no
// event, or every few hours as a safety net; → waiting between attempts after a failure, and before a
// list that follows another too soon: a server that answers every watch with 410 or with nonsense must
// not be asked for a hundred thousand objects in a tight loop.

import {
  AssertionError,
  Backoff,
  BigFleetError,
  describeThrown,
  type ErrorCode,
  type Runtime,
  sleep,
  type Timer,
  toBigFleetError,
} from '@bigfleet/base';
import {
  type ApiAnswer,
  type ApiObject,
  type ApiRefusal,
  answerOf,
  describeRefusal,
  isObject,
  parsedObject,
  refusalOf,
  textOf,
} from '../api/answer.ts';
import { type KubeClient, queryText } from '../api/client.ts';
import { collectionPath, type Resource } from '../api/resource.ts';
import type { KubeHttpResponse } from '../transport/transport.ts';
import { linesOf } from './lines.ts';

export interface ReflectorOptions<T> {
  readonly runtime: Runtime;
  readonly client: Pick<KubeClient, 'get' | 'list' | 'transport'>;
  readonly resource: Resource;
  /** One object of the cluster alone, with the rights to get and watch that one. */
  readonly only?: string | undefined;
  /** The record of an object, or undefined to leave the object out. */
  readonly read: (object: ApiObject, meta: ObjectMeta) => T | undefined;
  readonly observer: ReflectorObserver<T>;
}

/** What every object has; `key` is namespace/name, or the name of one without a namespace. */
export interface ObjectMeta {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface ReflectorObserver<T> {
  /** A record is new or differs. `before` is undefined for a new one. */
  upserted?(key: string, record: T, before: T | undefined): void;
  removed?(key: string, before: T): void;
  /** The first full list is done; all its `upserted` calls came before. */
  synced?(): void;
  relisted?(reason: RelistReason, differences: number): void;
  /** Anything that arrived: an event, a bookmark, a page. */
  heard?(): void;
  /** The next attempt comes by itself; for logs and metrics. */
  failed?(failure: ReflectorFailure): void;
}

export type RelistReason = 'initial' | 'expired' | 'schema' | 'reader' | 'periodic' | 'malformed';

export interface ReflectorFailure {
  readonly what: 'list' | 'watch' | 'reader';
  readonly code: ErrorCode;
  readonly problem: string;
  /** 403 and 404: rights or the CRD are missing, so the cluster's owner has to act. */
  readonly needsOwner: boolean;
  /** What the server asked for, at least. */
  readonly retryAfterSeconds?: number | undefined;
}

interface Entry<T> {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Undefined: seen, and left out by the reader. */
  readonly record: T | undefined;
}

const PAGE_LIMIT = 500;
const MAX_SHOWN_LENGTH = 100;
const CONNECT_TIMEOUT_MS = 30_000;
/**
 * Bookmarks come about every minute; silence beyond this may be a dead connection. It may also be a
 * collection without a single event since the server's own list: such a watch gets no bookmark.
 */
const SILENCE_MS = 90_000;
const WATCH_SECONDS = { least: 290, span: 300 };
const RETRY = { initialMs: 800, maxMs: 30_000, jitter: 1 };
/** While rights or the CRD are missing. */
const OWNER_RETRY_MS = { least: 10_000, span: 20_000 };
const SAFETY_RELIST_MS = { least: 6 * 3_600_000, span: 6 * 3_600_000 };
/** Before a list that the server or a reader forced. The first wait is short jitter, so that the clients
 * of a compacted server do not all list at once. */
const FORCED_RELIST = { initialMs: 1_000, maxMs: 60_000, jitter: 1 };
/** Forced lists further apart than this are separate mishaps. */
const FORCED_RELIST_MEMORY_MS = 600_000;
const FORCED_REASONS: ReadonlySet<RelistReason> = new Set(['expired', 'reader', 'malformed']);

export class Reflector<T> {
  readonly #options: ReflectorOptions<T>;
  readonly #backoff: Backoff;
  readonly #forcedBackoff: Backoff;
  #forcedAtMs = Number.NEGATIVE_INFINITY;
  #entries = new Map<string, Entry<T>>();
  #resourceVersion = '';
  /** A watch brought something since the last list. */
  #isListUsed = false;
  #isSynced = false;
  /** Set: the next step is a list, for this reason. */
  #relist: RelistReason | undefined = 'initial';
  /** The schema changed while a list was under way, which may have begun before the change. */
  #isSchemaStale = false;
  #watch: AbortController | undefined;
  #safetyTimer: Timer | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    const random = options.runtime.random.stream(`reflector ${options.resource.plural}`);
    this.#backoff = new Backoff(random, RETRY);
    this.#forcedBackoff = new Backoff(random, FORCED_RELIST);
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)?.record;
  }

  *records(): IterableIterator<T> {
    for (const { record } of this.#entries.values()) if (record !== undefined) yield record;
  }

  /** A full list beside the watch's map: after a change of the schema, resuming is not enough. */
  relist(reason: RelistReason): void {
    if (reason === 'schema' && this.#relist !== undefined) this.#isSchemaStale = true;
    this.#relist ??= reason;
    this.#watch?.abort(new BigFleetError('cancelled', 'a list is due'));
  }

  /** Until `signal` aborts; never rejects for another reason than a bug. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = (): void => this.#safetyTimer?.cancel();
    signal.addEventListener('abort', stop, { once: true });
    while (!signal.aborted) {
      const failure = await this.#step(signal);
      if (signal.aborted) return;
      if (failure !== undefined) this.#options.observer.failed?.(failure);
      const waitMs = failure === undefined ? 0 : this.#waitMs(failure);
      if (waitMs > 0) await sleep(this.#options.runtime, waitMs, signal).catch(() => undefined);
    }
  }

  /** One list or one watch; what went wrong, if anything. */
  async #step(signal: AbortSignal): Promise<ReflectorFailure | undefined> {
    const what = this.#relist === undefined ? 'watch' : 'list';
    try {
      if (what === 'list') return await this.#listAll(signal);
      const failure = await this.#watchOnce(signal);
      await this.#waitBeforeForcedList(signal);
      return failure;
    } catch (error) {
      // An abort carries whatever reason its owner gave.
      if (!signal.aborted && !(error instanceof BigFleetError)) throw error;
      const { code, message: problem } = toBigFleetError(error, 'cancelled');
      return { what, code, problem, needsOwner: false };
    }
  }

  #waitMs(failure: ReflectorFailure): number {
    const { runtime } = this.#options;
    // Rights that were there before come back: an API server that starts has not read them yet.
    if (failure.needsOwner && !this.#isSynced) {
      return OWNER_RETRY_MS.least + runtime.random.float() * OWNER_RETRY_MS.span;
    }
    return Math.max(this.#backoff.nextMs(), (failure.retryAfterSeconds ?? 0) * 1000);
  }

  /** The old set stays in use meanwhile. */
  async #waitBeforeForcedList(signal: AbortSignal): Promise<void> {
    if (this.#relist === undefined || !FORCED_REASONS.has(this.#relist)) return;
    const { runtime } = this.#options;
    const nowMs = runtime.clock.monotonicMs();
    if (nowMs - this.#forcedAtMs > FORCED_RELIST_MEMORY_MS) this.#forcedBackoff.reset();
    this.#forcedAtMs = nowMs;
    await sleep(runtime, this.#forcedBackoff.nextMs(), signal);
  }

  // ── listing ─────────────────────────────────────────────────────────────────────────────

  /**
   * Every page, then the swap. Before the first sync nobody reads the map, so pages go into it as they
   * come and the turn at the end stays short.
   */
  async #listAll(signal: AbortSignal): Promise<ReflectorFailure | undefined> {
    const { runtime, observer } = this.#options;
    const reason = this.#relist ?? 'initial';
    const fresh = new Map<string, Entry<T>>();
    let resourceVersion = '';
    let next: Promise<ApiAnswer> | undefined = this.#page(undefined, signal);
    while (next !== undefined) {
      const answer: ApiAnswer = await next;
      // 410: the list's own version was compacted between two pages; the next attempt begins anew.
      if (answer.kind === 'refused') return failureOf('list', answer);
      observer.heard?.();
      const meta = isObject(answer.object['metadata']) ? answer.object['metadata'] : {};
      const items = itemsOf(answer.object);
      resourceVersion = textOf(meta['resourceVersion']);
      next = this.#pageAhead(textOf(meta['continue']), signal);
      for (const item of items) {
        const seen = this.#entryOf(item, reason);
        if (seen === undefined) continue;
        fresh.set(seen.key, seen.entry);
        if (!this.#isSynced) this.#put(seen.key, seen.entry);
      }
      await runtime.timers.turn();
    }
    // The swap arms the timer of the next list; after an abort nobody would take it back.
    if (signal.aborted) return undefined;
    this.#swap(fresh, reason);
    this.#resourceVersion = resourceVersion;
    return undefined;
  }

  /** The server makes the next page while this one is read: two are in memory, never more. */
  #pageAhead(token: string, signal: AbortSignal): Promise<ApiAnswer> | undefined {
    if (token === '') return undefined;
    const page = this.#page(token, signal);
    // Awaited after the page before it, which may fail first.
    page.catch(() => undefined);
    return page;
  }

  /** A list's page; a single object is a page of one. */
  async #page(
    token: string | undefined,
    signal: AbortSignal,
    limit: number = PAGE_LIMIT,
  ): Promise<ApiAnswer> {
    const { client, resource, only } = this.#options;
    if (only === undefined) {
      return client.list(resource, { limit, continue: token }, signal);
    }
    const answer = await client.get(resource, { namespace: '', name: only }, signal);
    if (answer.kind === 'refused') return answer;
    // No version: the object's own may have been compacted long ago, and a watch from it would be
    // answered 410 for ever. A watch without one begins with the object as it is.
    return { kind: 'ok', object: { kind: 'List', metadata: {}, items: [answer.object] } };
  }

  #swap(fresh: Map<string, Entry<T>>, reason: RelistReason): void {
    const { observer } = this.#options;
    const before = this.#entries;
    // First of all: an observer that looks a key up must find what it is told of.
    this.#entries = fresh;
    let differences = 0;
    for (const [key, entry] of this.#isSynced ? fresh : []) {
      if (before.get(key) === entry) continue;
      this.#notify(key, entry, before.get(key));
      differences++;
    }
    for (const [key, entry] of before) {
      if (fresh.has(key)) continue;
      this.#notify(key, undefined, entry);
      differences++;
    }
    this.#relist = this.#isSchemaStale ? 'schema' : undefined;
    this.#isSchemaStale = false;
    if (reason !== 'expired' || this.#isListUsed) this.#backoff.reset();
    this.#isListUsed = false;
    if (!this.#isSynced) {
      this.#isSynced = true;
      observer.synced?.();
    }
    observer.relisted?.(reason, differences);
    this.#armSafetyRelist();
  }

  #armSafetyRelist(): void {
    const { timers, random } = this.#options.runtime;
    const ms = SAFETY_RELIST_MS.least + random.float() * SAFETY_RELIST_MS.span;
    this.#safetyTimer?.cancel();
    this.#safetyTimer = timers.after(ms, () => this.relist('periodic'));
  }

  /** The known entry itself when the object did not change; a new schema may change any object. */
  #entryOf(
    object: unknown,
    reason: RelistReason | undefined,
  ): { readonly key: string; readonly entry: Entry<T> } | undefined {
    if (!isObject(object)) return undefined;
    const meta = metaOf(object);
    if (meta === undefined) return undefined;
    const { key, uid, resourceVersion } = meta;
    const known = this.#entries.get(key);
    const isKnown = known?.uid === uid && known.resourceVersion === resourceVersion;
    if (isKnown && reason !== 'schema' && reason !== 'reader') return { key, entry: known };
    return { key, entry: { uid, resourceVersion, record: this.#read(object, meta) } };
  }

  #read(object: ApiObject, meta: ObjectMeta): T | undefined {
    try {
      return this.#options.read(object, meta);
    } catch (error) {
      this.#threw(meta.key, error);
      return undefined;
    }
  }

  /** A list is the answer to a throw in a watch; the throw in a list is left at its report. */
  #threw(key: string, error: unknown): void {
    if (error instanceof AssertionError) throw error;
    const problem = `${key}: ${describeThrown(error)}`;
    const code = 'kube_answer_malformed';
    this.#options.observer.failed?.({ what: 'reader', code, problem, needsOwner: false });
    if (this.#relist === undefined) this.relist('reader');
  }

  #put(key: string, entry: Entry<T>): void {
    const before = this.#entries.get(key);
    if (before === entry) return;
    this.#entries.set(key, entry);
    this.#notify(key, entry, before);
  }

  #notify(key: string, entry: Entry<T> | undefined, before: Entry<T> | undefined): void {
    const { observer } = this.#options;
    try {
      if (entry?.record !== undefined) observer.upserted?.(key, entry.record, before?.record);
      else if (before?.record !== undefined) observer.removed?.(key, before.record);
    } catch (error) {
      this.#threw(key, error);
    }
  }

  // ── watching ────────────────────────────────────────────────────────────────────────────

  async #watchOnce(signal: AbortSignal): Promise<ReflectorFailure | undefined> {
    const watch = new AbortController();
    this.#watch = watch;
    const watchdog = new Watchdog(this.#options.runtime, watch);
    try {
      watchdog.awaitAnswer();
      const response = await this.#options.client.transport.send({
        method: 'GET',
        path: this.#watchPath(),
        isWatch: true,
        signal: AbortSignal.any([signal, watch.signal]),
      });
      return await this.#follow(response, watchdog);
    } catch (error) {
      if (signal.aborted) throw error;
      if (watchdog.hasFallenSilent) return await this.#probe(signal);
      // The watch was ended for a list that is due.
      if (this.#relist !== undefined) return undefined;
      throw error;
    } finally {
      watchdog.cancel();
      this.#watch = undefined;
    }
  }

  /**
   * A collection where nothing happens and a server that is gone look alike on a watch; one small read
   * tells them apart. The watch is then taken up again where it was.
   */
  async #probe(signal: AbortSignal): Promise<ReflectorFailure | undefined> {
    const answer = await this.#page(undefined, signal, 1);
    return answer.kind === 'refused' ? failureOf('watch', answer) : undefined;
  }

  async #follow(
    response: KubeHttpResponse,
    watchdog: Watchdog,
  ): Promise<ReflectorFailure | undefined> {
    const { client, observer } = this.#options;
    if (response.status !== 200) {
      if (response.status === 401) client.transport.refreshCredentials();
      const answer = await answerOf(response);
      return answer.kind === 'refused' ? this.#refused(answer) : undefined;
    }
    watchdog.awaitBytes();
    let eventCount = 0;
    try {
      for await (const line of linesOf(response.body)) {
        watchdog.awaitBytes();
        eventCount++;
        observer.heard?.();
        const failure = this.#apply(line);
        if (failure !== undefined || this.#relist !== undefined) return failure;
        this.#isListUsed = true;
        this.#backoff.reset();
      }
    } finally {
      response.destroy();
    }
    // A server that ends watches at once would otherwise be asked in a tight loop.
    const problem = 'a watch ended without an event';
    if (eventCount > 0) return undefined;
    return { what: 'watch', code: 'kube_unreachable', problem, needsOwner: false };
  }

  #watchPath(): string {
    const { resource, only, runtime } = this.#options;
    const seconds = WATCH_SECONDS.least + runtime.random.float() * WATCH_SECONDS.span;
    return `${collectionPath(resource)}${queryText({
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: this.#resourceVersion,
      timeoutSeconds: Math.floor(seconds),
      fieldSelector: only === undefined ? undefined : `metadata.name=${only}`,
    })}`;
  }

  /** One event. The version is opaque: taken over, never compared. */
  #apply(line: string): ReflectorFailure | undefined {
    const event = parsedObject(line);
    const object = event?.['object'];
    if (event === undefined || !isObject(object)) {
      this.#relist = 'malformed';
      const problem = `no event: ${JSON.stringify(line.slice(0, MAX_SHOWN_LENGTH))}`;
      return { what: 'watch', code: 'kube_answer_malformed', problem, needsOwner: false };
    }
    if (event['type'] === 'ERROR')
      return this.#refused(refusalOf(object, { status: 0, text: line }));
    const meta = isObject(object['metadata']) ? object['metadata'] : {};
    if (event['type'] === 'DELETED') this.#remove(metaOf(object)?.key);
    else if (event['type'] !== 'BOOKMARK') {
      const seen = this.#entryOf(object, undefined);
      if (seen !== undefined) this.#put(seen.key, seen.entry);
    }
    this.#resourceVersion = textOf(meta['resourceVersion']) || this.#resourceVersion;
    return undefined;
  }

  #remove(key: string | undefined): void {
    const before = key === undefined ? undefined : this.#entries.get(key);
    if (key === undefined || before === undefined) return;
    this.#entries.delete(key);
    this.#notify(key, undefined, before);
  }

  #refused(refusal: ApiRefusal): ReflectorFailure | undefined {
    const failure = failureOf('watch', refusal);
    if (refusal.status !== 410) return failure;
    this.#relist = 'expired';
    // A server whose lists are too old for its own watches is a failure that its owner should see.
    return this.#isListUsed ? undefined : failure;
  }
}

/** Aborts the watch that it guards when it hears nothing in time. */
class Watchdog {
  readonly #runtime: Runtime;
  readonly #guarded: AbortController;
  #timer: Timer | undefined;
  #hasFallenSilent = false;

  constructor(runtime: Runtime, guarded: AbortController) {
    this.#runtime = runtime;
    this.#guarded = guarded;
  }

  /** An answered watch brought nothing for too long. */
  get hasFallenSilent(): boolean {
    return this.#hasFallenSilent;
  }

  awaitAnswer(): void {
    this.#arm(CONNECT_TIMEOUT_MS, () => this.#giveUp('the API server did not answer a watch'));
  }

  awaitBytes(): void {
    this.#arm(SILENCE_MS, () => {
      this.#hasFallenSilent = true;
      this.#giveUp('a watch fell silent');
    });
  }

  cancel(): void {
    this.#timer?.cancel();
  }

  #arm(ms: number, fire: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#runtime.timers.after(ms, fire);
  }

  #giveUp(problem: string): void {
    this.#guarded.abort(new BigFleetError('deadline_exceeded', problem));
  }
}

/**
 * The objects of a page. Anything else than a list must not pass as an empty one: the swap would remove
 * every object, and the operator would hand the whole cluster back.
 */
function itemsOf(page: ApiObject): readonly unknown[] {
  const items: unknown = page['items'];
  if (textOf(page['kind']).endsWith('List')) {
    if (Array.isArray(items)) return items;
    // What a Go server makes of a nil slice.
    if (items === null) return [];
  }
  throw new BigFleetError('kube_answer_malformed', `a ${textOf(page['kind'])} instead of a list`);
}

function failureOf(what: 'list' | 'watch', refusal: ApiRefusal): ReflectorFailure {
  return {
    what,
    code: 'kube_refused',
    problem: describeRefusal(refusal),
    needsOwner: refusal.status === 403 || refusal.status === 404,
    retryAfterSeconds: refusal.retryAfterSeconds,
  };
}

export function metaOf(object: ApiObject): ObjectMeta | undefined {
  const meta = object['metadata'];
  if (!isObject(meta)) return undefined;
  const namespace = textOf(meta['namespace']);
  const name = textOf(meta['name']);
  if (name === '') return undefined;
  return {
    key: namespace === '' ? name : `${namespace}/${name}`,
    namespace,
    name,
    uid: textOf(meta['uid']),
    resourceVersion: textOf(meta['resourceVersion']),
  };
}
