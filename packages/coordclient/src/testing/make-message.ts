// A message as the wire would deliver it.

import { decode, encodeInit } from '@bigfleet/wire';

export { CoordinatorInstructionSchema } from '@bigfleet/wire';

export function create<S extends Parameters<typeof encodeInit>[0]>(
  schema: S,
  init: Parameters<typeof encodeInit<S>>[1],
): ReturnType<typeof decode<S>> {
  return decode(schema, encodeInit(schema, init), 'INTERNAL');
}
