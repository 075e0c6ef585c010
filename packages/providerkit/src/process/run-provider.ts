// A provider's whole process: flags, logger, start, signals, stop. Returns the exit code, so that a
// main file is one call: `process.exit(await runProvider({ … }))`.
//
// 0: stopped as asked, or printed help. 1: refused to start. 2: the command line is wrong.

import { BigFleetError, describeThrown, type Runtime } from '@bigfleet/base';
import { nodeProblem, nodeProcess, type ProcessPort } from '@bigfleet/process';
import type { FlagTable } from '@bigfleet/process/flags';
import {
  createLogger,
  createRegistry,
  type Logger,
  type LogSink,
  stableMessages,
  stderrSink,
} from '@bigfleet/telemetry';
import { namesOf, type ProviderDefinition } from './definition.ts';
import { parseProviderFlags } from './provider-flags.ts';
import { type RunningProvider, startProvider } from './start-provider.ts';

/** What a provider uses of its process. */
export interface ProviderPort
  extends Pick<ProcessPort, 'nodeVersion' | 'writeOutput' | 'writeError' | 'stopSignal'> {
  /** Standard error when absent. */
  logSink?(): LogSink;
}

export interface RunProviderOptions<Own extends FlagTable = FlagTable>
  extends ProviderDefinition<Own> {
  readonly runtime: Runtime;
  /** Without the interpreter and the script. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The process around it; this one when absent. */
  readonly port?: ProviderPort;
}

const OK = 0;
const REFUSED = 1;
const USAGE = 2;

export async function runProvider<Own extends FlagTable>(
  options: RunProviderOptions<Own>,
): Promise<number> {
  const { runtime } = options;
  const port: ProviderPort = options.port ?? nodeProcess;
  const { command } = namesOf(options);
  const wrongNode = nodeProblem(port.nodeVersion);
  if (wrongNode !== undefined) return ended(port, `${command}: ${wrongNode}`, USAGE);
  const parsed = parseProviderFlags(options, options);
  if (parsed.kind === 'error') return ended(port, `${command}: ${parsed.problem}`, USAGE);
  if (parsed.kind === 'print') {
    port.writeOutput(parsed.text);
    return OK;
  }
  const { settings } = parsed;
  const registry = createRegistry();
  const logger = createLogger({
    clock: runtime.clock,
    sink: port.logSink?.() ?? stderrSink({ timers: runtime.timers, registry }),
    format: settings.flags['log-format'],
    level: settings.flags['log-level'],
    fields: { component: `provider-${options.name}` },
  });
  const stopSignal = port.stopSignal();
  let running: RunningProvider;
  try {
    running = await startProvider({ definition: options, settings, runtime, logger, registry });
  } catch (error) {
    return refused(logger, error);
  }
  await stopSignal;
  logger.event(stableMessages.signalReceived, {});
  await running.stop();
  return OK;
}

function ended(port: ProviderPort, line: string, code: number): number {
  port.writeError(`${line}\n`);
  return code;
}

/** What the environment or a flag explains is one line; a bug keeps its stack. */
function refused(logger: Logger, error: unknown): number {
  if (error instanceof BigFleetError) {
    logger.error('refused to start', { err: error, code: error.code });
    return error.code === 'flag_invalid' ? USAGE : REFUSED;
  }
  const stack = error instanceof Error ? error.stack : undefined;
  logger.error('failed to start', { err: stack ?? describeThrown(error) });
  return REFUSED;
}
