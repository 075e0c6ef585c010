// Garbage collection by ownerReferences. Background: dependents of an owner that is gone are deleted, unless
// another owner lives. Foreground: dependents first, then the owner. Orphan: dependents lose the reference.
// An owner counts as the reference's only under the same uid.

import type { Runtime } from '@bigfleet/base';
import { asList, asText, at, metaOf, type Obj, textAt } from './json.ts';
import { keyOf, type ObjectPlace, type Objects } from './objects.ts';
import { collectionKey } from './resources.ts';
import type { Change } from './store.ts';
import { WorkQueue } from './work-queue.ts';

const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';

export class GarbageCollector {
  readonly #objects: Objects;
  readonly #queue: WorkQueue;
  /** Dependents by the uid of each owner they name; entries are `collection key`. */
  readonly #dependents = new Map<string, Set<string>>();
  /** Owners in foreground deletion, by uid: each change of a dependent looks at them again. */
  readonly #ownerEntries = new Map<string, string>();

  constructor(runtime: Runtime, objects: Objects, delayMs: number) {
    this.#objects = objects;
    this.#queue = new WorkQueue({ runtime, delayMs, work: (entry) => this.#check(entry) });
  }

  stop(): void {
    this.#queue.stop();
  }

  follow({ collection, key, before, after, isRemoval }: Change): void {
    const entry = `${collection} ${key}`;
    const was = before === undefined ? [] : ownersOf(before.object);
    const is = isRemoval ? [] : ownersOf(after.object);
    for (const uid of was) if (!is.includes(uid)) this.#unlink(uid, entry);
    for (const uid of is) if (!was.includes(uid)) this.#link(uid, entry);
    if (is.length > 0 && before === undefined) this.#queue.add(entry);
    const meta = metaOf(after.object);
    if (isRemoval) {
      for (const dependent of this.#dependents.get(asText(meta['uid'])) ?? [])
        this.#queue.add(dependent);
      // An owner in foreground deletion may have waited for this one.
      for (const uid of was) this.#wake(uid);
    } else if (meta['deletionTimestamp'] !== undefined) {
      this.#queue.add(entry);
      for (const uid of is) this.#wake(uid);
    }
  }

  #wake(uid: string): void {
    const owner = this.#ownerEntries.get(uid);
    if (owner !== undefined) this.#queue.add(owner);
  }

  #link(uid: string, entry: string): void {
    const found = this.#dependents.get(uid);
    if (found === undefined) this.#dependents.set(uid, new Set([entry]));
    else found.add(entry);
  }

  #unlink(uid: string, entry: string): void {
    const found = this.#dependents.get(uid);
    found?.delete(entry);
    if (found?.size === 0) this.#dependents.delete(uid);
  }

  #check(entry: string): void {
    const place = this.#placeOf(entry);
    const object = place === undefined ? undefined : this.#objects.find(place);
    if (place === undefined || object === undefined) return;
    const finalizers = asList(metaOf(object)['finalizers']);
    if (metaOf(object)['deletionTimestamp'] !== undefined) {
      if (finalizers.includes(ORPHAN)) this.#orphan(place, object);
      else if (finalizers.includes(FOREGROUND)) this.#finishForeground(place, object, entry);
      return;
    }
    this.#checkOwners(place, object);
  }

  #checkOwners(place: ObjectPlace, object: Obj): void {
    const references = asList(metaOf(object)['ownerReferences']);
    if (references.length === 0) return;
    const owners = references.map((one) => this.#ownerOf(place, one));
    if (owners.includes('unknown')) return;
    const isAlive = (i: number): boolean => owners[i] === 'alive';
    if (references.some((_, i) => isAlive(i))) {
      if (references.every((_, i) => isAlive(i))) return;
      this.#objects.adjust(place, (copy) => {
        metaOf(copy)['ownerReferences'] = references.filter((_, i) => isAlive(i));
      });
      return;
    }
    const uid = asText(metaOf(object)['uid']);
    const isForeground = owners.includes('waiting');
    this.#objects.delete(place, {
      uid,
      propagationPolicy:
        isForeground && this.#blockers(uid).length > 0 ? 'Foreground' : 'Background',
    });
  }

  /** `waiting`: the owner is in foreground deletion and wants its dependents gone. */
  #ownerOf(place: ObjectPlace, reference: unknown): 'alive' | 'absent' | 'waiting' | 'unknown' {
    const type = this.#objects.types.byKind(
      textAt(reference, 'apiVersion'),
      textAt(reference, 'kind'),
    );
    if (type === undefined) return 'unknown';
    const namespace = type.isNamespaced ? place.namespace : '';
    const owner = this.#objects.find({ type, namespace, name: textAt(reference, 'name') });
    if (owner === undefined || metaOf(owner)['uid'] !== at(reference, 'uid')) return 'absent';
    const meta = metaOf(owner);
    const isWaiting =
      meta['deletionTimestamp'] !== undefined && asList(meta['finalizers']).includes(FOREGROUND);
    return isWaiting ? 'waiting' : 'alive';
  }

  #orphan(place: ObjectPlace, object: Obj): void {
    const uid = asText(metaOf(object)['uid']);
    for (const entry of Array.from(this.#dependents.get(uid) ?? [])) {
      const dependent = this.#placeOf(entry);
      if (dependent === undefined) continue;
      this.#objects.adjust(dependent, (copy) => {
        const left = asList(metaOf(copy)['ownerReferences']).filter(
          (one) => at(one, 'uid') !== uid,
        );
        if (left.length === 0) delete metaOf(copy)['ownerReferences'];
        else metaOf(copy)['ownerReferences'] = left;
      });
    }
    this.#dropFinalizer(place, ORPHAN);
  }

  #finishForeground(place: ObjectPlace, object: Obj, entry: string): void {
    const uid = asText(metaOf(object)['uid']);
    this.#ownerEntries.set(uid, entry);
    for (const dependent of this.#dependents.get(uid) ?? []) this.#queue.add(dependent);
    if (this.#blockers(uid).length > 0) return;
    this.#ownerEntries.delete(uid);
    this.#dropFinalizer(place, FOREGROUND);
  }

  /** Dependents that the owner must outlive. */
  #blockers(uid: string): string[] {
    return [...(this.#dependents.get(uid) ?? [])].filter((entry) => {
      const place = this.#placeOf(entry);
      const object = place === undefined ? undefined : this.#objects.find(place);
      return asList(metaOf(object)['ownerReferences']).some(
        (one) => at(one, 'uid') === uid && at(one, 'blockOwnerDeletion') === true,
      );
    });
  }

  #dropFinalizer(place: ObjectPlace, finalizer: string): void {
    this.#objects.adjust(place, (copy) => {
      const left = asList(metaOf(copy)['finalizers']).filter((one) => one !== finalizer);
      if (left.length === 0) delete metaOf(copy)['finalizers'];
      else metaOf(copy)['finalizers'] = left;
    });
  }

  #placeOf(entry: string): ObjectPlace | undefined {
    const [collection = '', key = ''] = entry.split(' ');
    const type = this.#objects.types.collection(collection);
    const cut = key.indexOf('/');
    if (type === undefined) return undefined;
    const place = { type, namespace: key.slice(0, Math.max(cut, 0)), name: key.slice(cut + 1) };
    return collectionKey(type) === collection && keyOf(place.namespace, place.name) === key
      ? place
      : undefined;
  }
}

function ownersOf(object: Obj): string[] {
  return asList(metaOf(object)['ownerReferences']).map((one) => textAt(one, 'uid'));
}
