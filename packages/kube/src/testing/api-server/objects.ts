// Writes: create, update, delete, each as kube-apiserver does it. All are synchronous, so that a request is
// atomic; `isDryRun` does everything but store. Controllers inside the server write through here too.

import type { Runtime } from '@bigfleet/base';
import {
  asList,
  asNumber,
  asObj,
  asText,
  clone,
  isEqual,
  metaOf,
  type Obj,
  ownMeta,
  textAt,
  timeText,
} from './json.ts';
import { carryMetadata, generatedName, metadataProblems, newUid } from './metadata.ts';
import { apiVersionOf, collectionKey, type ResourceType, type ResourceTypes } from './resources.ts';
import { applyDefaults, prune, validate } from './schema.ts';
import {
  alreadyExists,
  badRequest,
  conflict,
  detailsOf,
  fieldError,
  invalid,
  MODIFIED,
  notFound,
  qualified,
  Refusal,
} from './status.ts';
import type { Store } from './store.ts';
import { prepareCreate, prepareUpdate, validateBuiltIn } from './strategies.ts';

export interface WriteMode {
  readonly isDryRun?: boolean;
  /** fieldValidation=Strict: an unknown field of a custom resource is an error. */
  readonly isStrict?: boolean;
}

export interface UpdateMode extends WriteMode {
  readonly isStatus?: boolean;
  /** A PUT brings a whole object, with rules of its own about versions. */
  readonly isPut?: boolean;
}

export interface DeleteOptions extends WriteMode {
  readonly gracePeriodSeconds?: number | undefined;
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly propagationPolicy?: string | undefined;
}

export interface ObjectPlace {
  readonly type: ResourceType;
  /** Empty for objects of the whole cluster. */
  readonly namespace: string;
  readonly name: string;
}

export interface DeleteOutcome {
  readonly object: Obj;
  readonly isGone: boolean;
}

/** A generated name that is taken is drawn again this often. */
const GENERATE_ATTEMPTS = 8;
const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';
const DEFINITION_CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

export class Objects {
  readonly #runtime: Runtime;
  readonly store: Store;
  readonly types: ResourceTypes;
  /** Checks of single kinds that need more than the object: definitions of custom resources. */
  readonly #checks: readonly ((type: ResourceType, object: Obj, before: Obj | undefined) => void)[];

  constructor(options: {
    readonly runtime: Runtime;
    readonly store: Store;
    readonly types: ResourceTypes;
    readonly checks?: readonly ((
      type: ResourceType,
      object: Obj,
      before: Obj | undefined,
    ) => void)[];
  }) {
    this.#runtime = options.runtime;
    this.store = options.store;
    this.types = options.types;
    this.#checks = options.checks ?? [];
  }

