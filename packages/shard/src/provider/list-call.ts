// List, on whichever thread: the answer is the bytes as they came, for whoever decodes them.

import { CapacityProvider, encodeInit, ListFilterSchema, pathOf } from '@bigfleet/wire';
import { callProvider, type Line } from './call.ts';
import type { CallLimits, ListRequest } from './provider.ts';

/** Its own: a cold List of half a million machines does not fit a call's deadline. */
export const LIST_DEADLINE_MS = 120_000;

const PATH = pathOf(CapacityProvider.method.list);

export function listProvider(
  line: Line,
  { states = [], maxResults = 0, sinceRevision = new Uint8Array(0) }: ListRequest,
  limits?: CallLimits,
): Promise<Uint8Array> {
  const request = encodeInit(ListFilterSchema, { states: [...states], maxResults, sinceRevision });
  return callProvider(line, { path: PATH, request, deadlineMs: LIST_DEADLINE_MS }, limits);
}
