// Two behaviours of grpc-js's client that break what a Channel promises, corrected on our
// channels and on no others. Each patch refuses to load against a library without the
// method it replaces, so that an upgrade cannot lose it silently.
//
// 1. Messages that the application has not read yet are forgotten when a failure status
//    arrives behind them; for an OK status the library waits. So it is shown OK, and the
//    real code travels beside it to the place that reports it.
// 2. A cancelled call ends its request stream properly (END_STREAM) before it resets it, so
//    the server first sees a complete request: a half-sent upload would be committed.
//    Destroying the HTTP/2 stream sends the reset alone.

import { addAbortSignal } from 'node:stream';
import type { ClientHttp2Stream } from 'node:http2';
import { assert } from '@bigfleet/base';
import type { StatusObject } from '@grpc/grpc-js';
import { Http2SubchannelCall } from '@grpc/grpc-js/build/src/subchannel-call.js';

/** The channel option that asks for the corrected behaviour. */
export const patchedOption = 'bigfleet.patched';

const realCodeKey = 'bigfleet-real-status';
const cancelled = AbortSignal.abort();

type Headers = Readonly<Record<string, unknown>>;

/** What the patches use of the library's private state. */
interface Internals {
  readonly transport: { getOptions(): Readonly<Record<string, unknown>> };
  readonly http2Stream: ClientHttp2Stream;
  readonly finalStatus: StatusObject | null;
  readonly serverEndedCall: boolean;
}

const handleTrailers = originalOf('handleTrailers');
replace('handleTrailers', function (this: Internals, headers: Headers): void {
  const code = headers['grpc-status'];
  const shown =
    isPatched(this) && code !== undefined && code !== '0'
      ? { ...headers, 'grpc-status': '0', [realCodeKey]: code }
      : headers;
  Reflect.apply(handleTrailers, this, [shown]);
});

const destroyStream = originalOf('destroyHttp2Stream');
replace('destroyHttp2Stream', function (this: Internals): void {
  if (isPatched(this) && isCancelledMidRequest(this)) addAbortSignal(cancelled, this.http2Stream);
  else Reflect.apply(destroyStream, this, []);
});

function isCancelledMidRequest(call: Internals): boolean {
  const { http2Stream, finalStatus, serverEndedCall } = call;
  return !http2Stream.writableEnded && !serverEndedCall && finalStatus?.code !== 0;
}

function isPatched(call: Internals): boolean {
  return call.transport.getOptions()[patchedOption] === 1;
}

function originalOf(name: string): (...args: unknown[]) => unknown {
  const method: unknown = Reflect.get(Http2SubchannelCall.prototype, name);
  assert(typeof method === 'function', 'this version of grpc-js is not the one we patch', { name });
  return method as (...args: unknown[]) => unknown;
}

function replace(name: string, value: (this: Internals, headers: Headers) => void): void {
  Object.defineProperty(Http2SubchannelCall.prototype, name, { value });
}

/** The code that the server sent. */
export function realCode(status: StatusObject): number {
  const [hidden] = status.metadata.get(realCodeKey);
  if (hidden === undefined) return status.code;
  status.metadata.remove(realCodeKey);
  return Number(hidden);
}
