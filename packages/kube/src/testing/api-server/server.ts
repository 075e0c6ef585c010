// The test API server: kube-apiserver's behaviour over plain objects in memory, for tests under virtual time
// and for the demo's clusters. No I/O here; `in-memory-transport.ts` and `listen.ts` are its two faces.
//
// Every request is answered in one turn, so requests are atomic; controllers work in later turns, as they
// do on a real cluster. Where this server and a real one differ, this one is wrong: `test/kube/behaviour` holds
// both to one set of dialogues.

import { type Runtime, sleep } from '@bigfleet/base';
import { Access, type AccessOptions } from './access.ts';
import { answered, faultAnswer, json, JSON_TYPE, refused, type ServerAnswer } from './answers.ts';
import { checkDefinition, DEFINITIONS, establish, followDefinition } from './definitions.ts';
import { DisruptionController } from './disruption.ts';
import { discoveryOf } from './discovery.ts';
import { Faults } from './faults.ts';
import { GarbageCollector } from './garbage.ts';
import { type Obj, textAt } from './json.ts';
import { ContentRemover, NodeTaints } from './lifecycle.ts';
import { Objects } from './objects.ts';
import { checkVersion, listText, oneText, openWatch, type ReadQuery, shapeOf } from './reads.ts';
import {
  attributesOf,
  type ParsedRequest,
  parseRequest,
  type ServerRequest,
  type Target,
} from './request.ts';
import { apiVersionOf, collectionKey, ResourceTypes } from './resources.ts';
import { scaleOf } from './scale.ts';
import { methodNotAllowed, noSuchResource, notFound, Refusal } from './status.ts';
import { type Change, type JournalEntry, Store } from './store.ts';
import type { Watch } from './watch.ts';
import { Writes } from './writes.ts';

export interface ApiServerOptions extends AccessOptions {
  readonly runtime: Runtime;
  /** Changes that watches and continued lists can still read. */
  readonly logLimit?: number | undefined;
  /** All on by default. */
  readonly controllers?: Partial<Record<ControllerName, boolean>> | undefined;
  /** How long controllers take to notice. */
  readonly controllerDelayMs?: number | undefined;
  readonly journal?: Journal | undefined;
}

export type ControllerName = 'garbage' | 'disruption' | 'content' | 'nodeTaints';

/** Durable storage: entries of earlier runs, and where new ones go. */
export interface Journal {
  readonly entries: Iterable<JournalEntry>;
  append(entry: JournalEntry): void;
}

