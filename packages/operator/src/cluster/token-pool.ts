// Bootstrap tokens, minted before they are asked for (kubernetes §4.1): the shard's executor waits for a
// blob, so that the pool is read from memory alone. A token is renewed at half its life, and never handed
// out with less left than a machine needs to join. Old tokens are not read back: that would need the
// right to read every secret of kube-system; the cluster's own cleaner removes them.

import { BigFleetError, type Runtime, type Timer } from '@bigfleet/base';
import { type KubeClient, refusalError, SECRETS } from '@bigfleet/kube';
import { Secret } from '@bigfleet/telemetry';
import type { JoinToken } from './bootstrap.ts';

export interface TokenPoolOptions {
  readonly runtime: Runtime;
  readonly client: KubeClient;
  readonly ttlMs: number;
  readonly minTtlMs: number;
  readonly onFailure: (problem: string) => void;
  readonly signal: AbortSignal;
}

interface Minted {
  readonly token: Secret<string>;
  readonly expiryUnixMs: number;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const ID_LENGTH = 6;
const SECRET_LENGTH = 16;
const GROUP = 'system:bootstrappers:bigfleet';
const RETRY_MS = 5_000;
/** The blob travels and the machine boots before the token is used. */
const MARGIN_MS = 60_000;

export class TokenPool {
  readonly #options: TokenPoolOptions;
  #current: Minted | undefined;
  #timer: Timer | undefined;

  constructor(options: TokenPoolOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#timer?.cancel(), { once: true });
  }

  /** Undefined while no token has enough life left. */
  take(): JoinToken | undefined {
    const current = this.#current;
    if (current === undefined) return undefined;
    const leftMs = current.expiryUnixMs - MARGIN_MS - this.#nowUnixMs();
    if (leftMs < this.#options.minTtlMs) return undefined;
    return {
      token: current.token,
      expiry: new Date(current.expiryUnixMs).toISOString().replace(/\.\d+/, ''),
      ttlSeconds: Math.floor(leftMs / 1000),
    };
  }

  /** Mints now, and again at half the life of what was minted. */
  async start(): Promise<void> {
    const { runtime, ttlMs, signal, onFailure } = this.#options;
    let nextMs = RETRY_MS;
    try {
      this.#current = await this.#mint();
      nextMs = ttlMs / 2;
    } catch (error) {
      if (!(error instanceof BigFleetError)) throw error;
      if (!signal.aborted) onFailure(error.message);
    }
    if (signal.aborted) return;
    this.#timer = runtime.timers.after(nextMs, () => void this.start());
  }

  async #mint(): Promise<Minted> {
    const { client, ttlMs, signal } = this.#options;
    const id = this.#text(ID_LENGTH);
    const secret = this.#text(SECRET_LENGTH);
    const expiryUnixMs = this.#nowUnixMs() + ttlMs;
    const answer = await client.create(
      SECRETS,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
        type: 'bootstrap.kubernetes.io/token',
        stringData: {
          'token-id': id,
          'token-secret': secret,
          expiration: new Date(expiryUnixMs).toISOString().replace(/\.\d+/, ''),
          'usage-bootstrap-authentication': 'true',
          'usage-bootstrap-signing': 'true',
          'auth-extra-groups': GROUP,
        },
      },
      { lane: 'node', signal },
    );
    if (answer.kind === 'refused') throw refusalError(answer);
    return { token: new Secret(`${id}.${secret}`), expiryUnixMs };
  }

  /** Without a bias: bytes beyond the last whole alphabet are thrown away. */
  #text(length: number): string {
    const most = 256 - (256 % ALPHABET.length);
    let text = '';
    while (text.length < length) {
      for (const byte of this.#options.runtime.entropy.bytes(length)) {
        if (byte < most && text.length < length) text += ALPHABET[byte % ALPHABET.length];
      }
    }
    return text;
  }

  #nowUnixMs(): number {
    return Number(this.#options.runtime.clock.unixNanos() / 1_000_000n);
  }
}
