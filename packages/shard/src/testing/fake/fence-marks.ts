// High-water marks per (shard, machine). A mark moves the moment a token passes, whatever becomes
// of the operation; the mark of a machine that does not exist is kept too.

import { checkFence, type FenceMark, type FencingToken } from '@bigfleet/wire';
import { fenced, overloaded } from './refusals.ts';

/** Ghost ids leave marks as well: a caller that invents ids must not fill the memory. */
const MAX_MARKS = 1_000_000;

export class FenceMarks {
  readonly #marks = new Map<string, Map<string, FenceMark>>();
  #count = 0;

  /** Throws when the token is not newer; otherwise its mark holds from now on. */
  pass(token: FencingToken, machineId: string): void {
    const ofShard = this.#marks.get(token.shardId);
    const mark = ofShard?.get(machineId);
    const verdict = checkFence(token, mark);
    if (verdict.kind === 'absent') return;
    if (verdict.kind === 'stale') throw fenced(token, verdict.mark);
    if (mark === undefined) {
      if (this.#count >= MAX_MARKS) throw overloaded('too many fence marks');
      this.#count += 1;
    }
    if (ofShard !== undefined) ofShard.set(machineId, verdict.mark);
    else this.#marks.set(token.shardId, new Map([[machineId, verdict.mark]]));
  }
}
