// A fleet of three shards whose coordinator came back from a restore under a new leader, and the words to
// play its shards: what they dial, what they answer, and the time that recovery takes at least.

import assert from 'node:assert/strict';
import { type ReportInit, ReportWorld } from './report-world.ts';
import { nextGeneration } from '../../state/meta.ts';
import { MIN_RECOVERY_MS } from '../../recovery/recovery-machine.ts';

export function zone(value: string): { key: string; value: string } {
  return { key: 'zone', value };
}

export function held(value: string): { topologyKey: string; topologyValue: string } {
  return { topologyKey: 'zone', topologyValue: value };
}

export function dials(address: string, source = 'flag'): ReportInit {
  return {
    providerShared: true,
    summary: { providers: [{ name: address, address, shared: true, source, totalMachines: 1 }] },
  };
}

/** Shards a and b with p:1 (home a), c with p:2; then a restore and a new leader. */
export async function restored(
  before?: (world: ReportWorld) => Promise<unknown>,
): Promise<ReportWorld> {
  const world = await ReportWorld.open();
  await world.report('a', dials('p:1'));
  await world.report('b', dials('p:1'));
  await world.report('c', dials('p:2'));
  await before?.(world);
  const { meta } = world.store.disk;
  assert.ok(meta !== undefined);
  world.store.disk.meta = nextGeneration(meta);
  await world.elect();
  world.supervise(world.desk.recoveryDriver.run(new AbortController().signal));
  return world;
}

const addressOf: Readonly<Record<string, string>> = { a: 'p:1', b: 'p:1', c: 'p:2' };

/** Three reports: an empty answer is believed only after two replies have asked for it. */
export async function answer(
  world: ReportWorld,
  shardId: string,
  init: ReportInit = {},
): Promise<void> {
  const observedCoordinatorTerm = world.ledger.term;
  for (let i = 0; i < 3; i++) {
    await world.report(shardId, {
      ...dials(addressOf[shardId] ?? ''),
      observedCoordinatorTerm,
      ...init,
    });
  }
}

export async function settle(world: ReportWorld): Promise<void> {
  await world.time.runFor(MIN_RECOVERY_MS + 2_000);
}

export function owners(world: ReportWorld): Record<string, string> {
  const rows = world.ledger.state.domains();
  return Object.fromEntries(rows.map(({ value, shardId }) => [value, shardId]));
}
