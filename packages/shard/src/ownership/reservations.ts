// Machines that a cross-shard drain freed, or is about to, kept for the shard that asked: soft marks
// with a time limit (coordinator §9.4 tier 3). Unlike a freeze they move no ownership, so expiring by
// itself is right: the worst case is that the machine serves here again.
//
// Bound: MAX_RESERVATIONS; a further one is refused, and its drain with it.

const MAX_RESERVATIONS = 1_000;

interface Reservation {
  readonly recipient: string;
  readonly ttlMs: number;
  readonly untilMs: number;
  readonly isIdle: boolean;
}

export class Reservations {
  readonly #byMachine = new Map<string, Reservation>();

  ids(): Iterable<string> {
    return this.#byMachine.keys();
  }

  hasRoomFor(count: number): boolean {
    return this.#byMachine.size + count <= MAX_RESERVATIONS;
  }

  /** `drainMs` is how long the machine may take to become idle; the limit runs from then on. */
  reserve(
    machineId: string,
    { recipient, ttlMs, drainMs }: { recipient: string; ttlMs: number; drainMs: number },
    nowMs: number,
  ): void {
    const untilMs = nowMs + drainMs + ttlMs;
    this.#byMachine.set(machineId, { recipient, ttlMs, untilMs, isIdle: false });
  }

  recipientOf(machineId: string): string | undefined {
    return this.#byMachine.get(machineId)?.recipient;
  }

  /** The drain is over: the time limit starts. Once. */
  becameIdle(machineId: string, nowMs: number): void {
    const reservation = this.#byMachine.get(machineId);
    if (reservation === undefined || reservation.isIdle) return;
    const untilMs = nowMs + reservation.ttlMs;
    this.#byMachine.set(machineId, { ...reservation, untilMs, isIdle: true });
  }

  drop(machineId: string): void {
    this.#byMachine.delete(machineId);
  }

  /** Removes and returns those whose time is over. */
  expire(nowMs: number): readonly string[] {
    const expired: string[] = [];
    for (const [machineId, { untilMs }] of this.#byMachine) {
      if (untilMs <= nowMs) expired.push(machineId);
    }
    for (const machineId of expired) this.#byMachine.delete(machineId);
    return expired;
  }
}
