// The test API server: kube-apiserver's behaviour over plain objects in memory, for tests under virtual time
// and for the demo's clusters. No I/O here; `in-memory-transport.ts` and `listen.ts` are its two faces.
//
// Every request is answered in one turn, so requests are atomic; controllers work in later turns, as they
// do on a real cluster. Where this server and a real one differ, this one is wrong: `test/kube/behaviour` holds
// both to one set of dialogues.

import { type Runtime, sleep } from '@bigfleet/base';
import { parseYaml } from '@bigfleet/process';
import { isObject } from '../../api/answer.ts';
import { checkDefinition, DEFINITIONS, establish, followDefinition } from './definitions.ts';
import { DisruptionController } from './disruption.ts';
import { discoveryOf } from './discovery.ts';
import { Faults } from './faults.ts';
import { GarbageCollector } from './garbage.ts';
import { asNumber, asObj, asText, at, metaOf, type Obj, textAt } from './json.ts';
import { ContentRemover, NodeTaints } from './lifecycle.ts';
import { type DeleteOptions, Objects, type WriteMode } from './objects.ts';
import { applied, appliedAtomic, jsonPatch, objectPatch, strategicPatch } from './patch.ts';
import {
  ANONYMOUS,
  type Attributes,
  forbiddenFor,
  isAllowed,
  unauthorized,
  type User,
} from './rbac.ts';
import { checkVersion, listText, oneText, openWatch, type ReadQuery, shapeOf } from './reads.ts';
import {
  attributesOf,
  type ParsedRequest,
  parseRequest,
  type ServerRequest,
  type Target,
} from './request.ts';
import { apiVersionOf, collectionKey, ResourceTypes } from './resources.ts';
import { scaled, scaleOf } from './scale.ts';
import { selectionOf } from './selectors.ts';
import {
  badRequest,
  detailsOf,
  fieldError,
  invalidOptions,
  MEDIA_TYPES,
  methodNotAllowed,
  noSuchResource,
  notFound,
  qualified,
  Refusal,
  success,
  unsupportedMediaType,
} from './status.ts';
import { type Change, type JournalEntry, Store } from './store.ts';
import { bind, evict } from './subresources.ts';
import type { Watch } from './watch.ts';

export interface ApiServerOptions {
  readonly runtime: Runtime;
  /** Changes that watches and continued lists can still read. */
  readonly logLimit?: number | undefined;
  /** All on by default. */
  readonly controllers?: Partial<Record<ControllerName, boolean>> | undefined;
  /** How long controllers take to notice. */
  readonly controllerDelayMs?: number | undefined;
  /** Bearer tokens and who they are. With it, an unknown token is 401 and no token is anonymous. */
  readonly tokens?: ReadonlyMap<string, User> | undefined;
  /** Roles and bindings decide; without it everybody may do everything. */
  readonly hasRbac?: boolean | undefined;
  readonly journal?: Journal | undefined;
}

export type ControllerName = 'garbage' | 'disruption' | 'content' | 'nodeTaints';

/** Durable storage: entries of earlier runs, and where new ones go. */
export interface Journal {
  readonly entries: Iterable<JournalEntry>;
  append(entry: JournalEntry): void;
}

