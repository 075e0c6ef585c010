// Numbers the connections of one channel by what a call knows of its own: grpc-js makes the security
// context of a connection once and hands the same object to every call on it. The library names a
// call's peer by address only, which a restarted server has in common with its predecessor.

import type { WireCall } from './client-call.ts';

export class ConnectionNumbers {
  readonly #numbers = new WeakMap<object, number>();
  #last = 0;

  /** Of the connection that answers the call; undefined while none does. */
  of(call: WireCall): number | undefined {
    const context = call.getAuthContext();
    if (context === null) return undefined;
    const known = this.#numbers.get(context) ?? ++this.#last;
    this.#numbers.set(context, known);
    return known;
  }
}
