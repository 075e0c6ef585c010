// The frame around a verb: help, flags, settings, connections, printing, and errors that say what
// to do next. A verb contains none of it.

import { BigFleetError } from '@bigfleet/base';
import { type FlagTable, type Parsed, parseFlags } from '@bigfleet/process/flags';
import { configPath, readConfig } from '../config/config-file.ts';
import { type TargetSettings, targetSettings } from '../config/target-settings.ts';
import { describeFailure } from '../connect/failure.ts';
import { openLinks } from '../connect/links.ts';
import type { CtlContext } from '../context.ts';
import { CTL_EXIT } from '../output/report.ts';
import { nameHint } from '../output/text.ts';
import { type GlobalFlags, globalFlags, watchFlags } from './flags.ts';
import { printReport, watchReport } from './print.ts';
import { type Invocation, type ValuesOf, type Verb, verbHelp, type VerbSpec } from './verb.ts';

export function defineVerb<Table extends FlagTable>(spec: VerbSpec<Table>): Verb {
  const verb: Verb = {
    ...spec,
    details: spec.details ?? [],
    words: spec.words ?? [],
    flags: { ...spec.flags, ...(spec.isWatchable === true ? watchFlags : {}) },
    required: spec.required ?? [],
    execute: (argv, context) => execute(spec, verb, argv, context),
  };
  return verb;
}

async function execute<Table extends FlagTable>(
  spec: VerbSpec<Table>,
  verb: Verb,
  argv: readonly string[],
  context: CtlContext,
): Promise<number> {
  const { port } = context;
  if (asksForHelp(argv)) {
    port.writeOutput(verbHelp(verb));
    return CTL_EXIT.ok;
  }
  const parsed = parseFlags({ ...globalFlags, ...verb.flags }, argv, {
    maxWords: verb.words.length,
  });
  const problem = parsed.ok ? usageProblem(spec, verb, parsed.value) : parsed.error;
  if (!parsed.ok || problem !== undefined) {
    port.writeError(
      `bigfleetctl ${verb.name}: ${problem ?? ''}\n  see bigfleetctl ${verb.name} --help\n`,
    );
    return CTL_EXIT.failed;
  }
  try {
    return await perform(spec, parsed.value, context);
  } catch (error) {
    const { line, next } = describeFailure(error);
    port.writeError(`bigfleetctl: ${line}\n  next: ${next}\n`);
    return CTL_EXIT.failed;
  }
}

/** Behind `--` a word may look like anything. */
function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const flags = end < 0 ? argv : argv.slice(0, end);
  return flags.some((argument) => argument === '--help' || argument === '-h');
}

const NO_TARGET: TargetSettings = { coordinator: '', tls: { cert: '', key: '', ca: '' } };

type AnyParsed = Parsed<FlagTable>;

/** The table that was parsed is the globals, the verb's own and perhaps --watch. */
function valuesOf<Table extends FlagTable>({ values }: AnyParsed): ValuesOf<Table> {
  return values as ValuesOf<Table>;
}

function usageProblem<Table extends FlagTable>(
  spec: VerbSpec<Table>,
  verb: Verb,
  parsed: AnyParsed,
): string | undefined {
  const missing = verb.required.filter((name) => isMissing(parsed.values[name]));
  if (missing.length > 0) return `give ${missing.map((name) => `--${name}`).join(', ')}`;
  const { words, given } = parsed;
  return wordProblem(verb, words) ?? spec.problem?.(valuesOf(parsed), words, given);
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}

function wordProblem({ words }: Verb, given: readonly string[]): string | undefined {
  for (const [at, { name, choices }] of words.entries()) {
    const word = given[at];
    if (word === undefined) {
      return `give <${name}>${choices === undefined ? '' : `: ${choices.join(', ')}`}`;
    }
    if (choices === undefined || choices.includes(word)) continue;
    const hint = nameHint(choices, word, `write one of ${choices.join(', ')}`);
    return `unknown ${name} ${JSON.stringify(word)}; ${hint}`;
  }
  return undefined;
}

async function perform<Table extends FlagTable>(
  spec: VerbSpec<Table>,
  parsed: AnyParsed,
  context: CtlContext,
): Promise<number> {
  const values = valuesOf<Table>(parsed);
  const stop = new AbortController();
  const { runtime, network, port } = context;
  const links = openLinks({
    runtime,
    network,
    env: port.env,
    target: spec.needsNoFleet === true ? NO_TARGET : settingsOf(values, parsed.given, context),
    timeoutMs: values.timeout,
    signal: stop.signal,
  });
  const { words, given } = parsed;
  const invocation = { values, given, words, context, links, signal: stop.signal };
  try {
    const isWatching = watches(spec, parsed, context);
    if (isWatching || parsed.values['follow'] === true) stopWithSignal(context, stop);
    return await deed(spec, invocation, isWatching ? Number(parsed.values['interval']) : undefined);
  } finally {
    links.close();
  }
}

async function deed<Table extends FlagTable>(
  spec: VerbSpec<Table>,
  invocation: Invocation<ValuesOf<Table>>,
  /** Undefined: once. */
  intervalMs: number | undefined,
): Promise<number> {
  if (spec.run !== undefined) return spec.run(invocation);
  const { context, signal } = invocation;
  const { output } = invocation.values;
  const ask = () => spec.report(invocation);
  if (intervalMs === undefined) return printReport(await ask(), context.port, output);
  return watchReport({ ask, context, output, intervalMs, signal });
}

function settingsOf(
  values: ValuesOf<GlobalFlags>,
  given: ReadonlySet<string>,
  { port }: CtlContext,
): TargetSettings {
  const file = configPath(values.config, port);
  const config = readConfig(file, { mustExist: values.config !== '' });
  return targetSettings(values, given, config, file);
}

function watches<Table extends FlagTable>(
  { isWatchable, isLive }: VerbSpec<Table>,
  { values, given }: AnyParsed,
  { port }: CtlContext,
): boolean {
  if (isWatchable !== true) return false;
  return values['watch'] === true || (isLive === true && port.isTerminal && !given.has('watch'));
}

/** For what runs until it is told to stop: there Ctrl-C is a way to end well, not a failure. */
function stopWithSignal({ port }: CtlContext, stop: AbortController): void {
  const end = (): void => stop.abort(new BigFleetError('cancelled', 'stopped by a signal'));
  port.stopSignal().then(end, end);
}