export type ServerAnswer =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly contentType: string;
      readonly text: string;
      readonly retryAfterSeconds?: number | undefined;
    }
  | { readonly kind: 'watch'; readonly watch: Watch }
  /** The connection is to be cut, or to stay without an answer. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'hang' };

const LOG_LIMIT = 50_000;
const CONTROLLER_DELAY_MS = 5;
const JSON_TYPE = 'application/json';
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
      this.#authorise(request, attributesOf(request.method, parsed));
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
        return this.#post(request, read);
      case 'PUT':
      case 'PATCH':
        return this.#change(request, read);
      case 'DELETE':
        return this.#delete(request, read);
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

  #post(request: ServerRequest, read: ReadQuery): ServerAnswer {
    const { target, query } = read;
    const body = bodyOf(request);
    const mode = modeOf(query);
    if (target.type.custom !== undefined && target.name === '') checkHasKind(target, request, body);
    if (target.subresource === 'binding') return json(201, bind(this.objects, target, body, mode));
    if (target.subresource === 'eviction') {
      const options = deleteOptionsOf(asObj(body['deleteOptions']), query);
      return json(201, evict(this.objects, target, { body, options }));
    }
    if (target.name !== '') throw unsupportedCreate(target);
    if (target.type.plural === 'selfsubjectaccessreviews')
      return json(201, this.#review(request, body));
    if (target.type.group === '' && target.type.plural === 'bindings') {
      const type = this.types.find('', 'v1', 'pods');
      if (type === undefined) throw methodNotAllowed();
      const place = { type, namespace: target.namespace, name: textAt(body, 'metadata', 'name') };
      return json(201, bind(this.objects, place, body, mode));
    }
    if (target.type.isNamespaced && target.namespace === '') throw methodNotAllowed();
    const created = this.objects.create(target.type, target.namespace, body, mode);
    const shown =
      this.store.get(collectionKey(target.type), keyOfObject(created))?.object ?? created;
    return answered(
      201,
      oneText(target.type.plural === 'customresourcedefinitions' ? shown : created, read),
    );
  }

  #change(request: ServerRequest, read: ReadQuery): ServerAnswer {
    const { target, query } = read;
    if (target.name === '') throw methodNotAllowed();
    if (target.subresource === 'binding' || target.subresource === 'eviction')
      throw methodNotAllowed();
    if (target.subresource === 'scale') return this.#scale(request, target, modeOf(query));
    const isPut = request.method === 'PUT';
    const mode = { ...modeOf(query), isStatus: target.subresource === 'status', isPut };
    if (isPut) {
      const body = bodyOf(request);
      checkName(textAt(body, 'metadata', 'name'), target);
      if (target.type.allowsCreateOnUpdate && this.objects.find(target) === undefined) {
        return answered(
          201,
          oneText(this.objects.create(target.type, target.namespace, body, mode), read),
        );
      }
      return answered(
        200,
        oneText(
          this.objects.update(target, () => body, mode),
          read,
        ),
      );
    }
    const patch = this.#patchOf(request, target);
    if (patch.isApply && this.objects.find(target) === undefined) {
      const body = asObj(
        patch.apply({ apiVersion: apiVersionOf(target.type), kind: target.type.kind }),
      );
      const metadata = { ...asObj(body['metadata']), name: target.name };
      const created = this.objects.create(
        target.type,
        target.namespace,
        { ...body, metadata },
        mode,
      );
      return answered(201, oneText(created, read));
    }
    const changed = this.objects.update(
      target,
      (current) => {
        const next = asObj(patch.apply(current));
        checkName(textAt(next, 'metadata', 'name'), target);
        return next;
      },
      mode,
    );
    return answered(200, oneText(changed, read));
  }

  #scale(request: ServerRequest, target: Target, mode: WriteMode): ServerAnswer {
    const isPut = request.method === 'PUT';
    const change = isPut ? () => bodyOf(request) : this.#patchOf(request, target).apply;
    const workload = this.objects.update(
      target,
      (current) => scaled(current, asObj(change(scaleOf(current)))),
      mode,
    );
    return json(200, scaleOf(workload));
  }

  #patchOf(
    request: ServerRequest,
    { type }: Target,
  ): { readonly isApply: boolean; readonly apply: (current: Obj) => unknown } {
    const isCustom = type.custom !== undefined;
    const media = (request.contentType ?? '').split(';')[0]?.trim() ?? '';
    const text = request.body ?? '';
    switch (media) {
      case 'application/merge-patch+json':
        return { isApply: false, apply: (current) => objectPatch(current, parsedBody(text)) };
      case 'application/json-patch+json':
        return { isApply: false, apply: (current) => jsonPatch(current, parsedBody(text)) };
      case 'application/strategic-merge-patch+json':
        if (isCustom) break;
        return { isApply: false, apply: (current) => strategicPatch(current, parsedBody(text)) };
      case 'application/apply-patch+yaml': {
        const body = parsedYaml(text);
        const overlay =
          isCustom || type.plural === 'customresourcedefinitions' ? appliedAtomic : applied;
        return { isApply: true, apply: (current) => overlay(current, body) };
      }
      default:
    }
    if (!isCustom)
      throw new Refusal(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
    throw unsupportedMediaType([
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/apply-patch+yaml',
    ]);
  }

  #delete(request: ServerRequest, read: ReadQuery): ServerAnswer {
    const { target, query } = read;
    const { type } = target;
    if (target.subresource !== '') throw methodNotAllowed();
    const body = (request.body ?? '') === '' ? {} : bodyOf(request);
    const options = deleteOptionsOf(body, query);
    if (target.name === '') return this.#deleteAll(read, options);
    const { object, isGone } = this.objects.delete(target, options);
    if (!isGone || type.returnsDeleted) return answered(200, oneText(object, read));
    return json(200, success(200, detailsOf(type, target.name, { uid: metaOf(object)['uid'] })));
  }

  #deleteAll(read: ReadQuery, options: DeleteOptions): ServerAnswer {
    const { target, query } = read;
    const { type, namespace } = target;
    const selection = selectionOf(
      type,
      query.get('labelSelector') ?? '',
      query.get('fieldSelector') ?? '',
    );
    const text = listText(this.store, { ...read, shape: 'object' });
    const prefix = namespace === '' ? '' : `${namespace}/`;
    for (const [, { object }] of Array.from(this.store.range(collectionKey(type), prefix))) {
      if (selection !== undefined && !selection(object)) continue;
      const place = {
        type,
        namespace: textAt(object, 'metadata', 'namespace'),
        name: textAt(object, 'metadata', 'name'),
      };
      this.objects.delete(place, options);
    }
    return answered(200, text);
  }

  // ── who may ──────────────────────────────────────────────────────────────────────────────

  #authorise(request: ServerRequest, attributes: Attributes): void {
    const user = this.#userOf(request);
    if (this.#options.hasRbac !== true) return;
    if (!isAllowed(this.store, user, attributes)) throw forbiddenFor(user, attributes);
  }

  #userOf({ bearerToken, impersonated }: ServerRequest): User {
    const { tokens, hasRbac } = this.#options;
    let user = ANONYMOUS;
    if (tokens !== undefined && bearerToken !== undefined) {
      const known = tokens.get(bearerToken);
      if (known === undefined) throw unauthorized();
      user = { ...known, groups: [...known.groups, 'system:authenticated'] };
    }
    if (impersonated === undefined) return user;
    const asked: Attributes = {
      verb: 'impersonate',
      group: '',
      resource: 'users',
      subresource: '',
      namespace: '',
      name: impersonated.user,
      path: '',
    };
    if (hasRbac === true && !isAllowed(this.store, user, asked)) throw forbiddenFor(user, asked);
    return { name: impersonated.user, groups: [...impersonated.groups, 'system:authenticated'] };
  }

  #review(request: ServerRequest, body: Obj): Obj {
    const asked = asObj(at(body, 'spec', 'resourceAttributes'));
    const allowed =
      this.#options.hasRbac !== true ||
      isAllowed(this.store, this.#userOf(request), {
        verb: asText(asked['verb']),
        group: asText(asked['group']),
        resource: asText(asked['resource']),
        subresource: asText(asked['subresource']),
        namespace: asText(asked['namespace']),
        name: asText(asked['name']),
        path: textAt(body, 'spec', 'nonResourceAttributes', 'path'),
      });
    return { ...body, status: { allowed } };
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

function keyOfObject(object: Obj): string {
  const namespace = textAt(object, 'metadata', 'namespace');
  const name = textAt(object, 'metadata', 'name');
  return namespace === '' ? name : `${namespace}/${name}`;
}

function answered(status: number, text: string): ServerAnswer {
  return { kind: 'answer', status, contentType: JSON_TYPE, text };
}

function json(status: number, object: Obj): ServerAnswer {
  return answered(status, JSON.stringify(object));
}

function refused(refusal: Refusal): ServerAnswer {
  const seconds = asNumber(at(refusal.status, 'details', 'retryAfterSeconds'));
  return {
    kind: 'answer',
    status: refusal.code,
    contentType: JSON_TYPE,
    text: JSON.stringify(refusal.status),
    retryAfterSeconds: seconds !== undefined && seconds > 0 ? seconds : undefined,
  };
}

/** The real server's flow control answers 429 before anything knows about Statuses: in plain text. */
function faultAnswer(refusal: Refusal): ServerAnswer {
  const answer = refused(refusal);
  if (refusal.code !== 429 || answer.kind !== 'answer') return answer;
  return { ...answer, contentType: 'text/plain; charset=utf-8', text: `${refusal.message}\n` };
}

