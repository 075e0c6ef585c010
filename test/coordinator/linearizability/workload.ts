// Random clients on a few registers, one operation at a time each, until told to stop. The same
// seed asks the same operations in the same order per client; what they hear is up to the world.

import { createRandom, type Random } from '@bigfleet/base';
import type { History } from './history.ts';
import type { Operation, Outcome } from './model.ts';
import { shardIds } from './serve.ts';

export interface WorkloadOptions {
  readonly seed: string;
  readonly history: History;
  readonly clientCount: number;
  readonly registers: readonly string[];
  /** The bound that keeps every register's history checkable. */
  readonly operationsPerClient: number;
  readonly run: (client: string, register: string, operation: Operation) => Promise<Outcome>;
  readonly isOver: () => boolean;
}

export async function runWorkload(options: WorkloadOptions): Promise<void> {
  const random = createRandom(options.seed);
  const clients = Array.from({ length: options.clientCount }, (_, at) => `client-${at}`);
  await Promise.all(clients.map((client) => runClient(options, client, random.stream(client))));
}

async function runClient(options: WorkloadOptions, client: string, random: Random): Promise<void> {
  const { history, registers, operationsPerClient, run, isOver } = options;
  for (let count = 0; count < operationsPerClient && !isOver(); count += 1) {
    const register = registers[random.below(registers.length)] ?? '';
    const operation = drawOperation(random);
    await history.record(client, register, operation, () => run(client, register, operation));
  }
}

function drawOperation(random: Random): Operation {
  const shard = shardIds[random.below(shardIds.length)] ?? '';
  const dice = random.below(10);
  if (dice < 4) return { kind: 'read' };
  if (dice < 7) return { kind: 'bind', shard };
  return dice < 9 ? { kind: 'force', shard } : { kind: 'unbind' };
}
