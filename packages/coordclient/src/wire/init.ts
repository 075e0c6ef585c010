// The plain form in which a message is handed to the codec.

import type { encodeInit } from '@bigfleet/wire';

type Schema = Parameters<typeof encodeInit>[0];

/** A plain object, never a message. */
export type Init<S extends Schema> = Exclude<
  Parameters<typeof encodeInit<S>>[1],
  { readonly $typeName: string }
>;
