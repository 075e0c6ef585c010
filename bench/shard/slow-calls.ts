// A provider whose substrate has to be asked: every call about one machine takes its time before it is
// answered, however many are open. List is answered from memory, as real providers do it.

import { setTimeout as sleep } from 'node:timers/promises';
import { type ByteMethod, type ByteRouter, CapacityProvider, pathOf } from '@bigfleet/wire';

const { create, configure, drain, delete: remove, get } = CapacityProvider.method;
const CHANGES: ReadonlySet<string> = new Set([create, configure, drain, remove].map(pathOf));
const GET = pathOf(get);

export class SlowCalls {
  readonly #callMs: number;
  #openCount = 0;
  /** Calls that change something. */
  count = 0;
  openMax = 0;

  constructor(callMs: number) {
    this.#callMs = callMs;
  }

  slowed(router: ByteRouter): ByteRouter {
    return {
      find: (path) => {
        const method = router.find(path);
        if (method?.kind !== 'unary') return method;
        return CHANGES.has(path) || path === GET ? this.#slow(path, method) : method;
      },
    };
  }

  #slow(path: string, method: Extract<ByteMethod, { kind: 'unary' }>): ByteMethod {
    const isChange = CHANGES.has(path);
    return {
      kind: 'unary',
      handle: async (request, call) => {
        if (isChange) this.#opened();
        if (this.#callMs > 0) await sleep(this.#callMs);
        try {
          return await method.handle(request, call);
        } finally {
          if (isChange) this.#openCount -= 1;
        }
      },
    };
  }

  #opened(): void {
    this.count += 1;
    this.#openCount += 1;
    this.openMax = Math.max(this.openMax, this.#openCount);
  }
}
