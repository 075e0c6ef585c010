// Where a coordinator replica can be reached, and under which name its certificate must be.

export interface Endpoint {
  /** `host:port` with a name or an address in it, or `unix:/path`. */
  readonly address: string;
  /** The name to verify when the address is one that a name resolved to. */
  readonly serverName?: string;
}

/** Fresh at every call: a name may lead elsewhere since. */
export type Resolve = (address: string, signal: AbortSignal) => Promise<readonly Endpoint[]>;
