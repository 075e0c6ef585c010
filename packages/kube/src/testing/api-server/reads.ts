// GET, LIST and WATCH. A list is put together from texts that are made once per stored version; its pages
// all show the revision of the first one. Texts of built-in kinds leave out kind and apiVersion of items,
// as the real server's typed lists do.

import type { Runtime } from '@bigfleet/base';
import { asNumber, asText, at, metaOf, type Obj } from './json.ts';
import { apiVersionOf, collectionKey, type ResourceType } from './resources.ts';
import { isTrue, type Target } from './request.ts';
import { type ObjectTest, selectionOf } from './selectors.ts';
import {
  badRequest,
  expired,
  fieldError,
  invalidOptions,
  notAcceptable,
  Refusal,
} from './status.ts';
import type { Store, Stored } from './store.ts';
import { type IncludeObject, partialMetadata, tableOf } from './tables.ts';
import { Watch } from './watch.ts';

export type Shape = 'object' | 'table' | 'metadata';

const ACCEPTED = /^\s*(?:application\/(?:json|yaml|vnd\.kubernetes\.protobuf|\*)|\*\/\*)/;

/** The first form of the Accept header that the server has. */
export function shapeOf(accept: string): Shape {
  for (const part of accept.split(',')) {
    if (part.includes('as=Table')) return 'table';
    if (part.includes('as=PartialObjectMetadata')) return 'metadata';
    if (ACCEPTED.test(part) && !part.includes('as=')) return 'object';
  }
  throw notAcceptable();
}

export interface ReadQuery {
  readonly target: Target;
  readonly query: URLSearchParams;
  readonly shape: Shape;
  readonly nowMs: number;
}

interface Token {
  readonly revision: number;
  readonly start: string;
  readonly left: number | undefined;
}

/** For a read of one object: its version is checked and otherwise of no effect. */
export function checkVersion(query: URLSearchParams): void {
  versionNumber(query.get('resourceVersion') ?? '');
}

export function oneText(object: Obj, { target, query, shape, nowMs }: ReadQuery): string {
  if (shape === 'metadata') return JSON.stringify(partialMetadata(object));
  if (shape === 'object') return JSON.stringify(object);
  const metadata = { resourceVersion: metaOf(object)['resourceVersion'] };
  const include = includeOf(query);
  return JSON.stringify(tableOf(target.type, [object], { nowMs, include, metadata }));
}

export function listText(store: Store, read: ReadQuery): string {
  const { target, query, shape, nowMs } = read;
  const { type } = target;
  const selection = selectionOf(
    type,
    query.get('labelSelector') ?? '',
    query.get('fieldSelector') ?? '',
  );
  const { items, metadata } = pageOf(store, read, selection);
  if (shape === 'table') {
    const objects = items.map(({ object }) => object);
    return JSON.stringify(tableOf(type, objects, { nowMs, include: includeOf(query), metadata }));
  }
  const isPartial = shape === 'metadata';
  const kind = isPartial ? 'PartialObjectMetadataList' : type.listKind;
  const apiVersion = isPartial ? 'meta.k8s.io/v1' : apiVersionOf(type);
  const texts = items.map((stored) =>
    isPartial ? JSON.stringify(partialMetadata(stored.object)) : itemText(type, stored),
  );
  const head = JSON.stringify({ kind, apiVersion, metadata });
  return `${head.slice(0, -1)},"items":[${texts.join(',')}]}`;
}

function itemText(type: ResourceType, { text }: Stored): string {
  if (type.custom !== undefined) return text;
  const head = `{"apiVersion":"${apiVersionOf(type)}","kind":"${type.kind}",`;
  return text.startsWith(head) ? `{${text.slice(head.length)}` : text;
}

