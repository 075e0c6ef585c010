// The machines behind the one provider that all shards share: what they really are, whoever owns
// them. The provider does not arbitrate between shards; that is what the seeds are about.

export type MachineState = 'idle' | 'busy' | 'gone';

export const CPU_PER_MACHINE = 4;
export const ZONES: readonly string[] = ['zone-a', 'zone-b', 'zone-c'];

export class MachinePark {
  readonly #states = new Map<string, MachineState>();
  readonly #users = new Map<string, string>();

  constructor(count: number) {
    for (let at = 0; at < count; at++) this.#states.set(`m${at}`, 'idle');
  }

  get ids(): readonly string[] {
    return [...this.#states.keys()];
  }

  stateOf(machineId: string): MachineState {
    return this.#states.get(machineId) ?? 'gone';
  }

  zoneOf(machineId: string): string {
    return ZONES[Number(machineId.slice(1)) % ZONES.length] ?? '';
  }

  /** The shard that put work on it; undefined while it is not busy. */
  userOf(machineId: string): string | undefined {
    return this.stateOf(machineId) === 'busy' ? this.#users.get(machineId) : undefined;
  }

  use(machineId: string, shardId: string): void {
    this.#states.set(machineId, 'busy');
    this.#users.set(machineId, shardId);
  }

  set(machineId: string, state: Exclude<MachineState, 'busy'>): void {
    this.#states.set(machineId, state);
  }
}
