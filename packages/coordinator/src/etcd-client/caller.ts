// How a call reaches etcd: deadline, endpoint, token. `once` sends exactly one request and is for
// writes: their caller must learn that the outcome is unknown. `retried` is for what may be asked
// twice without harm (reads, lease renewals): it tries the endpoints in turn until the deadline,
// giving each a share of the time, because a paused member answers nothing at all.

import {
  Backoff,
  BigFleetError,
  type Random,
  type Runtime,
  runWithDeadline,
  sleep,
} from '@bigfleet/base';
import type { CallOptions } from '@bigfleet/wire';
import type { Connection, ConnectionPool } from './connection.ts';
import { type EtcdFailure, failureOf, toEtcdError } from './failure.ts';

export interface CallLimits {
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

export type EtcdCall<T> = (connection: Connection, options: CallOptions) => Promise<T>;

export type OnceOutcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  /** Certainly not executed. */
  | { readonly kind: 'refused'; readonly failure: EtcdFailure; readonly error: BigFleetError }
  | { readonly kind: 'unknown'; readonly error: BigFleetError };

const minAttemptMs = 200;
const maxAttemptsPerRound = 3;
/** Members without a leader then refuse at once instead of holding the request for seconds. */
const requireLeader: readonly [string, string] = ['hasleader', 'true'];

export class EtcdCaller {
  readonly #runtime: Runtime;
  readonly #pool: ConnectionPool;
  readonly #token: AuthToken | undefined;
  readonly #random: Random;

  constructor(runtime: Runtime, pool: ConnectionPool, token: AuthToken | undefined) {
    this.#runtime = runtime;
    this.#random = runtime.random.stream('etcd-client');
    this.#pool = pool;
    this.#token = token;
  }

  async once<T>(what: string, limits: CallLimits, call: EtcdCall<T>): Promise<OnceOutcome<T>> {
    const connection = this.#pool.current;
    try {
      const value = await this.#within(limits, (signal) => this.#send(connection, signal, call));
      return { kind: 'done', value };
    } catch (thrown) {
      const failure = failureOf(thrown);
      if (failure === 'ambiguous' || failure === 'elsewhere') this.#pool.leave(connection);
      const error = toEtcdError(what, thrown);
      return failure === 'ambiguous'
        ? { kind: 'unknown', error }
        : { kind: 'refused', failure, error };
    }
  }

  /** Throws BigFleetError; an abort of the caller's signal is thrown as it is. */
  async retried<T>(what: string, limits: CallLimits, call: EtcdCall<T>): Promise<T> {
    let last: unknown;
    try {
      return await this.#within(limits, (signal) =>
        this.#untilAnswered(call, signal, limits.deadlineMs, (error) => {
          last = error;
        }),
      );
    } catch (thrown) {
      if (limits.signal?.aborted === true) throw limits.signal.reason;
      throw toEtcdError(what, isDeadline(thrown) ? (last ?? thrown) : thrown);
    }
  }

  /** Metadata of a call, for streams that the caller opens itself. */
  async metadata(connection: Connection, signal: AbortSignal): Promise<Map<string, string>> {
    const metadata = new Map([requireLeader]);
    const token = await this.#token?.get(connection, { signal });
    if (token !== undefined) metadata.set('token', token);
    return metadata;
  }

  async #untilAnswered<T>(
    call: EtcdCall<T>,
    signal: AbortSignal,
    deadlineMs: number,
    onFailure: (error: unknown) => void,
  ): Promise<T> {
    const { clock } = this.#runtime;
    const endMs = clock.monotonicMs() + deadlineMs;
    const backoff = new Backoff(this.#random, { initialMs: 25, maxMs: 250 });
    const round = Math.min(this.#pool.size, maxAttemptsPerRound);
    // Ends with the signal, which carries the deadline.
    for (let attempt = 0; ; attempt += 1) {
      const connection = this.#pool.current;
      const shareMs = (endMs - clock.monotonicMs()) / (round - (attempt % round));
      try {
        return await this.#within({ deadlineMs: Math.max(shareMs, minAttemptMs), signal }, (cut) =>
          this.#send(connection, cut, call),
        );
      } catch (error) {
        signal.throwIfAborted();
        const failure = failureOf(error);
        if (failure !== 'ambiguous' && failure !== 'elsewhere') throw error;
        onFailure(error);
        this.#pool.leave(connection);
        if ((attempt + 1) % round === 0) await sleep(this.#runtime, backoff.nextMs(), signal);
      }
    }
  }

  /** A refused token was refused before anything was executed, so a second try is safe. */
  async #send<T>(connection: Connection, signal: AbortSignal, call: EtcdCall<T>): Promise<T> {
    const metadata = await this.metadata(connection, signal);
    try {
      return await call(connection, { signal, metadata });
    } catch (error) {
      const refused = metadata.get('token');
      if (failureOf(error) !== 'token' || refused === undefined) throw error;
      this.#token?.forget(refused);
      return call(connection, { signal, metadata: await this.metadata(connection, signal) });
    }
  }

  #within<T>(
    { deadlineMs, signal }: CallLimits,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const options = { ms: deadlineMs, ...(signal === undefined ? {} : { parent: signal }) };
    return runWithDeadline(this.#runtime, options, work);
  }
}

function isDeadline(error: unknown): boolean {
  return error instanceof BigFleetError && error.code === 'deadline_exceeded';
}

export interface EtcdUser {
  readonly name: string;
  /** From a file, never from argv or the environment (security §6). */
  readonly password: () => Promise<string>;
}

/**
 * The token of a user with a password, fetched when first needed and again when etcd refuses it.
 * The password is asked of its source each time (a file may have been rotated) and kept nowhere.
 * Calls that need a token at once share one request.
 */
export class AuthToken {
  readonly #user: EtcdUser;
  #token: string | undefined;
  #pending: Promise<string> | undefined;

  constructor(user: EtcdUser) {
    this.#user = user;
  }

  async get(connection: Connection, options: CallOptions): Promise<string> {
    if (this.#token !== undefined) return this.#token;
    this.#pending ??= this.#authenticate(connection, options).finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  /** Only the token that was refused: another call may have renewed it meanwhile. */
  forget(refused: string): void {
    if (this.#token === refused) this.#token = undefined;
  }

  async #authenticate(connection: Connection, options: CallOptions): Promise<string> {
    const password = await this.#user.password();
    const { token } = await connection.auth.authenticate(
      { name: this.#user.name, password },
      options,
    );
    this.#token = token;
    return token;
  }
}