function parsedBody(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw badRequest(
      `error decoding the request body: ${error instanceof Error ? error.message : ''}`,
    );
  }
}

function parsedYaml(text: string): unknown {
  const parsed = parseYaml(text);
  if (!parsed.ok) throw badRequest(`error decoding YAML: ${parsed.error}`);
  return parsed.value;
}

function bodyOf({ body = '', contentType }: ServerRequest): Obj {
  const media = (contentType ?? JSON_TYPE).split(';')[0]?.trim() ?? '';
  if (media === 'application/yaml') return asObj(parsedYaml(body));
  if (media !== JSON_TYPE && media !== '*/*' && media !== '') {
    throw unsupportedMediaType(MEDIA_TYPES);
  }
  const parsed = parsedBody(body);
  if (!isObject(parsed)) throw badRequest('error decoding the request body: no object');
  return parsed;
}

function checkName(name: string, target: Target): void {
  if (name === target.name) return;
  throw badRequest(
    `the name of the object (${name}) does not match the name on the URL (${target.name})`,
  );
}

const SUMMARY_LENGTH = 30;

/** A custom resource says what it is; built-in kinds are told by the path. */
function checkHasKind({ type }: Target, { body = '' }: ServerRequest, object: Obj): void {
  if (asText(object['kind']) !== '') return;
  const summary = body.length > SUMMARY_LENGTH ? `${body.slice(0, SUMMARY_LENGTH)} ...` : body;
  throw badRequest(
    `the object provided is unrecognized (must be of type ${type.kind}): Object 'Kind' is missing in '${body}' (${summary})`,
  );
}

