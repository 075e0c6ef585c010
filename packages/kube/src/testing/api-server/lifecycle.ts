// Small controllers: the end of namespaces and of definitions takes their content along, and nodes get and
// lose the taints of their conditions.

import type { Runtime } from '@bigfleet/base';
import { DEFINITION_CLEANUP, DEFINITIONS } from './definitions.ts';
import { asList, asObj, asText, at, metaOf, type Obj, textAt } from './json.ts';
import type { Objects } from './objects.ts';
import { collectionKey, type ResourceType } from './resources.ts';
import type { Change } from './store.ts';
import { WorkQueue } from './work-queue.ts';

const NAMESPACES = '/namespaces';

/** Deletes the content of namespaces and definitions that are ending, then lets them go. */
export class ContentRemover {
  readonly #objects: Objects;
  readonly #queue: WorkQueue;
  /** Endings under way, so that removals elsewhere cost nothing. */
  readonly #ending = new Set<string>();

  constructor(runtime: Runtime, objects: Objects, delayMs: number) {
    this.#objects = objects;
    this.#queue = new WorkQueue({ runtime, delayMs, work: (entry) => this.#work(entry) });
  }

  stop(): void {
    this.#queue.stop();
  }

  follow({ collection, key, after, isRemoval }: Change): void {
    if (collection === NAMESPACES || collection === DEFINITIONS) {
      const entry = `${collection} ${key}`;
      if (isRemoval) this.#ending.delete(entry);
      else if (metaOf(after.object)['deletionTimestamp'] !== undefined) {
        this.#ending.add(entry);
        this.#queue.add(entry);
      }
    } else if (isRemoval) for (const entry of this.#ending) this.#queue.add(entry);
  }

  #work(entry: string): void {
    const [collection = '', name = ''] = entry.split(' ');
    const type = this.#objects.types.collection(collection);
    const object = this.#objects.store.get(collection, name)?.object;
    if (type === undefined || object === undefined) return;
    if (collection === NAMESPACES) this.#endNamespace(type, name);
    else this.#endDefinition(type, object);
  }

  #endNamespace(type: ResourceType, name: string): void {
    let isEmpty = true;
    for (const collection of Array.from(this.#objects.store.collections())) {
      const content = this.#objects.types.collection(collection);
      if (content?.isNamespaced === true && !this.#empty(content, `${name}/`)) isEmpty = false;
    }
    if (!isEmpty) return;
    this.#objects.adjust({ type, namespace: '', name }, (copy) => {
      asObj(copy['spec'])['finalizers'] = [];
    });
  }

  #endDefinition(type: ResourceType, definition: Obj): void {
    const group = textAt(definition, 'spec', 'group');
    const plural = textAt(definition, 'spec', 'names', 'plural');
    const content = this.#objects.types.collection(collectionKey({ group, plural }));
    if (content !== undefined && !this.#empty(content, '')) return;
    const name = asText(metaOf(definition)['name']);
    this.#objects.adjust({ type, namespace: '', name }, (copy) => {
      const meta = metaOf(copy);
      meta['finalizers'] = asList(meta['finalizers']).filter((one) => one !== DEFINITION_CLEANUP);
    });
  }

  /** Asks for the end of every object; true when none is left. */
  #empty(type: ResourceType, prefix: string): boolean {
    const collection = collectionKey(type);
    for (const [, { object }] of Array.from(this.#objects.store.range(collection, prefix))) {
      const meta = metaOf(object);
      const place = { type, namespace: asText(meta['namespace']), name: asText(meta['name']) };
      if (this.#objects.find(place) !== undefined)
        this.#objects.delete(place, { gracePeriodSeconds: 0 });
    }
    return this.#objects.store.range(collection, prefix).next().done === true;
  }
}

const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';
const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';

/** Node lifecycle: NoSchedule taints that say what spec.unschedulable and the Ready condition say. */
export class NodeTaints {
  readonly #objects: Objects;
  readonly #queue: WorkQueue;

  constructor(runtime: Runtime, objects: Objects, delayMs: number) {
    this.#objects = objects;
    this.#queue = new WorkQueue({ runtime, delayMs, work: (name) => this.#work(name) });
  }

  stop(): void {
    this.#queue.stop();
  }

  follow({ collection, key, isRemoval }: Change): void {
    if (collection === '/nodes' && !isRemoval) this.#queue.add(key);
  }

  #work(name: string): void {
    const type = this.#objects.types.collection('/nodes');
    if (type === undefined) return;
    this.#objects.adjust({ type, namespace: '', name }, (node) => {
      const spec = asObj(node['spec']);
      const ready = readiness(node);
      const wanted: Readonly<Record<string, boolean | undefined>> = {
        [UNSCHEDULABLE]: spec['unschedulable'] === true,
        // A node that has reported nothing keeps the taint it was created with.
        [NOT_READY]: ready === undefined ? undefined : ready === 'False',
        [UNREACHABLE]: ready === undefined ? undefined : ready === 'Unknown',
      };
      let taints = asList(spec['taints']);
      for (const [key, isWanted] of Object.entries(wanted)) {
        const isOurs = (one: unknown): boolean =>
          at(one, 'key') === key && at(one, 'effect') === 'NoSchedule';
        const isThere = taints.some(isOurs);
        if (isWanted === true && !isThere) {
          taints = [...taints, { key, effect: 'NoSchedule', timeAdded: this.#objects.nowText }];
        } else if (isWanted === false) taints = taints.filter((one) => !isOurs(one));
      }
      if (taints.length === 0) delete spec['taints'];
      else spec['taints'] = taints;
      node['spec'] = spec;
    });
  }
}

function readiness(node: Obj): string | undefined {
  const conditions = asList(at(node, 'status', 'conditions'));
  const ready = conditions.find((one) => at(one, 'type') === 'Ready');
  return ready === undefined ? undefined : textAt(ready, 'status');
}
