// A host: up, its process dead (the kernel still answers, so dials are refused and connections
// reset), or dark (power loss: nothing answers). Addresses are `host` or `host:port`.

import type { Half } from './half.ts';

export type HostState = 'up' | 'down' | 'dark';

export type HostEvent = 'down' | 'up';

export class Host {
  readonly name: string;
  state: HostState = 'up';
  /** The ends of connections that live here. */
  readonly halves: Set<Half> = new Set();
  readonly watchers: Set<(event: HostEvent) => void> = new Set();

  constructor(name: string) {
    this.name = name;
  }
}

export function hostOf(address: string): string {
  return address.replace(/:\d+$/, '');
}
