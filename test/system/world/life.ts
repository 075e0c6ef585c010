// One life of a process. A crash is an instant: from then on none of its timers fires, none of its
// writes is kept and nothing it says is heard, though its promises may still run on in this one
// Node process. Without that, the tail of a crashed handler would act after its own death, which no
// SIGKILL allows, and a crash between two steps could not be tested at all.

import type { Runtime } from '@bigfleet/base';
import type { ByteMethod, ByteRouter, Channel } from '@bigfleet/wire';

export class Life {
  readonly runtime: Runtime;
  #isOver = false;

  constructor(world: Runtime) {
    const after: Runtime['timers']['after'] = (delayMs, fire) =>
      world.timers.after(delayMs, () => {
        if (!this.#isOver) fire();
      });
    this.runtime = {
      ...world,
      timers: { after, turn: () => new Promise((resolve) => after(0, resolve)) },
    };
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  end(): void {
    this.#isOver = true;
  }

  /** What it calls others with. */
  channel(inner: Channel): Channel {
    return {
      unary: (path, request, options) =>
        this.#isOver ? never() : inner.unary(path, request, options),
      stream: (path, requests, options) => inner.stream(path, this.#muted(requests), options),
      close: () => inner.close(),
    };
  }

  /** What it answers others with. */
  router(inner: ByteRouter): ByteRouter {
    return {
      find: (path) => {
        const method = inner.find(path);
        return method === undefined ? undefined : this.#method(method);
      },
    };
  }

  #method(method: ByteMethod): ByteMethod {
    if (method.kind === 'stream') {
      return {
        kind: 'stream',
        handle: (requests, call) => this.#muted(method.handle(requests, call)),
      };
    }
    return {
      kind: 'unary',
      handle: (request, call) => this.#heard(method.handle(request, call)),
    };
  }

  #muted(inner: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    return {
      [Symbol.asyncIterator]: () => {
        const iterator = inner[Symbol.asyncIterator]();
        return {
          next: () => this.#heard(iterator.next()),
          return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
        };
      },
    };
  }

  /** Settles only for a process that is still alive. */
  async #heard<T>(said: Promise<T>): Promise<T> {
    try {
      const value = await said;
      return this.#isOver ? await never() : value;
    } catch (error) {
      if (this.#isOver) return await never();
      throw error;
    }
  }
}

export function never<T>(): Promise<T> {
  return new Promise(() => {});
}
