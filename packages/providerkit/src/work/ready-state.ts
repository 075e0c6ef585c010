// Whether the provider may be sent traffic, as a set of reasons why not: one part's recovery must
// not hide another's trouble. Reads and fenced mutations are served either way; readiness only
// tells the deployment.

import type { KitObserver, NotReadyReason } from '../observer.ts';

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
