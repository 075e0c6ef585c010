// A process and its surroundings. One host, lives one after the other: killed at an instant by a
// crash of its host, started again when the host is back, from what was durable.

import type { Runtime } from '@bigfleet/base';
import { createLogger, type Logger } from '@bigfleet/telemetry';
import type { MemoryNetwork } from '@bigfleet/wire/memory';
import { Life } from './life.ts';
import type { Mutant } from './mutant.ts';
import type { Substrate } from './substrate.ts';
import type { Witness } from './witness.ts';

/** Nobody reads it, and making one costs more than a seed's calls. */
export const logger: Logger = createLogger({
  clock: { monotonicMs: () => 0, unixNanos: () => 0n },
  sink: { write: () => {}, flushSync: () => {} },
  level: 'error',
});

export interface Surroundings {
  readonly network: MemoryNetwork;
  readonly witness: Witness;
  readonly substrate: Substrate;
  /** A runtime of its own for each life. */
  readonly runtimeFor: (name: string) => Runtime;
  /** False once the world is quiet: nothing is refused any more. */
  readonly isStormy: () => boolean;
  readonly clusterIds: () => readonly string[];
  readonly mutant: Mutant | undefined;
}

/** One host: lives one after the other. */
export abstract class Process {
  readonly host: string;
  protected readonly world: Surroundings;
  #life: Life | undefined;
  #lifeCount = 0;

  constructor(host: string, world: Surroundings) {
    this.host = host;
    this.world = world;
    world.network.watchHost(host, (event) => {
      if (event === 'up') this.start();
      else this.kill();
    });
  }

  get lifeCount(): number {
    return this.#lifeCount;
  }

  start(): void {
    this.#lifeCount += 1;
    const life = new Life(this.world.runtimeFor(`${this.host}-${this.#lifeCount}`));
    this.#life = life;
    this.run(life, this.#lifeCount).catch((error: unknown) => {
      if (!life.isOver) this.world.witness.broken(`${this.host} ended: ${String(error)}`);
    });
  }

  /** From this instant on it does and says nothing. */
  kill(): void {
    this.#life?.end();
  }

  protected abstract run(life: Life, lifeNumber: number): Promise<void>;
}
