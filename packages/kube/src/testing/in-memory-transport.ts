// A `KubeTransport` straight into a test API server in the same process, under any Runtime: no sockets, so
// that virtual time moves everything. Like a network, it never answers in the same turn, and a cut
// connection looks the same as on the real one.

import { BigFleetError, type Runtime } from '@bigfleet/base';
import type { KubeHttpRequest, KubeHttpResponse, KubeTransport } from '../transport/transport.ts';
import type { ServerAnswer } from './api-server/answers.ts';
import type { ApiServer } from './api-server/server.ts';
import type { Watch } from './api-server/watch.ts';

export interface InMemoryTransportOptions {
  readonly runtime: Runtime;
  readonly server: ApiServer;
  /** Read for every request until `refreshCredentials`, as a file would be. */
  readonly token?: (() => string | undefined) | undefined;
  readonly impersonated?: { readonly user: string; readonly groups: readonly string[] } | undefined;
}

export class InMemoryTransport implements KubeTransport {
  readonly #options: InMemoryTransportOptions;
  readonly #closed = new AbortController();
  #token: { readonly value: string | undefined } | undefined;
  /** How often the credentials were dropped after a 401. */
  refreshCount = 0;

  constructor(options: InMemoryTransportOptions) {
    this.#options = options;
  }

  async send(request: KubeHttpRequest): Promise<KubeHttpResponse> {
    const { runtime, server, token, impersonated } = this.#options;
    const signal = AbortSignal.any([request.signal, this.#closed.signal]);
    signal.throwIfAborted();
    await runtime.timers.turn();
    signal.throwIfAborted();
    this.#token ??= { value: token?.() };
    const { method, path, body, contentType } = request;
    const asked = { method, path, body, contentType, bearerToken: this.#token.value, impersonated };
    const answer = await unlessAborted(server.handle(asked), signal);
    return this.#responseOf(answer, request, signal);
  }

  refreshCredentials(): void {
    this.refreshCount++;
    this.#token = undefined;
  }

  close(): void {
    this.#closed.abort(new BigFleetError('cancelled', 'the transport is closed'));
  }

  #responseOf(
    answer: ServerAnswer,
    request: KubeHttpRequest,
    signal: AbortSignal,
  ): KubeHttpResponse | Promise<KubeHttpResponse> {
    switch (answer.kind) {
      case 'reset':
        throw cut(request);
      case 'hang':
        return unlessAborted(new Promise<never>(() => undefined), signal);
      case 'watch': {
        const { watch } = answer;
        return {
          status: 200,
          retryAfterSeconds: undefined,
          body: watchBody(watch, request, signal),
          destroy: () => watch.end(),
        };
      }
      case 'answer':
        return {
          status: answer.status,
          retryAfterSeconds: answer.retryAfterSeconds,
          body: textBody(answer.text),
          destroy: () => undefined,
        };
    }
  }
}

function cut({ method, path }: KubeHttpRequest): BigFleetError {
  return new BigFleetError(
    'kube_unreachable',
    `${method} ${path.split('?')[0] ?? ''}: socket hang up`,
  );
}

async function* textBody(text: string): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from(text));
}

async function* watchBody(
  watch: Watch,
  request: KubeHttpRequest,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const read = await unlessAborted(watch.read(), signal);
      if (read.kind === 'end') return;
      if (read.kind === 'broken') throw cut(request);
      yield Buffer.from(read.text);
    }
  } finally {
    watch.end();
  }
}

/** Rejects with the signal's reason as soon as it aborts, whatever the promise does. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    promise
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort))
      .catch(() => undefined);
  });
}
