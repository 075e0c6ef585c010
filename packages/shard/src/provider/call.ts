// One attempt at one call of a provider. Nothing is retried, here or in the channel, because a
// repeated token reads as a zombie. A call without a deadline gets one: it bounds acceptance, not
// the transition. What fails is a ProviderError, whichever thread asked.

import { deadlineOf, type Runtime, withDeadline } from '@bigfleet/base';
import type { CallOptions, Channel } from '@bigfleet/wire';
import type { CallLimits } from './provider.ts';
import { toProviderError } from './provider-error.ts';

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
