// Machines that should serve while their Node does not: "no shortfall, but Pods wait". One look after the
// other says which machines are unusable at its moment; a machine that was so in every look of two minutes
// is a phantom (wire-additions §2), because a Node that is not usable for so long is no lag of a watch. The
// metric and the session's reports read the outcome and move nothing.

export const PHANTOM_LOOK_MS = 15_000;
const PHANTOM_MS = 120_000;
/** What is longer was written by hand and would fill the frame that tells of it. */
const MAX_ID_LENGTH = 1_024;

export class PhantomMachines {
  readonly #unusableSinceMs = new Map<string, number>();
  #ids: readonly string[] = [];

  /** Sorted. Another array after each change. */
  get ids(): readonly string[] {
    return this.#ids;
  }

  /** True: the set is another one than before. */
  look(unusable: Iterable<string>, nowMs: number): boolean {
    const now = new Set(unusable);
    for (const id of this.#unusableSinceMs.keys()) {
      if (!now.has(id)) this.#unusableSinceMs.delete(id);
    }
    const ids: string[] = [];
    for (const id of now) {
      if (id === '' || id.length > MAX_ID_LENGTH) continue;
      const sinceMs = this.#unusableSinceMs.get(id);
      if (sinceMs === undefined) this.#unusableSinceMs.set(id, nowMs);
      else if (nowMs - sinceMs >= PHANTOM_MS) ids.push(id);
    }
    ids.sort();
    if (ids.length === this.#ids.length && ids.every((id, at) => id === this.#ids[at]))
      return false;
    this.#ids = ids;
    return true;
  }
}
