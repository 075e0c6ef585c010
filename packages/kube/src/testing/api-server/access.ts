// Who asks, and whether that user may: bearer tokens, impersonation, and the roles of the store.

import { asObj, asText, at, type Obj, textAt } from './json.ts';
import {
  ANONYMOUS,
  type Attributes,
  forbiddenFor,
  isAllowed,
  unauthorized,
  type User,
} from './rbac.ts';
import type { ServerRequest } from './request.ts';
import type { Store } from './store.ts';

export interface AccessOptions {
  /** Bearer tokens and who they are. With it, an unknown token is 401 and no token is anonymous. */
  readonly tokens?: ReadonlyMap<string, User> | undefined;
  /** Roles and bindings decide; without it everybody may do everything. */
  readonly hasRbac?: boolean | undefined;
}

export class Access {
  readonly #store: Store;
  readonly #options: AccessOptions;

  constructor(store: Store, options: AccessOptions) {
    this.#store = store;
    this.#options = options;
  }

  authorise(request: ServerRequest, attributes: Attributes): void {
    const user = this.#userOf(request);
    if (this.#options.hasRbac !== true) return;
    if (!isAllowed(this.#store, user, attributes)) throw forbiddenFor(user, attributes);
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
    if (hasRbac === true && !isAllowed(this.#store, user, asked)) throw forbiddenFor(user, asked);
    return { name: impersonated.user, groups: [...impersonated.groups, 'system:authenticated'] };
  }

  /** The answer to a SelfSubjectAccessReview. */
  review(request: ServerRequest, body: Obj): Obj {
    const asked = asObj(at(body, 'spec', 'resourceAttributes'));
    const allowed =
      this.#options.hasRbac !== true ||
      isAllowed(this.#store, this.#userOf(request), {
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
}