function pageOf(
  store: Store,
  { target, query }: ReadQuery,
  selection: ObjectTest | undefined,
): { items: Stored[]; metadata: Obj } {
  const collection = collectionKey(target.type);
  const prefix = target.namespace === '' ? '' : `${target.namespace}/`;
  const version = query.get('resourceVersion') ?? '';
  // The watch cache of the real server answers `resourceVersion=0` whole, whatever the limit.
  const limit = version === '0' ? 0 : numberOf(query, 'limit');
  const token = tokenOf(query.get('continue') ?? '', version);
  const revision = revisionOf(store, query, token);
  const from = token?.start ?? '';
  const source =
    revision === store.revision
      ? store.range(collection, prefix, from)
      : store.rangeAt(collection, prefix, { from, revision });
  const items: Stored[] = [];
  for (const [key, stored] of source) {
    if (selection !== undefined && !selection(stored.object)) continue;
    if (limit > 0 && items.length === limit) {
      const whole = token?.left ?? store.countFrom(collection, prefix, from);
      const left = selection === undefined ? whole - items.length : undefined;
      return {
        items,
        metadata: {
          resourceVersion: String(revision),
          continue: tokenText({ revision, start: key, left }),
          ...(left === undefined || left <= 0 ? {} : { remainingItemCount: left }),
        },
      };
    }
    items.push(stored);
  }
  return { items, metadata: { resourceVersion: String(revision) } };
}

function revisionOf(store: Store, query: URLSearchParams, token: Token | undefined): number {
  if (token !== undefined) {
    // An inconsistent continuation, offered by an earlier 410, goes on at the current state.
    if (token.revision < 0) return store.revision;
    if (token.revision < store.compactedRevision) throw expiredToken(token);
    return token.revision;
  }
  const text = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  checkMatch(match, text);
  const wanted = versionNumber(text, (problem) =>
    badRequest(`invalid resource version: ${problem}`),
  );
  if (wanted > store.revision) throw tooLarge(wanted, store.revision);
  if (match !== 'Exact') return store.revision;
  if (wanted < store.compactedRevision) {
    throw expired(`The resourceVersion for the provided list is too old.`);
  }
  return wanted;
}

const MATCHES = ['Exact', 'NotOlderThan', ''];

function checkMatch(match: string, version: string): void {
  if (match === '') return;
  const field = 'resourceVersionMatch';
  const problem = !MATCHES.includes(match)
    ? fieldError.unsupported(field, match, MATCHES)
    : version === ''
      ? fieldError.forbidden(field, `${field} is forbidden unless resourceVersion is provided`)
      : match === 'Exact' && version === '0'
        ? fieldError.forbidden(field, `${field} "exact" is forbidden for resourceVersion "0"`)
        : undefined;
  if (problem !== undefined) throw invalidOptions('ListOptions', [problem]);
}

