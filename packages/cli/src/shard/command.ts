// `bigfleet shard`: flags, log, start, signals, stop.

import { BigFleetError, describeThrown } from '@bigfleet/base';
import { type RunningProcess, startShardProcess, type StartProcessOptions } from '@bigfleet/shard';
import { createLogger, createRegistry, stableMessages, stderrSink } from '@bigfleet/telemetry';
import { type Command, type CommandContext, EXIT } from '../command.ts';
import { helpText, parseFlags } from '@bigfleet/process/flags';
import { shardFlags } from './flags.ts';
import { Reporting } from './reporting.ts';
import { shardSettings } from './settings.ts';

const SUMMARY = 'one shard: operator sessions, decisions, machines';

export const shardCommand: Command = {
  summary: SUMMARY,
  run: async (argv, context) => {
    const { port } = context;
    if (argv.some((argument) => argument === '--help' || argument === '-h')) {
      port.writeOutput(helpText('Usage: bigfleet shard [flags]', SUMMARY, shardFlags));
      return EXIT.ok;
    }
    const parsed = parseFlags(shardFlags, argv);
    if (!parsed.ok) return usage(context, parsed.error);
    const command = shardSettings(parsed.value, port.env);
    if (!command.ok) return usage(context, command.error);
    const { 'log-format': format, 'log-level': level } = parsed.value.values;
    const registry = createRegistry();
    const { clock, timers } = context.runtime;
    const sink = stderrSink({ timers, registry });
    const logger = createLogger({ clock, sink, format, level });
    for (const warning of command.value.warnings) logger.warn(warning);
    const { settings, coordinator } = command.value;
    const reporting = new Reporting(coordinator);
    const coordinatorTerm = (): bigint => reporting.term;
    const options = { ...context, env: port.env, logger, registry, settings, coordinatorTerm };
    return serve(context, options, reporting);
  },
};

async function serve(
  { port }: CommandContext,
  options: StartProcessOptions,
  reporting: Reporting,
): Promise<number> {
  const stopSignal = port.stopSignal();
  let running: RunningProcess;
  try {
    running = await startShardProcess(options);
    await startReporting(reporting, running, options);
  } catch (error) {
    port.writeError(`bigfleet shard: ${refusal(error)}\n`);
    return EXIT.failed;
  }
  port.onReopen(() => running.reopenAuditLog());
  const logger = options.logger.child({
    component: 'shard',
    shard_id: options.settings.shardId,
    epoch: String(running.epoch),
  });
  const unhandled = new Promise<Error>((resolve) =>
    port.onUnhandled((bug) => resolve(asError(bug))),
  );
  const failure = await Promise.race([
    stopSignal.then(() => undefined),
    running.shard.failed,
    unhandled,
  ]);
  if (failure === undefined) logger.event(stableMessages.signalReceived, {});
  else logger.event(stableMessages.componentExited, { err: failure.stack ?? failure.message });
  // Not waited for: the coordinator is on no path of a shard.
  reporting.stop();
  await running.stop();
  return failure === undefined ? EXIT.ok : EXIT.failed;
}

/** A term that cannot be understood refuses the start, and nothing stays open then. */
async function startReporting(
  reporting: Reporting,
  running: RunningProcess,
  options: StartProcessOptions,
): Promise<void> {
  try {
    await reporting.start(running, options);
  } catch (error) {
    await running.stop();
    throw error;
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(describeThrown(thrown));
}

function usage({ port }: CommandContext, problem: string): number {
  port.writeError(`bigfleet shard: ${problem}\n`);
  return EXIT.usage;
}

/** What the environment or a flag explains is one line; a bug keeps its stack. */
function refusal(error: unknown): string {
  if (error instanceof BigFleetError) return `${error.code}: ${error.message}`;
  return (error instanceof Error ? error.stack : undefined) ?? describeThrown(error);
}
