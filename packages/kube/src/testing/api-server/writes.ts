// The requests that change something: create, replace, patch, apply, scale and delete, with the subresources
// that are written.

import type { Access } from './access.ts';
import { answered, json, type ServerAnswer } from './answers.ts';
import { asObj, metaOf, type Obj, textAt } from './json.ts';
import type { DeleteOptions, Objects, WriteMode } from './objects.ts';
import { applied, appliedAtomic, jsonPatch, objectPatch, strategicPatch } from './patch.ts';
import { listText, oneText, type ReadQuery } from './reads.ts';
import type { ServerRequest, Target } from './request.ts';
import { apiVersionOf, collectionKey, type ResourceTypes } from './resources.ts';
import { scaled, scaleOf } from './scale.ts';
import { selectionOf } from './selectors.ts';
import { detailsOf, methodNotAllowed, Refusal, success, unsupportedMediaType } from './status.ts';
import type { Store } from './store.ts';
import { bind, evict } from './subresources.ts';
import {
  bodyOf,
  checkHasKind,
  checkName,
  deleteOptionsOf,
  modeOf,
  parsedBody,
  parsedYaml,
  unsupportedCreate,
} from './write-request.ts';

export interface WritesOptions {
  readonly store: Store;
  readonly objects: Objects;
  readonly types: ResourceTypes;
  readonly access: Access;
}

export class Writes {
  readonly #store: Store;
  readonly #objects: Objects;
  readonly #types: ResourceTypes;
  readonly #access: Access;

  constructor({ store, objects, types, access }: WritesOptions) {
    this.#store = store;
    this.#objects = objects;
    this.#types = types;
    this.#access = access;
  }

  post(request: ServerRequest, read: ReadQuery): ServerAnswer {
    const { target, query } = read;
    const body = bodyOf(request);
    const mode = modeOf(query);
    if (target.type.custom !== undefined && target.name === '') checkHasKind(target, request, body);
    if (target.subresource === 'binding') return json(201, bind(this.#objects, target, body, mode));
    if (target.subresource === 'eviction') {
      const options = deleteOptionsOf(asObj(body['deleteOptions']), query);
      return json(201, evict(this.#objects, target, { body, options }));
    }
    if (target.name !== '') throw unsupportedCreate(target);
    if (target.type.plural === 'selfsubjectaccessreviews')
      return json(201, this.#access.review(request, body));
    if (target.type.group === '' && target.type.plural === 'bindings') {
      const type = this.#types.find('', 'v1', 'pods');
      if (type === undefined) throw methodNotAllowed();
      const place = { type, namespace: target.namespace, name: textAt(body, 'metadata', 'name') };
      return json(201, bind(this.#objects, place, body, mode));
    }
    if (target.type.isNamespaced && target.namespace === '') throw methodNotAllowed();
    const created = this.#objects.create(target.type, target.namespace, body, mode);
    const shown =
      this.#store.get(collectionKey(target.type), keyOfObject(created))?.object ?? created;
    return answered(
      201,
      oneText(target.type.plural === 'customresourcedefinitions' ? shown : created, read),
    );
  }

  change(request: ServerRequest, read: ReadQuery): ServerAnswer {
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
      if (target.type.allowsCreateOnUpdate && this.#objects.find(target) === undefined) {
        return answered(
          201,
          oneText(this.#objects.create(target.type, target.namespace, body, mode), read),
        );
      }
      return answered(
        200,
        oneText(
          this.#objects.update(target, () => body, mode),
          read,
        ),
      );
    }
    const patch = this.#patchOf(request, target);
    if (patch.isApply && this.#objects.find(target) === undefined) {
      const body = asObj(
        patch.apply({ apiVersion: apiVersionOf(target.type), kind: target.type.kind }),
      );
      const metadata = { ...asObj(body['metadata']), name: target.name };
      const created = this.#objects.create(
        target.type,
        target.namespace,
        { ...body, metadata },
        mode,
      );
      return answered(201, oneText(created, read));
    }
    const changed = this.#objects.update(
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
    const workload = this.#objects.update(
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

  delete(request: ServerRequest, read: ReadQuery): ServerAnswer {
    const { target, query } = read;
    const { type } = target;
    if (target.subresource !== '') throw methodNotAllowed();
    const body = (request.body ?? '') === '' ? {} : bodyOf(request);
    const options = deleteOptionsOf(body, query);
    if (target.name === '') return this.#deleteAll(read, options);
    const { object, isGone } = this.#objects.delete(target, options);
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
    const text = listText(this.#store, { ...read, shape: 'object' });
    const prefix = namespace === '' ? '' : `${namespace}/`;
    for (const [, { object }] of Array.from(this.#store.range(collectionKey(type), prefix))) {
      if (selection !== undefined && !selection(object)) continue;
      const place = {
        type,
        namespace: textAt(object, 'metadata', 'namespace'),
        name: textAt(object, 'metadata', 'name'),
      };
      this.#objects.delete(place, options);
    }
    return answered(200, text);
  }
}

function keyOfObject(object: Obj): string {
  const namespace = textAt(object, 'metadata', 'namespace');
  const name = textAt(object, 'metadata', 'name');
  return namespace === '' ? name : `${namespace}/${name}`;
}
