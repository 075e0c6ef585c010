// Whether the provider may be sent traffic, as a set of reasons why not: one part's recovery must
// not hide another's trouble. Reads and fenced mutations are served either way; readiness only
// tells the deployment.

import type { KitObserver, NotReadyReason } from '../observer.ts';
import { ProviderError } from '../backend/provider-error.ts';

const AUTH_FAILURES_UNTIL_NOT_READY = 3;

export class ReadyState {
  readonly #reasons = new Set<NotReadyReason>(['starting']);
  readonly #observer: KitObserver;

  constructor(observer: KitObserver) {
    this.#observer = observer;
  }

  get ready(): boolean {
    return this.#reasons.size === 0;
  }

  get reasons(): readonly NotReadyReason[] {
    return [...this.#reasons];
  }

  get isStopping(): boolean {
    return this.#reasons.has('stopping');
  }

  block(reason: NotReadyReason): void {
    if (this.#reasons.has(reason)) return;
    this.#reasons.add(reason);
    this.#observer.readyChanged?.(false, this.reasons);
  }

  clear(reason: NotReadyReason): void {
    if (!this.#reasons.delete(reason)) return;
    this.#observer.readyChanged?.(this.ready, this.reasons);
  }
}

/**
 * Counts backend failures by class, and notices credentials that stopped working: three refusals in
 * a row and the provider is not ready (providers A9), because every further call would burn a
 * machine. One success shows that they work again.
 */
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
