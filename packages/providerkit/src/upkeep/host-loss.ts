// A host that is gone (provider-contract §14.2, providers G1). Two complete describes, at least 30 s apart
// and with no contrary one between them, must agree; one bad answer of a cloud must not fail a
// running node. Machines in transition are left to their transition. A describe that started
// before the record last changed says nothing about it.

import type { Fleet } from '../fleet/fleet.ts';
import type { MachineRecord } from '../model/machine.ts';
import type { Described } from './describe.ts';

const MIN_APART_MS = 30_000;

/** `unknown`: this describe says nothing about the machine, neither way. */
type Sight = 'present' | 'missing' | 'unknown';

interface Miss {
  readonly hostRef: string;
  readonly sinceMs: number;
}

export class HostLossWatch {
  readonly #fleet: Fleet;
  /** By machine id; at most one per machine with a host. */
  readonly #misses = new Map<string, Miss>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** The machines whose host this describe confirms as gone. */
  confirm(described: Described): readonly MachineRecord[] {
    const lost: MachineRecord[] = [];
    for (const record of this.#fleet.records()) {
      const sight = sightOf(record, described);
      if (sight === 'present') this.#misses.delete(record.id);
      else if (sight === 'missing' && this.#isConfirmed(record, described)) lost.push(record);
    }
    return lost;
  }

  #isConfirmed(record: MachineRecord, described: Described): boolean {
    const hostRef = record.host?.ref ?? '';
    const miss = this.#misses.get(record.id);
    if (miss?.hostRef === hostRef) return described.startedMs - miss.sinceMs >= MIN_APART_MS;
    this.#misses.set(record.id, { hostRef, sinceMs: described.endedMs });
    return false;
  }
}

function sightOf(record: MachineRecord, described: Described): Sight {
  const isWatched = record.state === 'Idle' || record.state === 'Configured';
  if (!isWatched || record.host === undefined) return 'present';
  if (described.hostRefs.has(record.host.ref)) return 'present';
  return record.modifiedRevision > described.startedRevision ? 'unknown' : 'missing';
}
