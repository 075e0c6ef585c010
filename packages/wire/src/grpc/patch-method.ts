// How a behaviour of grpc-js is corrected on our channels and on no others: a method is wrapped, and
// the wrapper looks for our option. Refuses to load against a library without the method, so that
// an upgrade cannot lose a correction silently.

import { assert } from '@bigfleet/base';

/** The channel option that asks for the corrected behaviour. */
export const patchedOption = 'bigfleet.patched';

export type Options = Readonly<Record<string, unknown>>;

type Method = (...args: never[]) => unknown;

export function isPatched(options: Options): boolean {
  return options[patchedOption] === 1;
}

/** Replaces a method by one that is given the original. */
export function patchMethod<This, Patched extends Method>(
  owner: { readonly prototype: unknown; readonly name: string },
  method: string,
  wrap: (original: (self: This, args: Parameters<Patched>) => ReturnType<Patched>) => Patched,
): void {
  const prototype = owner.prototype as object;
  const original: unknown = Reflect.get(prototype, method);
  assert(typeof original === 'function', 'this version of grpc-js is not the one we patch', {
    name: `${owner.name}.${method}`,
  });
  const call = (self: This, args: Parameters<Patched>): ReturnType<Patched> =>
    Reflect.apply(original, self, args) as ReturnType<Patched>;
  Object.defineProperty(prototype, method, { value: wrap(call) });
}
