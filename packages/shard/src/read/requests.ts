// What a reader may ask for: how many are served at once, how many rows, about which subject.

import { BigFleetError } from '@bigfleet/base';
import type { ExplainSubject } from '@bigfleet/engine';
import type { NeedRef } from '@bigfleet/wire';

/**
 * Readers of one kind that are served at once. A stream that follows never ends by itself, so without
 * a bound a leaking dashboard would take the shard with it.
 */
export class ReaderSlots {
  readonly #max: number;
  readonly #what: string;
  #takenCount = 0;

  constructor(max: number, what: string) {
    this.#max = max;
    this.#what = what;
  }

  /** Throws when all are taken. For `using`: it is given back once. */
  take(): Disposable {
    if (this.#takenCount >= this.#max) {
      const text = `${this.#max} readers are served already: ${this.#what}`;
      throw new BigFleetError('feed_readers_exceeded', text);
    }
    this.#takenCount += 1;
    return {
      [Symbol.dispose]: () => {
        this.#takenCount -= 1;
      },
    };
  }
}

/** A reader's limit: 0 is none, a negative one is a mistake that must not pass for none. */
export function limitOf(limit: number): number {
  if (limit < 0) throw new BigFleetError('read_request_invalid', `limit: ${limit} is negative`);
  return limit === 0 ? Number.POSITIVE_INFINITY : limit;
}

export function machineSubject(machineId: string): ExplainSubject {
  if (machineId === '') throw new BigFleetError('read_request_invalid', 'machine_id is empty');
  return { machineId };
}

export function needSubject({ clusterId, profileFingerprint, group }: NeedRef): ExplainSubject {
  if (clusterId === '' || profileFingerprint === '') {
    const text = 'a need is named by cluster_id and profile_fingerprint';
    throw new BigFleetError('read_request_invalid', text);
  }
  return { need: { cluster: clusterId, fingerprint: profileFingerprint, group } };
}
