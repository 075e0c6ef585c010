// The shape that a message of the wire is made from.

import type { encodeInit } from '@bigfleet/wire';

type Schema = Parameters<typeof encodeInit>[0];

export type Init<S extends Schema> = Parameters<typeof encodeInit<S>>[1];

/** A plain object, never a message: what a list of a message is made from. */
export type RowInit<S extends Schema> = Exclude<Init<S>, { readonly $typeName: string }>;
