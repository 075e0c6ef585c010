// Counts backend failures by class, and notices credentials that stopped working: three refusals in
// a row and the provider is not ready (providers A9), because every further call would burn a
// machine. One success shows that they work again.

import { ProviderError } from '../backend/provider-error.ts';
import type { KitObserver } from '../observer.ts';
import type { ReadyState } from './ready-state.ts';

const AUTH_FAILURES_UNTIL_NOT_READY = 3;

export class BackendHealth {
  readonly #observer: KitObserver;
  readonly #ready: ReadyState;
  #authFailureCount = 0;

  constructor(observer: KitObserver, ready: ReadyState) {
    this.#observer = observer;
    this.#ready = ready;
  }

  succeeded(): void {
    this.#authFailureCount = 0;
    this.#ready.clear('auth');
  }

  failed(error: unknown): void {
    const errorClass = error instanceof ProviderError ? error.class : 'unclassified';
    this.#observer.backendError?.(errorClass);
    if (errorClass !== 'auth') return;
    this.#authFailureCount++;
    if (this.#authFailureCount >= AUTH_FAILURES_UNTIL_NOT_READY) this.#ready.block('auth');
  }
}
