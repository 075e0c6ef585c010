// Which learners will never be voters. etcd takes one learner at a time, so one that asked to join and
// was never seen again would keep every other replica out. Dropping a learner costs no vote. One that
// never started is given up soon: it asks again with an empty disk. One that started holds data, which
// its operator must wipe once it is dropped, so it gets the time of a repair.

import type { Clock } from '@bigfleet/base';
import type { Member } from '@bigfleet/wire/etcd';
import { isStarted } from './join-handler.ts';

const unstartedForMs = 5 * 60_000;
const absentForMs = 30 * 60_000;

export class StaleLearners {
  readonly #clock: Clock;
  /** Since when each learner has been away; as many as the member list has. */
  readonly #awaySinceMs = new Map<bigint, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Asked every round; a learner that is there, or was promoted, starts anew. */
  look(members: readonly Member[], presentNodeIds: ReadonlySet<string>): readonly Member[] {
    const nowMs = this.#clock.monotonicMs();
    const away = members.filter(
      (member) => member.isLearner && !(isStarted(member) && presentNodeIds.has(member.name)),
    );
    for (const id of this.#awaySinceMs.keys()) {
      if (!away.some(({ ID }) => ID === id)) this.#awaySinceMs.delete(id);
    }
    return away.filter((member) => {
      const sinceMs = this.#awaySinceMs.get(member.ID) ?? nowMs;
      this.#awaySinceMs.set(member.ID, sinceMs);
      return nowMs - sinceMs >= (isStarted(member) ? absentForMs : unstartedForMs);
    });
  }
}