  get nowText(): string {
    return timeText(this.#runtime.clock.unixNanos());
  }

  find({ type, namespace, name }: ObjectPlace): Obj | undefined {
    return this.store.get(collectionKey(type), keyOf(namespace, name))?.object;
  }

  get(place: ObjectPlace): Obj {
    const found = this.find(place);
    if (found === undefined) throw notFound(place.type, place.name);
    return found;
  }

  create(type: ResourceType, namespace: string, body: Obj, mode: WriteMode = {}): Obj {
    const object = clone(body);
    this.#checkKind(type, object);
    const meta = ownMeta(object);
    this.#checkNamespace(type, namespace, meta);
    if (asText(meta['resourceVersion']) !== '') {
      throw new Refusal(500, '', 'resourceVersion should not be set on objects to be created');
    }
    for (const field of [
      'deletionTimestamp',
      'deletionGracePeriodSeconds',
      'selfLink',
      'managedFields',
    ]) {
      delete meta[field];
    }
    delete meta['resourceVersion'];
    if (type.hasStatus && !(type.group === '' && type.plural === 'nodes')) delete object['status'];
    this.#name(type, namespace, meta);
    this.#requireNamespace(type, namespace, asText(meta['name']));
    prepareCreate(type, object, { store: this.store, nowText: this.nowText });
    this.#readThroughSchema(type, object, mode);
    const problems = [...metadataProblems(type, meta), ...validateBuiltIn(type, object, undefined)];
    if (type.custom !== undefined) {
      problems.push(...validate(object, type.custom.schema, problems));
    }
    const name = asText(meta['name']);
    if (problems.length > 0) throw invalid(type, name, problems);
    for (const check of this.#checks) check(type, object, undefined);
    const existing = this.store.get(collectionKey(type), keyOf(namespace, name));
    if (existing !== undefined) {
      const refusal = alreadyExists(type, name);
      if (metaOf(existing.object)['deletionTimestamp'] === undefined) throw refusal;
      throw new Refusal(
        409,
        'AlreadyExists',
        `object is being deleted: ${refusal.message}`,
        detailsOf(type, name),
      );
    }
    const metadata: Obj = {
      ...meta,
      uid: newUid(this.#runtime),
      creationTimestamp: this.nowText,
      ...(type.hasGeneration || type.custom !== undefined ? { generation: 1 } : {}),
    };
    const { apiVersion: _a, kind: _k, metadata: _m, ...rest } = object;
    const whole: Obj = { apiVersion: apiVersionOf(type), kind: type.kind, metadata, ...rest };
    if (mode.isDryRun === true) return whole;
    return this.store.put(collectionKey(type), keyOf(namespace, name), whole).object;
  }

  /** `change` gets the current object and returns the wanted one, both left alone afterwards. */
  update(place: ObjectPlace, change: (current: Obj) => Obj, mode: UpdateMode = {}): Obj {
    const { type, namespace, name } = place;
    const before = this.get(place);
    const { apiVersion, kind, metadata: wantedMeta, ...wanted } = change(before);
    // One order of keys for every stored object: lists cut the head off the text of built-in kinds.
    const next: Obj = { apiVersion, kind, metadata: wantedMeta, ...wanted };
    this.#checkKind(type, next);
    const nextMeta = { ...asObj(next['metadata']) };
    next['metadata'] = nextMeta;
    this.#checkVersions(place, nextMeta, { before, mode });
    const beforeMeta = metaOf(before);
    const metadataCauses = carryMetadata(nextMeta, beforeMeta);
    const problems = [...metadataCauses];
    nextMeta['resourceVersion'] = beforeMeta['resourceVersion'];
    this.#carryParts(type, next, { before, isStatus: mode.isStatus === true });
    if (mode.isStatus !== true) prepareUpdate(type, next);
    this.#readThroughSchema(type, next, mode);
    if (type.custom !== undefined) problems.push(...validate(next, type.custom.schema, problems));
    else {
      problems.push(...validateBuiltIn(type, next, before));
      // The real server looks twice at an update of its own kinds, and lists what it found twice.
      problems.push(...metadataCauses);
    }
    if (problems.length > 0) throw invalid(type, name, problems);
    for (const check of this.#checks) check(type, next, before);
    if (this.#isNewGeneration(type, next, before)) {
      metaOf(next)['generation'] = (asNumber(beforeMeta['generation']) ?? 0) + 1;
    }
    if (isEqual(next, before)) return before;
    if (mode.isDryRun === true) return next;
    return this.#storeOrFinish(keyOf(namespace, name), type, next);
  }

  delete(place: ObjectPlace, options: DeleteOptions = {}): DeleteOutcome {
    const { type, namespace, name } = place;
    const before = this.get(place);
    const meta = { ...metaOf(before) };
    checkPreconditions(place, meta, options);
    const finalizers = this.#finalizersFor(type, meta, options);
    const isMarked = meta['deletionTimestamp'] !== undefined;
    const grace = graceSeconds(type, before, options);
    const oldGrace = isMarked ? (asNumber(meta['deletionGracePeriodSeconds']) ?? 0) : undefined;
    // A deletion under way may only be shortened.
    const wanted = oldGrace === undefined ? (grace ?? 0) : Math.min(oldGrace, grace ?? oldGrace);
    const isHeld = finalizers.length > 0 || specFinalizers(type, before).length > 0;
    if (!isHeld && wanted === 0) {
      const removed = this.#removed(place, before, options);
      const isGraceful = type.group === '' && type.plural === 'pods';
      if (!isGraceful || isMarked) return { object: removed, isGone: true };
      const deletionTimestamp = this.nowText;
      const metadata = { ...metaOf(removed), deletionTimestamp, deletionGracePeriodSeconds: 0 };
      return { object: { ...removed, metadata }, isGone: true };
    }
    if (wanted === oldGrace && isEqual(finalizers, asList(meta['finalizers']))) {
      return { object: before, isGone: false };
    }
    const startNanos = this.#runtime.clock.unixNanos();
    if (!isMarked || wanted !== oldGrace) {
      meta['deletionTimestamp'] = timeText(startNanos + BigInt(wanted) * 1_000_000_000n);
      meta['deletionGracePeriodSeconds'] = wanted;
    }
    if (!isMarked && typeof meta['generation'] === 'number') meta['generation'] += 1;
    if (finalizers.length > 0) meta['finalizers'] = finalizers;
    const next: Obj = { ...before, metadata: meta };
    if (type.group === '' && type.plural === 'namespaces')
      next['status'] = { ...asObj(before['status']), phase: 'Terminating' };
    if (options.isDryRun === true) return { object: next, isGone: false };
    return {
      object: this.store.put(collectionKey(type), keyOf(namespace, name), next).object,
      isGone: false,
    };
  }

  /** For controllers: without checks, and nothing when the object is gone. */
  adjust(place: ObjectPlace, change: (copy: Obj) => void): Obj | undefined {
    const before = this.find(place);
    if (before === undefined) return undefined;
    const next = clone(before);
    change(next);
    if (isEqual(next, before)) return before;
    return this.#storeOrFinish(keyOf(place.namespace, place.name), place.type, next);
  }

  #removed({ type, namespace, name }: ObjectPlace, before: Obj, options: DeleteOptions): Obj {
    if (options.isDryRun === true) return before;
    return this.store.remove(collectionKey(type), keyOf(namespace, name)).object;
  }

  /** An object that waited only for its last finalizer is gone with it. */
  #storeOrFinish(key: string, type: ResourceType, next: Obj): Obj {
    const meta = metaOf(next);
    const isFinished =
      meta['deletionTimestamp'] !== undefined &&
      asList(meta['finalizers']).length === 0 &&
      specFinalizers(type, next).length === 0 &&
      (asNumber(meta['deletionGracePeriodSeconds']) ?? 0) === 0;
    const stored = this.store.put(collectionKey(type), key, next);
    return isFinished ? this.store.remove(collectionKey(type), key).object : stored.object;
  }

  #finalizersFor(type: ResourceType, meta: Obj, { propagationPolicy }: DeleteOptions): unknown[] {
    const own = asList(meta['finalizers']);
    const others = own.filter((one) => one !== FOREGROUND && one !== ORPHAN);
    const needsCleanup =
      type.plural === 'customresourcedefinitions' && !others.includes(DEFINITION_CLEANUP);
    const base = needsCleanup ? [...others, DEFINITION_CLEANUP] : others;
    if (propagationPolicy === 'Foreground') return [...base, FOREGROUND];
    if (propagationPolicy === 'Orphan') return [...base, ORPHAN];
    return propagationPolicy === undefined
      ? [...base, ...own.filter((one) => one === FOREGROUND || one === ORPHAN)]
      : base;
  }

  #checkKind(type: ResourceType, object: Obj): void {
    const expected = apiVersionOf(type);
    const apiVersion = asText(object['apiVersion']) || expected;
    const kind = asText(object['kind']) || type.kind;
    if (type.custom !== undefined && kind !== type.kind) {
      const problem = fieldError.invalid('kind', kind, `must be ${type.kind}`);
      throw invalid({ group: type.group, kind }, textAt(object, 'metadata', 'name'), [problem]);
    }
    if (apiVersion !== expected) {
      throw badRequest(
        `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
      );
    }
    if (kind !== type.kind) {
      throw badRequest(
        `${kind} in version "${type.version}" cannot be handled as a ${type.kind}: no kind "${kind}" is registered for the expected resource`,
      );
    }
  }

  #checkNamespace(type: ResourceType, namespace: string, meta: Obj): void {
    if (!type.isNamespaced) {
      delete meta['namespace'];
      return;
    }
    const own = asText(meta['namespace']);
    if (own !== '' && own !== namespace) {
      throw badRequest(
        'the namespace of the provided object does not match the namespace sent on the request',
      );
    }
    meta['namespace'] = namespace;
  }

  #requireNamespace(type: ResourceType, namespace: string, name: string): void {
    if (!type.isNamespaced) return;
    const found = this.store.get('/namespaces', namespace)?.object;
    if (found === undefined) {
      const message = `namespaces "${namespace}" not found`;
      throw new Refusal(404, 'NotFound', message, { name: namespace, kind: 'namespaces' });
    }
    if (metaOf(found)['deletionTimestamp'] === undefined) return;
    throw new Refusal(
      403,
      'Forbidden',
      `${qualified(type)} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
      detailsOf(type, name, {
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${namespace} is being terminated`,
            field: 'metadata.namespace',
          },
        ],
      }),
    );
  }

  #name(type: ResourceType, namespace: string, meta: Obj): void {
    const base = asText(meta['generateName']);
    if (asText(meta['name']) !== '' || base === '') return;
    for (let left = GENERATE_ATTEMPTS; left > 0; left--) {
      const name = generatedName(this.#runtime, base);
      meta['name'] = name;
      if (this.store.get(collectionKey(type), keyOf(namespace, name)) === undefined) return;
    }
  }

  #checkVersions(
    { type, name }: ObjectPlace,
    meta: Obj,
    { before, mode }: { readonly before: Obj; readonly mode: UpdateMode },
  ): void {
    const current = metaOf(before);
    const version = asText(meta['resourceVersion']);
    if (mode.isPut === true) {
      const uid = asText(meta['uid']);
      if (uid !== '' && uid !== current['uid']) {
        throw conflict(
          type,
          name,
          `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${asText(current['uid'])}`,
        );
      }
      if (version === '' && !type.allowsUnconditionalUpdate) {
        const detail = 'must be specified for an update';
        const problem = fieldError.invalid('metadata.resourceVersion', 0, detail);
        throw invalid({ group: type.group, kind: type.plural }, name, [problem]);
      }
    }
    if (version !== '' && version !== current['resourceVersion'])
      throw conflict(type, name, MODIFIED);
  }

  /** A status write changes the status only, and any other write everything else. */
  #carryParts(
    type: ResourceType,
    next: Obj,
    { before, isStatus }: { readonly before: Obj; readonly isStatus: boolean },
  ): void {
    if (isStatus) {
      for (const key of new Set([...Object.keys(next), ...Object.keys(before)])) {
        if (key === 'status' || (key === 'metadata' && type.custom === undefined)) continue;
        if (before[key] === undefined) delete next[key];
        else next[key] = before[key];
      }
    } else if (type.hasStatus) {
      if (before['status'] === undefined) delete next['status'];
      else next['status'] = before['status'];
    }
    next['apiVersion'] = before['apiVersion'];
    next['kind'] = before['kind'];
  }

  #readThroughSchema(type: ResourceType, object: Obj, mode: WriteMode): void {
    if (type.custom === undefined) return;
    const { schema } = type.custom;
    for (const [key, value] of Object.entries(object)) {
      if (key !== 'metadata') object[key] = clone(value);
    }
    const unknown = prune(object, schema);
    if (mode.isStrict === true && unknown.length > 0) {
      const list = unknown.map((path) => `unknown field "${path}"`).join(', ');
      throw badRequest(
        `${type.kind} in version "${type.version}" cannot be handled as a ${type.kind}: strict decoding error: ${list}`,
      );
    }
    applyDefaults(object, schema.root);
  }

  #isNewGeneration(type: ResourceType, next: Obj, before: Obj): boolean {
    if (type.custom === undefined) {
      return type.hasGeneration && !isEqual(next['spec'], before['spec']);
    }
    const keys = new Set([...Object.keys(next), ...Object.keys(before)]);
    keys.delete('metadata');
    if (type.hasStatus) keys.delete('status');
    return [...keys].some((key) => !isEqual(next[key], before[key]));
  }
}

/** A namespace waits for its content by finalizers of its spec. */
function specFinalizers(type: ResourceType, object: Obj): unknown[] {
  const isNamespace = type.group === '' && type.plural === 'namespaces';
  return isNamespace ? asList(asObj(object['spec'])['finalizers']) : [];
}

export function keyOf(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

function checkPreconditions({ type, name }: ObjectPlace, meta: Obj, options: DeleteOptions): void {
  const refuse = (problem: string): Refusal =>
    new Refusal(
      409,
      'Conflict',
      `Operation cannot be fulfilled on ${type.kind}${type.group === '' ? '' : `.${type.group}`} "${name}": ${problem}`,
      {
        name,
        ...(type.group === '' ? {} : { group: type.group }),
        kind: type.kind,
      },
    );
  const { uid, resourceVersion } = options;
  if (uid !== undefined && uid !== meta['uid']) {
    throw refuse(
      `the UID in the precondition (${uid}) does not match the UID in record (${asText(meta['uid'])}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== meta['resourceVersion']) {
    throw refuse(
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${asText(meta['resourceVersion'])}). The object might have been modified`,
    );
  }
}

/** Only Pods end gracefully: a kubelet confirms the end with a second DELETE of zero grace. */
function graceSeconds(type: ResourceType, object: Obj, options: DeleteOptions): number | undefined {
  if (type.group !== '' || type.plural !== 'pods') return 0;
  const isMarked = metaOf(object)['deletionTimestamp'] !== undefined;
  if (isMarked) return options.gracePeriodSeconds;
  const phase = textAt(object, 'status', 'phase');
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  if (isOver || textAt(object, 'spec', 'nodeName') === '') return 0;
  const own = asNumber(asObj(object['spec'])['terminationGracePeriodSeconds']);
  const seconds = options.gracePeriodSeconds ?? own ?? 0;
  return seconds < 0 ? 1 : seconds;
}
