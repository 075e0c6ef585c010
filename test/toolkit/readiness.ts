// When a started process counts as up. Each kind asks the process itself, not a sleep: a line it
// prints, a port it accepts on, an HTTP 200, or a check of the caller's own.

import { connect } from 'node:net';
import { http } from './http.ts';
import { ATTEMPT_MS } from './real-time.ts';

export type Readiness =
  | { readonly kind: 'line'; readonly pattern: RegExp }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'http'; readonly url: string }
  | { readonly kind: 'check'; readonly check: (signal: AbortSignal) => Promise<boolean> };

/** The kinds that are polled; a line is pushed by the process instead. */
export type PolledReadiness = Exclude<Readiness, { kind: 'line' }>;

export async function isReady(readiness: PolledReadiness, signal: AbortSignal): Promise<boolean> {
  switch (readiness.kind) {
    case 'tcp':
      return canConnect(readiness.host, readiness.port, signal);
    case 'http':
      return (await http({ url: readiness.url, withinMs: ATTEMPT_MS })).status === 200;
    case 'check':
      return readiness.check(signal);
  }
}

/** Whether a TCP connection opens before the signal aborts. */
export function canConnect(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const finish = (connected: boolean): void => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      resolve(connected);
    };
    const onAbort = (): void => finish(false);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}
