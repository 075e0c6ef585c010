// The brake on machines that never join, as the engine takes it (decision 26): how many machines a
// need whose Configures fail in a row may still try, and how many of a failing instance type may
// still be bought. Who fails is learnt elsewhere; here it bounds one cycle, and what it stops is a
// shortfall with a code of its own. Nothing that is bound to a braked need is taken from it.

export interface Brakes {
  /**
   * Machines that a need may acquire or have drained for it in a cycle, by `heldOffKey`; all gangs
   * of one (cluster, fingerprint) share the number. Absent is unlimited.
   */
  readonly needs: ReadonlyMap<string, number>;
  /** Speculative machines that may be bought in a cycle, by `machineTypeKey`; absent is unlimited. */
  readonly types: ReadonlyMap<string, number>;
}

export const noBrakes: Brakes = { needs: new Map(), types: new Map() };

export function machineTypeKey(provider: string, instanceType: string): string {
  return `${provider}\u0000${instanceType}`;
}

/** What one cycle has left of a number; its holders share the object. */
export interface Allowance {
  allowed: number;
  left: number;
}
