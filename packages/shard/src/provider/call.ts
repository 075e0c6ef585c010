// One attempt at one call of a provider. Nothing is retried, here or in the channel, because a
// repeated token reads as a zombie. A call without a deadline gets one: it bounds acceptance, not
// the transition. What fails is a ProviderError, whichever thread asked.

import { deadlineOf, type Runtime, withDeadline } from '@bigfleet/base';
import {
  type CallOptions,
  CapacityProvider,
  type Channel,
  encodeInit,
  ListFilterSchema,
  pathOf,
} from '@bigfleet/wire';
import { toProviderError } from './provider-error.ts';
import type { CallLimits, ListRequest } from './provider.ts';

export interface Line {
  readonly runtime: Runtime;
  /** Retries off, as wire's channels are. The owner closes it. */
  readonly channel: Channel;
}

export interface Call {
  readonly path: string;
  readonly request: Uint8Array;
  /** Unless the caller's signal has one. */
  readonly deadlineMs: number;
}

export async function callProvider(
  line: Line,
  call: Call,
  { signal, ...told }: CallLimits = {},
): Promise<Uint8Array> {
  if (signal !== undefined && deadlineOf(signal) !== undefined) {
    return send(line, call, { ...told, signal });
  }
  const deadline = withDeadline(line.runtime, call.deadlineMs, signal);
  try {
    return await send(line, call, { ...told, signal: deadline.signal });
  } finally {
    deadline.dispose();
  }
}

async function send(
  { channel }: Line,
  { path, request }: Call,
  options: CallOptions,
): Promise<Uint8Array> {
  try {
    return await channel.unary(path, request, options);
  } catch (thrown) {
    throw toProviderError(thrown);
  }
}

// List, from main or from the reconcile thread: the answer stays undecoded.

/** Its own: a cold List of half a million machines does not fit a call's deadline. */
export const LIST_DEADLINE_MS = 120_000;

const PATH = pathOf(CapacityProvider.method.list);

export function listProvider(
  line: Line,
  request: ListRequest,
  limits?: CallLimits,
): Promise<Uint8Array> {
  const call = { path: PATH, request: encodeInit(ListFilterSchema, request) };
  return callProvider(line, { ...call, deadlineMs: LIST_DEADLINE_MS }, limits);
}
