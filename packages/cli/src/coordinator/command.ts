// `bigfleet coordinator`: flags, log, start, signals, stop.

import { type RunningCoordinator, startCoordinatorProcess } from '@bigfleet/coordinator';
import {
  createLogger,
  createRegistry,
  type Logger,
  stableMessages,
  stderrSink,
} from '@bigfleet/telemetry';
import { type Command, type CommandContext, EXIT } from '../command.ts';
import { helpText, parseFlags } from '@bigfleet/process/flags';
import { startRefusal } from '../start-refusal.ts';
import { coordinatorFlags } from './flags.ts';
import { coordinatorSettings } from './settings.ts';
import { coordinatorWarnings } from './warnings.ts';

const SUMMARY = 'the fleet state: which shard owns what, and moves between shards';

export const coordinatorCommand: Command = {
  summary: SUMMARY,
  run: async (argv, context) => {
    const { port } = context;
    if (argv.some((argument) => argument === '--help' || argument === '-h')) {
      port.writeOutput(helpText('Usage: bigfleet coordinator [flags]', SUMMARY, coordinatorFlags));
      return EXIT.ok;
    }
    const parsed = parseFlags(coordinatorFlags, argv);
    if (!parsed.ok) return usage(context, parsed.error);
    const settings = coordinatorSettings(parsed.value, port.env);
    if (!settings.ok) return usage(context, settings.error);
    const { 'log-format': format, 'log-level': level } = parsed.value.values;
    const registry = createRegistry();
    const { clock, timers } = context.runtime;
    const logger = createLogger({ clock, sink: stderrSink({ timers, registry }), format, level });
    for (const warning of coordinatorWarnings(settings.value)) logger.warn(warning);
    return serve(context, logger, {
      runtime: context.runtime,
      env: port.env,
      logger,
      registry,
      settings: settings.value,
    });
  },
};

async function serve(
  { port }: CommandContext,
  logger: Logger,
  options: Parameters<typeof startCoordinatorProcess>[0],
): Promise<number> {
  const stopSignal = port.stopSignal();
  let running: RunningCoordinator;
  try {
    running = await startCoordinatorProcess(options);
  } catch (error) {
    port.writeError(`bigfleet coordinator: ${startRefusal(error)}\n`);
    return EXIT.failed;
  }
  const failure = await Promise.race([stopSignal.then(() => undefined), running.failed]);
  if (failure === undefined) logger.event(stableMessages.signalReceived, {});
  else logger.event(stableMessages.componentExited, { err: failure.stack ?? failure.message });
  await running.stop();
  return failure === undefined ? EXIT.ok : EXIT.failed;
}

function usage({ port }: CommandContext, problem: string): number {
  port.writeError(`bigfleet coordinator: ${problem}\n`);
  return EXIT.usage;
}
