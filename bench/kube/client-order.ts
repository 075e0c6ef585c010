// What a bench asks of a client's process, ours or the reference's: both answer the same questions.

export interface ClientOrder {
  readonly role: 'client';
  readonly side: 'ours' | 'reference';
  readonly url: string;
  readonly caPem: string;
}

/** After a full collection. */
export interface ClientMemory {
  readonly rssBytes: number;
  readonly heapBytes: number;
  /** The most that was ever resident, from the kernel. */
  readonly peakRssBytes: number;
}

export interface SyncReport {
  readonly ms: number;
  /** Of the processor, which other work of the machine does not change. */
  readonly cpuMs: number;
  /** Objects in the cache afterwards. */
  readonly size: number;
  /** Of the event loop meanwhile. */
  readonly lagP99Ms: number;
  readonly lagMaxMs: number;
}
