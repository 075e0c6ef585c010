// The substrate as this provider needs it: a narrow client, no types of an SDK. Your client of a
// cloud, a hypervisor or a rack implements it; the memory one serves tests and certification.

export interface Host {
  /** The substrate's own id, e.g. an instance id. */
  readonly ref: string;
  /** The machine id that the host was tagged with at launch: how describe maps it back. */
  readonly machineId: string;
}

export interface LaunchOrder {
  readonly machineId: string;
  readonly instanceType: string;
  readonly zone: string;
  /** The same token never launches twice. */
  readonly token: string;
}

export interface Substrate {
  /** Every host of ours. A page that cannot be read is an error, never a shorter list. */
  hosts(signal: AbortSignal): Promise<readonly Host[]>;
  /** Resolves when the host runs. */
  launch(order: LaunchOrder, signal: AbortSignal): Promise<Host>;
  /** Hands the host its boot data and resolves when its join hook succeeded. */
  join(ref: string, bootstrapBlob: Uint8Array, signal: AbortSignal): Promise<void>;
  /** Shuts the node down within the grace and removes every trace of its cluster. */
  leave(ref: string, gracePeriodSeconds: number, signal: AbortSignal): Promise<void>;
  /** A host that is gone already is fine. */
  terminate(ref: string, signal: AbortSignal): Promise<void>;
}