function unsupportedCreate({ type }: Target): Refusal {
  if (type.custom === undefined) return methodNotAllowed();
  const message = `create is not supported on resources of kind "${qualified(type)}"`;
  return new Refusal(405, 'MethodNotAllowed', message, detailsOf(type, ''));
}

const VALIDATIONS = ['', 'Ignore', 'Strict', 'Warn'];

function modeOf(query: URLSearchParams): WriteMode {
  const validation = query.get('fieldValidation') ?? '';
  if (!VALIDATIONS.includes(validation)) {
    const problem = fieldError.unsupported('fieldValidation', validation, VALIDATIONS);
    throw invalidOptions('CreateOptions', [problem]);
  }

  const dryRun = query.getAll('dryRun');
  if (dryRun.some((one) => one !== 'All')) {
    throw badRequest(`Invalid value: ${JSON.stringify(dryRun)}: dryRun: supported values: "All"`);
  }
  return { isDryRun: dryRun.length > 0, isStrict: query.get('fieldValidation') === 'Strict' };
}

const POLICIES = ['Foreground', 'Background', 'Orphan'];

/** `Kind` is that of the options, when the body names one. */
function checkDeleteOptions(body: Obj): void {
  const kind = asText(body['kind']);
  if (kind !== '' && kind !== 'DeleteOptions') throw badRequest(`no kind "${kind}" is registered`);
  const field = 'propagationPolicy';
  const policy = asText(body[field]);
  if (policy === '') return;
  if (!POLICIES.includes(policy)) {
    const problem = fieldError.unsupported(field, policy, [...POLICIES, 'nil']);
    throw invalidOptions('DeleteOptions', [problem]);
  }
  if (body['orphanDependents'] === undefined) return;
  const detail = 'orphanDependents and deletionPropagation cannot be both set';
  throw invalidOptions('DeleteOptions', [fieldError.invalid(field, policy, detail)]);
}

function deleteOptionsOf(body: Obj, query: URLSearchParams): DeleteOptions {
  checkDeleteOptions(body);
  const grace =
    asNumber(body['gracePeriodSeconds']) ?? query.get('gracePeriodSeconds') ?? undefined;
  const asked = body['dryRun'];
  return {
    isDryRun: modeOf(query).isDryRun === true || (Array.isArray(asked) && asked.includes('All')),
    gracePeriodSeconds: grace === undefined ? undefined : Number(grace),
    propagationPolicy:
      (asText(body['propagationPolicy']) || query.get('propagationPolicy')) ?? undefined,
    uid: asText(at(body, 'preconditions', 'uid')) || undefined,
    resourceVersion: asText(at(body, 'preconditions', 'resourceVersion')) || undefined,
  };
}