const LOG_LIMIT = 50_000;
const CONTROLLER_DELAY_MS = 5;
const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const PRIORITY_CLASSES = [
  [
    'system-cluster-critical',
    2_000_000_000,
    'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  ],
  [
    'system-node-critical',
    2_000_001_000,
    'Used for system critical pods that must not be moved from their node.',
  ],
] as const;

interface Controller {
  follow(change: Change): void;
  stop(): void;
}

export class ApiServer {
  readonly #options: ApiServerOptions;
  readonly #runtime: Runtime;
  readonly #watches = new Set<Watch>();
  readonly #watchesOf = new Map<string, Set<Watch>>();
  readonly #controllers: Controller[] = [];
  readonly #access: Access;
  readonly #writes: Writes;
  readonly types: ResourceTypes = new ResourceTypes();
  readonly store: Store;
  readonly objects: Objects;
  readonly faults: Faults;
  #requestCount = 0;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#runtime = options.runtime;
    const { journal } = options;
    this.store = new Store({
      logLimit: options.logLimit ?? LOG_LIMIT,
      onChange: (change) => this.#follow(change),
      journal: journal === undefined ? undefined : (entry) => journal.append(entry),
    });
    this.objects = new Objects({
      runtime: this.#runtime,
      store: this.store,
      types: this.types,
      checks: [checkDefinition],
    });
    this.#access = new Access(this.store, options);
    this.#writes = new Writes({
      store: this.store,
      objects: this.objects,
      types: this.types,
      access: this.#access,
    });
    this.faults = new Faults(this.#runtime, this.#watches);
    this.#startControllers();
    for (const entry of journal?.entries ?? []) this.#restore(entry);
    this.#seed();
  }

  /** Requests so far, refused ones included. */
  get requestCount(): number {
    return this.#requestCount;
  }

  get watchCount(): number {
    return this.#watches.size;
  }

  /** As etcd's compaction: older versions are 410 from now on. */
  compact(): void {
    this.store.compact();
  }

  /** Controllers and watches end; requests are still answered, for looking at what is left. */
  stop(): void {
    for (const controller of this.#controllers) controller.stop();
    this.faults.clear();
    for (const watch of Array.from(this.#watches)) watch.end();
  }

  async handle(request: ServerRequest): Promise<ServerAnswer> {
    this.#requestCount++;
    const parsed = parseRequest(request, this.types);
    const plan = this.faults.plan({
      method: request.method,
      path: request.path,
      isWatch: parsed.isWatch,
    });
    if (plan.latencyMs > 0)
      await sleep(this.#runtime, plan.latencyMs, new AbortController().signal);
    if (plan.outcome === 'reset') return { kind: 'reset' };
    if (plan.outcome === 'hang' && !parsed.isWatch) return { kind: 'hang' };
    const answer =
      plan.refusal === undefined ? this.answer(request, parsed) : faultAnswer(plan.refusal);
    if (plan.outcome === 'reset-after') return { kind: 'reset' };
    if (plan.outcome === 'hang' && answer.kind === 'watch') answer.watch.setSilent(true);
    return answer;
  }

  /** One request without faults, at once. */
  answer(
    request: ServerRequest,
    parsed: ParsedRequest = parseRequest(request, this.types),
  ): ServerAnswer {
    try {
      this.#access.authorise(request, attributesOf(request.method, parsed));
      return parsed.target === undefined
        ? this.#answerPath(request, parsed)
        : this.#answerTarget(request, parsed, parsed.target);
    } catch (error) {
      if (error instanceof Refusal) return refused(error);
      throw error;
    }
  }

  #answerPath({ method }: ServerRequest, { path }: ParsedRequest): ServerAnswer {
    if (/^\/(?:healthz|readyz|livez)(?:\/|$)/.test(path)) {
      return { kind: 'answer', status: 200, contentType: 'text/plain; charset=utf-8', text: 'ok' };
    }
    const found = method === 'GET' ? discoveryOf(path, this.types) : undefined;
    if (found !== undefined) return answered(200, JSON.stringify(found));
    this.#refuseUnknown(path);
    return {
      kind: 'answer',
      status: 404,
      contentType: 'text/plain; charset=utf-8',
      text: '404 page not found\n',
    };
  }

  /** Built-in groups know what they do not have; elsewhere nobody is at home. */
  #refuseUnknown(path: string): void {
    const [, core, resource] = /^\/(?:api\/(v1)|apis\/([^/]+\/[^/]+))\/(?=.)/.exec(path) ?? [];
    const version = core ?? resource;
    for (const type of this.types.all()) {
      if (type.custom === undefined && apiVersionOf(type) === version) throw noSuchResource();
    }
    const owner = /^(.*\/namespaces\/[^/]+\/[^/]+\/[^/]+)\/[^/]+$/.exec(path)?.[1];
    const target =
      owner === undefined
        ? undefined
        : parseRequest({ method: 'GET', path: owner }, this.types).target;
    if (target !== undefined) throw notFound(target.type, target.name);
  }

  #answerTarget(request: ServerRequest, parsed: ParsedRequest, target: Target): ServerAnswer {
    const read: ReadQuery = {
      target,
      query: parsed.query,
      shape: shapeOf(request.accept ?? JSON_TYPE),
      nowMs: Number(this.#runtime.clock.unixNanos() / 1_000_000n),
    };
    switch (request.method) {
      case 'GET':
        if (parsed.isWatch) return this.#watch(request, read);
        if (target.name === '') return answered(200, listText(this.store, read));
        if (target.subresource === 'scale') return json(200, scaleOf(this.objects.get(target)));
        if (target.subresource !== '' && target.subresource !== 'status') throw methodNotAllowed();
        checkVersion(read.query);
        return answered(200, oneText(this.objects.get(target), read));
      case 'POST':
        return this.#writes.post(request, read);
      case 'PUT':
      case 'PATCH':
        return this.#writes.change(request, read);
      case 'DELETE':
        return this.#writes.delete(request, read);
      default:
        throw methodNotAllowed();
    }
  }

  #watch(request: ServerRequest, read: ReadQuery): ServerAnswer {
    const collection = collectionKey(read.target.type);
    const watch = openWatch(read, {
      runtime: this.#runtime,
      store: this.store,
      path: request.path,
      onEnd: (ended) => {
        this.#watches.delete(ended);
        this.#watchesOf.get(collection)?.delete(ended);
      },
    });
    if (watch.isOpen) {
      this.#watches.add(watch);
      const known = this.#watchesOf.get(collection);
      if (known === undefined) this.#watchesOf.set(collection, new Set([watch]));
      else known.add(watch);
    }
    return { kind: 'watch', watch };
  }

  // ── what follows a change ────────────────────────────────────────────────────────────────

  #follow(change: Change): void {
    const { collection } = change;
    if (collection === DEFINITIONS) this.#serveDefinition(change);
    for (const watch of this.#watchesOf.get(collection) ?? []) watch.follow(change);
    for (const controller of this.#controllers) controller.follow(change);
    if (collection === DEFINITIONS && change.before === undefined)
      establish(this.objects, change.after.object);
  }

  #serveDefinition(change: Change): void {
    followDefinition(change, {
      types: this.types,
      store: this.store,
      endWatches: (collection) => {
        for (const watch of Array.from(this.#watchesOf.get(collection) ?? [])) watch.end();
      },
    });
  }

  #startControllers(): void {
    const { controllers = {}, controllerDelayMs = CONTROLLER_DELAY_MS } = this.#options;
    const kinds = {
      garbage: GarbageCollector,
      disruption: DisruptionController,
      content: ContentRemover,
      nodeTaints: NodeTaints,
    };
    for (const name of Object.keys(kinds) as ControllerName[]) {
      if (controllers[name] === false) continue;
      this.#controllers.push(new kinds[name](this.#runtime, this.objects, controllerDelayMs));
    }
  }

  #restore(entry: JournalEntry): void {
    const before = this.store.get(entry.collection, entry.key);
    this.store.restore(entry);
    const after = this.store.get(entry.collection, entry.key) ?? before;
    if (after === undefined) return;
    const change = { ...entry, before, after, isRemoval: entry.object === null };
    if (entry.collection === DEFINITIONS) this.#serveDefinition(change);
    for (const controller of this.#controllers) controller.follow(change);
  }

  #seed(): void {
    const create = (plural: string, group: string, body: Obj): void => {
      const type = this.types.find(group, 'v1', plural);
      const name = textAt(body, 'metadata', 'name');
      if (type === undefined || this.objects.find({ type, namespace: '', name }) !== undefined)
        return;
      this.objects.create(type, '', body);
    };
    for (const name of NAMESPACES) create('namespaces', '', { metadata: { name } });
    for (const [name, value, description] of PRIORITY_CLASSES) {
      create('priorityclasses', 'scheduling.k8s.io', { metadata: { name }, value, description });
    }
  }
}
