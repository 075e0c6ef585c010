// The reconcile thread's connections to providers: one each, for List alone, under the same TLS,
// keepalive, deadlines and error classes as main's. No fencing here, because List changes nothing.
//
// Bound: one line per connected provider, one open List per line.

import { assert, BigFleetError, type Runtime } from '@bigfleet/base';
import type { Channel, Keepalive, TlsMaterial } from '@bigfleet/wire';
import { listProvider } from '../call.ts';
import { openChannel } from '../dial.ts';
import type { ListRequest } from '../provider.ts';
import type { ScanWorkerData } from './messages.ts';
import { pairOf, type TlsParcel, unpackTls } from './tls-parcel.ts';

interface ListedBytes {
  readonly bytes: Uint8Array;
  /** Of this thread's connections on that line. */
  readonly connection: number;
}

export class ListLines {
  readonly #runtime: Runtime;
  readonly #tls: TlsMaterial | undefined;
  readonly #keepalive: Keepalive | undefined;
  readonly #channels = new Map<number, Channel>();
  /** By number of the question. */
  readonly #open = new Map<number, AbortController>();

  constructor(runtime: Runtime, { tls, keepalive }: ScanWorkerData) {
    this.#runtime = runtime;
    this.#keepalive = keepalive;
    this.#tls = tls === undefined ? undefined : unpackTls(tls);
  }

  /** Handshakes from now on show the new pair. */
  replaceTls(parcel: TlsParcel): void {
    assert(this.#tls !== undefined, 'a plaintext process has no certificate to replace');
    this.#tls.replace(pairOf(parcel));
  }

  dial(line: number, address: string): void {
    const channel = openChannel({
      runtime: this.#runtime,
      address,
      tls: this.#tls,
      keepalive: this.#keepalive,
    });
    this.#channels.set(line, channel);
  }

  /** What is open on it ends with CANCELLED. */
  hangUp(line: number): void {
    this.#channels.get(line)?.close();
    this.#channels.delete(line);
  }

  /** Rejects with a ProviderError. */
  async list(id: number, line: number, request: ListRequest): Promise<ListedBytes> {
    const channel = this.#channels.get(line);
    assert(channel !== undefined, 'a List is asked for on an open line', { line });
    const stop = new AbortController();
    this.#open.set(id, stop);
    let connection = 0;
    try {
      const bytes = await listProvider({ runtime: this.#runtime, channel }, request, {
        signal: stop.signal,
        onConnection: (number) => {
          connection = number;
        },
      });
      return { bytes, connection };
    } finally {
      this.#open.delete(id);
    }
  }

  cancel(id: number): void {
    this.#open.get(id)?.abort(new BigFleetError('cancelled', 'nobody waits for the List any more'));
  }
}
