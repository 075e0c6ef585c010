// A substrate that exists in memory: every step takes a moment, launches are idempotent by token,
// and a host that is not there is an error. Its hosts die with the process: the kit then finds them
// lost, as it would in a burnt-down zone.

import { type Runtime, sleep } from '@bigfleet/base';
import { ProviderError } from '@bigfleet/providerkit';
import type { Host, LaunchOrder, Substrate } from './substrate.ts';

/** Long enough for a transition to be seen, short enough for a test. */
const STEP_MS = 15;

export class MemorySubstrate implements Substrate {
  readonly #timers: Runtime['timers'];
  readonly #hosts = new Map<string, Host>();
  readonly #launches = new Map<string, Host>();

  constructor(timers: Runtime['timers']) {
    this.#timers = timers;
  }

  async hosts(): Promise<readonly Host[]> {
    return [...this.#hosts.values()];
  }

  async launch({ machineId, token }: LaunchOrder, signal: AbortSignal): Promise<Host> {
    const known = this.#launches.get(token);
    if (known !== undefined) return known;
    await this.#step(signal);
    const host = { ref: `i-${token}`, machineId };
    this.#launches.set(token, host);
    this.#hosts.set(host.ref, host);
    return host;
  }

  async join(ref: string, _bootstrapBlob: Uint8Array, signal: AbortSignal): Promise<void> {
    this.#require(ref, 'join');
    await this.#step(signal);
  }

  async leave(ref: string, _gracePeriodSeconds: number, signal: AbortSignal): Promise<void> {
    this.#require(ref, 'leave');
    await this.#step(signal);
  }

  async terminate(ref: string, signal: AbortSignal): Promise<void> {
    await this.#step(signal);
    this.#hosts.delete(ref);
  }

  #require(ref: string, op: string): void {
    if (this.#hosts.has(ref)) return;
    const message = `there is no host ${ref}`;
    throw new ProviderError({ class: 'not_found', op, vendorCode: 'unknown-host', message });
  }

  #step(signal: AbortSignal): Promise<void> {
    return sleep({ timers: this.#timers }, STEP_MS, signal);
  }
}
