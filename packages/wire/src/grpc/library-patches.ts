// Two behaviours of grpc-js's calls that break what a Channel promises, corrected.
//
// 1. Messages that the application has not read yet are forgotten when a failure status
//    arrives behind them; for an OK status the library waits. So it is shown OK, and the
//    real code travels beside it to the place that reports it.
// 2. A cancelled call ends its request stream properly (END_STREAM) before it resets it, so
//    the server first sees a complete request: a half-sent upload would be committed.
//    Destroying the HTTP/2 stream sends the reset alone.

import { addAbortSignal } from 'node:stream';
import type { ClientHttp2Stream } from 'node:http2';
import type { StatusObject } from '@grpc/grpc-js';
import { Http2SubchannelCall } from '@grpc/grpc-js/build/src/subchannel-call.js';
import { isPatched, type Options, patchMethod } from './patch-method.ts';

const realCodeKey = 'bigfleet-real-status';
const cancelled = AbortSignal.abort();

type Headers = Readonly<Record<string, unknown>>;

/** What the patches use of the library's private state. */
interface Internals {
  readonly transport: { getOptions(): Options };
  readonly http2Stream: ClientHttp2Stream;
  readonly finalStatus: StatusObject | null;
  readonly serverEndedCall: boolean;
}

type HandleTrailers = (this: Internals, headers: Headers) => void;
patchMethod<Internals, HandleTrailers>(Http2SubchannelCall, 'handleTrailers', (original) => {
  return function (this: Internals, headers: Headers): void {
    const code = headers['grpc-status'];
    const shown =
      isOurs(this) && code !== undefined && code !== '0'
        ? { ...headers, 'grpc-status': '0', [realCodeKey]: code }
        : headers;
    original(this, [shown]);
  };
});

type DestroyStream = (this: Internals) => void;
patchMethod<Internals, DestroyStream>(Http2SubchannelCall, 'destroyHttp2Stream', (original) => {
  return function (this: Internals): void {
    if (isOurs(this) && isCancelledMidRequest(this)) addAbortSignal(cancelled, this.http2Stream);
    else original(this, []);
  };
});

function isCancelledMidRequest(call: Internals): boolean {
  const { http2Stream, finalStatus, serverEndedCall } = call;
  return !http2Stream.writableEnded && !serverEndedCall && finalStatus?.code !== 0;
}

function isOurs(call: Internals): boolean {
  return isPatched(call.transport.getOptions());
}

/** The code that the server sent. */
export function realCode(status: StatusObject): number {
  const [hidden] = status.metadata.get(realCodeKey);
  if (hidden === undefined) return status.code;
  status.metadata.remove(realCodeKey);
  return Number(hidden);
}
