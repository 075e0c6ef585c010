// `bigfleet shard`.

import { startShardProcess } from '@bigfleet/shard';
import { type Command, serveCommand, type ServeOptions, type Serving } from '../command.ts';
import { unhandledBug } from '../program.ts';
import { shardFlags } from './flags.ts';
import { Reporting } from './reporting.ts';
import { type ShardCommand, shardSettings } from './settings.ts';

export const shardCommand: Command = serveCommand({
  name: 'shard',
  summary: 'one shard: operator sessions, decisions, machines',
  flags: shardFlags,
  settings: shardSettings,
  warnings: ({ warnings }) => warnings,
  start,
});

async function start({ settings: command, ...rest }: ServeOptions<ShardCommand>): Promise<Serving> {
  const { port, logger } = rest;
  const { settings, coordinator } = command;
  const reporting = new Reporting();
  const options = { ...rest, settings, coordinatorTerm: (): bigint => reporting.term };
  const running = await startShardProcess(options);
  try {
    if (coordinator !== undefined) await reporting.start(coordinator, running, options);
  } catch (error) {
    // A term that cannot be understood refuses the start, and nothing stays open then.
    await running.stop();
    throw error;
  }
  port.onReopen(() => running.reopenAuditLog());
  return {
    failed: Promise.race([running.shard.failed, unhandledBug(port)]),
    logger: logger.child({
      component: 'shard',
      shard_id: settings.shardId,
      epoch: String(running.epoch),
    }),
    stop: () => {
      // Not waited for: the coordinator is on no path of a shard.
      reporting.stop();
      return running.stop();
    },
  };
}
