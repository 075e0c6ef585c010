// `bigfleet all-in-one`: flags, log, start, signals, stop.

import { createLogger, createRegistry, stableMessages, stderrSink } from '@bigfleet/telemetry';
import { type Command, EXIT } from '../command.ts';
import { helpText, parseFlags } from '@bigfleet/process/flags';
import { startRefusal } from '../start-refusal.ts';
import { allInOneFlags } from './flags.ts';
import { allInOneSettings } from './settings.ts';
import { type RunningAllInOne, startAllInOne } from './start.ts';

const SUMMARY = 'coordinator, shard and a fake provider in one process, for laptops';

export const allInOneCommand: Command = {
  summary: SUMMARY,
  flags: allInOneFlags,
  run: async (argv, { runtime, port }) => {
    if (argv.some((argument) => argument === '--help' || argument === '-h')) {
      port.writeOutput(helpText('Usage: bigfleet all-in-one [flags]', SUMMARY, allInOneFlags));
      return EXIT.ok;
    }
    const usage = (problem: string): number => {
      port.writeError(`bigfleet all-in-one: ${problem}\n`);
      return EXIT.usage;
    };
    const parsed = parseFlags(allInOneFlags, argv);
    if (!parsed.ok) return usage(parsed.error);
    const settings = allInOneSettings(parsed.value.values, port.env);
    if (!settings.ok) return usage(settings.error);
    const { 'log-format': format, 'log-level': level } = parsed.value.values;
    const { clock, timers } = runtime;
    const sink = stderrSink({ timers, registry: createRegistry() });
    const logger = createLogger({ clock, sink, format, level });
    const stopSignal = port.stopSignal();
    let running: RunningAllInOne;
    try {
      running = await startAllInOne({ runtime, env: port.env, logger, settings: settings.value });
    } catch (error) {
      port.writeError(`bigfleet all-in-one: ${startRefusal(error)}\n`);
      return EXIT.failed;
    }
    const failure = await Promise.race([stopSignal.then(() => undefined), running.failed]);
    if (failure === undefined) logger.event(stableMessages.signalReceived, {});
    else logger.event(stableMessages.componentExited, { err: failure.stack ?? failure.message });
    await running.stop();
    return failure === undefined ? EXIT.ok : EXIT.failed;
  },
};
