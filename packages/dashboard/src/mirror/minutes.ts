// One number a minute for a day: what a sparkline shows. Minutes that nothing was heard in are gaps, never
// zeros.

export const MINUTE_MS = 60_000;
const KEPT_MINUTES = 1_440;

export class Minutes {
  readonly #values: Float64Array = new Float64Array(KEPT_MINUTES).fill(Number.NaN);
  #newest = -1;

  /** The last value of a minute stands. */
  set(atMs: number, value: number): void {
    const minute = this.#open(atMs);
    if (minute >= 0) this.#values[minute % KEPT_MINUTES] = value;
  }

  add(atMs: number, amount: number): void {
    const minute = this.#open(atMs);
    if (minute < 0) return;
    const place = minute % KEPT_MINUTES;
    const known = this.#values[place] ?? Number.NaN;
    this.#values[place] = Number.isNaN(known) ? amount : known + amount;
  }

  /** NaN where nothing was seen or is kept. */
  at(minute: number): number {
    if (minute > this.#newest || minute <= this.#newest - KEPT_MINUTES) return Number.NaN;
    return this.#values[minute % KEPT_MINUTES] ?? Number.NaN;
  }

  /** Up to and with the minute of the moment, oldest first. */
  until(atMs: number, count: number): number[] {
    const last = Math.floor(atMs / MINUTE_MS);
    return Array.from({ length: count }, (_, place) => this.at(last - count + 1 + place));
  }

  /** Clears the minutes that were skipped; −1 for a time that is no longer kept. */
  #open(atMs: number): number {
    const minute = Math.floor(atMs / MINUTE_MS);
    if (!(minute >= 0) || minute <= this.#newest - KEPT_MINUTES) return -1;
    const from = Math.max(this.#newest + 1, minute - KEPT_MINUTES + 1);
    for (let skipped = from; skipped <= minute; skipped++) {
      this.#values[skipped % KEPT_MINUTES] = Number.NaN;
    }
    this.#newest = Math.max(this.#newest, minute);
    return minute;
  }
}
