// The token of a user with a password, fetched when first needed and again when etcd refuses it.
// The password is asked of its source each time (a file may have been rotated) and kept nowhere.
// Calls that need a token at once share one request.

import type { CallOptions } from '@bigfleet/wire';
import type { Connection } from './connection.ts';

export interface EtcdUser {
  readonly name: string;
  /** From a file, never from argv or the environment (security §6). */
  readonly password: () => Promise<string>;
}

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
