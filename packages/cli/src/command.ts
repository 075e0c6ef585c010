// What a subcommand of `bigfleet` is to the front door, and the frame of those that run until they are
// stopped, programs of their own among them: help, flags, settings, log, start, signals, stop. Such a
// command contains none of it.

import { BigFleetError, describeThrown, type Result, type Runtime } from '@bigfleet/base';
import {
  createLogger,
  createRegistry,
  type Logger,
  type MetricRegistry,
  stableMessages,
  stderrSink,
} from '@bigfleet/telemetry';
import {
  type FlagTable,
  helpText,
  type Parsed,
  parseFlags,
  type FlagValues,
} from '@bigfleet/process/flags';
import type { ProcessPort } from '@bigfleet/process';
import type { LogFlags } from './process-flags.ts';

/** As processes report it and as clients compare it. */
export const BUILD_VERSION = '0.1.0';

/** 0 as asked, 1 it failed or refused to start, 2 the command line is wrong. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

export interface CommandContext {
  readonly runtime: Runtime;
  readonly port: ProcessPort;
}

export interface Command {
  readonly summary: string;
  readonly flags: FlagTable;
  /** Returns the exit code. */
  run(argv: readonly string[], context: CommandContext): Promise<number>;
}

export type Env = ProcessPort['env'];

export interface ServeOptions<Settings> extends CommandContext {
  readonly env: Env;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
  readonly settings: Settings;
}

export interface Serving {
  /** Resolves with what it cannot go on after. */
  readonly failed: Promise<Error>;
  /** For the last lines; the command's own without one. */
  readonly logger?: Logger | undefined;
  stop(): Promise<void>;
}

/** How a command speaks of itself. */
export interface Wording {
  /** As it is typed. */
  readonly command: string;
  /** Opens every line about a failure. */
  readonly prefix: string;
  /** Exit code of a wrong command line. */
  readonly usageCode: number;
  /** What the environment or a flag explains, in one line with its stable code. */
  readonly refusal: (error: BigFleetError) => string;
}

export interface ServeSpec<Table extends FlagTable & LogFlags, Settings> {
  /** A subcommand of `bigfleet`, unless it has words of its own. */
  readonly name: string;
  readonly wording?: Wording | undefined;
  readonly summary: string;
  readonly flags: Table;
  /** The error names the flags, so that it can be fixed without reading further. */
  readonly settings: (parsed: Parsed<Table>, env: Env) => Result<Settings, string>;
  /** What is odd and no reason to refuse; said once, at the start. */
  readonly warnings?: ((settings: Settings) => readonly string[]) | undefined;
  /** Whatever it opened is closed again when it throws. */
  readonly start: (options: ServeOptions<Settings>) => Promise<Serving>;
}

export function serveCommand<Table extends FlagTable & LogFlags, Settings>(
  spec: ServeSpec<Table, Settings>,
): Command {
  const { name, summary, flags } = spec;
  const wording = spec.wording ?? subcommandWording(name);
  return {
    summary,
    flags,
    run: async (argv, { runtime, port }) => {
      if (argv.some((argument) => argument === '--help' || argument === '-h')) {
        port.writeOutput(helpText(`Usage: ${wording.command} [flags]`, summary, flags));
        return EXIT.ok;
      }
      const { env } = port;
      const parsed = parseFlags(flags, argv);
      const settings = parsed.ok ? spec.settings(parsed.value, env) : parsed;
      if (!parsed.ok || !settings.ok) {
        port.writeError(`${wording.prefix}: ${settings.ok ? '' : settings.error}\n`);
        return wording.usageCode;
      }
      const values: FlagValues<LogFlags> = parsed.value.values;
      const { 'log-format': format, 'log-level': level } = values;
      const registry = createRegistry();
      const sink = stderrSink({ timers: runtime.timers, registry });
      const logger = createLogger({ clock: runtime.clock, sink, format, level });
      for (const warning of spec.warnings?.(settings.value) ?? []) logger.warn(warning);
      const options = { runtime, port, env, logger, registry, settings: settings.value };
      return serve(spec.start, wording, options);
    },
  };
}

function subcommandWording(name: string): Wording {
  const command = `bigfleet ${name}`;
  const refusal = ({ code, message }: BigFleetError): string => `${code}: ${message}`;
  return { command, prefix: command, usageCode: EXIT.usage, refusal };
}

async function serve<Settings>(
  start: (options: ServeOptions<Settings>) => Promise<Serving>,
  { prefix, refusal }: Wording,
  options: ServeOptions<Settings>,
): Promise<number> {
  const { port } = options;
  // Before anything is open: a signal during the start is heard too.
  const stopSignal = port.stopSignal();
  let serving: Serving;
  try {
    serving = await start(options);
  } catch (error) {
    port.writeError(`${prefix}: ${startRefusal(error, refusal)}\n`);
    return EXIT.failed;
  }
  const { logger = options.logger } = serving;
  const failure = await Promise.race([stopSignal.then(() => undefined), serving.failed]);
  if (failure === undefined) logger.event(stableMessages.signalReceived, {});
  else logger.event(stableMessages.componentExited, { err: failure.stack ?? failure.message });
  await serving.stop();
  return failure === undefined ? EXIT.ok : EXIT.failed;
}

/** What the environment or a flag explains is one line; a bug keeps its stack. */
function startRefusal(error: unknown, refusal: Wording['refusal']): string {
  if (error instanceof BigFleetError) return refusal(error);
  return (error instanceof Error ? error.stack : undefined) ?? describeThrown(error);
}