function tooLarge(wanted: number, current: number): Refusal {
  const message = `Too large resource version: ${wanted}, current: ${current}`;
  return new Refusal(504, 'Timeout', `Timeout: ${message}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });
}

function expiredToken(token: Token): Refusal {
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
  return expired(message, { continue: tokenText({ ...token, revision: -1, left: undefined }) });
}

function tokenText({ revision, start, left }: Token): string {
  return btoa(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start, left }));
}

function tokenOf(text: string, version: string): Token | undefined {
  if (text === '') return undefined;
  if (version !== '' && version !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  try {
    const parsed: unknown = JSON.parse(atob(text));
    const revision = asNumber(at(parsed, 'rv'));
    if (revision !== undefined) {
      return { revision, start: asText(at(parsed, 'start')), left: asNumber(at(parsed, 'left')) };
    }
  } catch {
    // Refused below, whatever made it unreadable.
  }
  throw badRequest('continue key is not valid: unexpected end of JSON input');
}

/** Lists call a version that is none a bad request; other reads of the real server fail over it. */
function versionNumber(
  text: string,
  refuse: (problem: string) => Refusal = (problem) => new Refusal(500, '', problem),
): number {
  if (text === '') return 0;
  if (/^\d+$/.test(text)) return Number(text);
  const quoted = JSON.stringify(text);
  throw refuse(
    `resourceVersion: Invalid value: ${quoted}: strconv.ParseUint: parsing ${quoted}: invalid syntax`,
  );
}

function numberOf(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '';
  if (text === '' || /^[+-]?\d+$/.test(text)) return Number(text);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
}

function includeOf(query: URLSearchParams): IncludeObject {
  const text = query.get('includeObject');
  return text === 'Object' || text === 'None' ? text : 'Metadata';
}

const WATCH_MIN_SECONDS = 1800;

export interface WatchOpening {
  readonly runtime: Runtime;
  readonly store: Store;
  /** Path and query, for faults. */
  readonly path: string;
  readonly onEnd: (watch: Watch) => void;
}

/** Opens a watch; it has everything up to now in its queue when this returns. */
export function openWatch(read: ReadQuery, { runtime, store, path, onEnd }: WatchOpening): Watch {
  const { target, query, shape } = read;
  const { type } = target;
  const byName = target.name === '' ? '' : `metadata.name=${target.name}`;
  const fields = [query.get('fieldSelector') ?? '', byName].filter(Boolean).join(',');
  const selection = selectionOf(type, query.get('labelSelector') ?? '', fields);
  const version = query.get('resourceVersion') ?? '';
  const from = versionNumber(version);
  const isStreamingList = isTrue(query.get('sendInitialEvents'));
  if (isStreamingList && query.get('resourceVersionMatch') !== 'NotOlderThan') {
    const field = 'resourceVersionMatch';
    const detail = `sendInitialEvents requires setting ${field} to NotOlderThan`;
    throw invalidOptions('ListOptions', [fieldError.forbidden(field, detail)]);
  }
  const seconds = numberOf(query, 'timeoutSeconds');
  const collection = collectionKey(type);
  const watch = new Watch(
    runtime,
    {
      collection,
      prefix: target.namespace === '' ? '' : `${target.namespace}/`,
      selection,
      hasBookmarks: isTrue(query.get('allowWatchBookmarks')),
      timeoutMs: (seconds > 0 ? seconds : WATCH_MIN_SECONDS * (1 + runtime.random.float())) * 1000,
      encode: encoderOf(read, runtime),
      bookmark: (isInitialEnd) =>
        bookmarkOf({ type, shape, revision: store.revision, isInitialEnd }),
      path,
    },
    onEnd,
  );
  if (isStreamingList || from === 0) {
    for (const [, stored] of store.range(collection, watch.options.prefix)) {
      if (selection?.(stored.object) ?? true) watch.send('ADDED', stored);
    }
    if (isStreamingList) watch.sendBookmark(true);
  } else if (from < store.compactedRevision) {
    const message = `too old resource version: ${from} (${store.compactedRevision + 1})`;
    watch.sendError(expired(message).status);
    watch.end();
  } else for (const change of store.since(collection, from)) watch.follow(change);
  return watch;
}

function encoderOf(
  { target, query, shape }: ReadQuery,
  runtime: Runtime,
): (stored: Stored) => string {
  if (shape === 'object') return ({ text }) => text;
  if (shape === 'metadata') return ({ object }) => JSON.stringify(partialMetadata(object));
  const include = includeOf(query);
  return ({ object }) => {
    const nowMs = Number(runtime.clock.unixNanos() / 1_000_000n);
    const metadata = { resourceVersion: metaOf(object)['resourceVersion'] };
    return JSON.stringify(tableOf(target.type, [object], { nowMs, include, metadata }));
  };
}

function bookmarkOf({
  type,
  shape,
  revision,
  isInitialEnd,
}: {
  readonly type: ResourceType;
  readonly shape: Shape;
  readonly revision: number;
  readonly isInitialEnd: boolean;
}): Obj {
  const metadata = {
    resourceVersion: String(revision),
    creationTimestamp: null,
    ...(isInitialEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  };
  if (shape === 'table') return tableOf(type, [], { nowMs: 0, include: 'None', metadata });
  if (shape === 'metadata') return partialMetadata({ metadata });
  return { kind: type.kind, apiVersion: apiVersionOf(type), metadata };
}
