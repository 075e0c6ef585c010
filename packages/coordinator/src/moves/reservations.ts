// Machines that a donor drains for another shard (tier 3). Once idle they are not the donor's to
// keep: without this memory the margin of a nearly full donor would hold back the very machine that
// was drained, and work would have been interrupted for nothing; and the next pass would drain more
// for a shortfall that is being answered. Soft, with the time to live that the donor was told.

export const RESERVE_TTL_SECONDS = 600;
const MAX_RECIPIENTS = 10_000;

interface Reservation {
  readonly donor: string;
  readonly count: number;
  readonly untilMs: number;
}

export class Reservations {
  /** One per recipient: a pass asks for no second drain while one is outstanding. */
  readonly #byRecipient = new Map<string, Reservation>();

  /** `count` is 0 until the donor says how many it drains. */
  note(donor: string, recipient: string, count: number, nowMs: number): void {
    if (this.#byRecipient.size >= MAX_RECIPIENTS && !this.#byRecipient.has(recipient)) return;
    const untilMs = nowMs + RESERVE_TTL_SECONDS * 1000;
    this.#byRecipient.set(recipient, { donor, count, untilMs });
  }

  /** Refused, or moved: what is idle now counts as any other machine. */
  settle(donor: string, recipient: string): void {
    if (this.#byRecipient.get(recipient)?.donor === donor) this.#byRecipient.delete(recipient);
  }

  /** Machines on `donor` that wait for `recipient`. */
  reserved(donor: string, recipient: string, nowMs: number): number {
    const found = this.#byRecipient.get(recipient);
    return found?.donor === donor && found.untilMs > nowMs ? found.count : 0;
  }

  /** A drain for this shard was asked for and neither refused nor used up. */
  isOutstanding(recipient: string, nowMs: number): boolean {
    return (this.#byRecipient.get(recipient)?.untilMs ?? 0) > nowMs;
  }
}
