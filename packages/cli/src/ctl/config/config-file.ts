// The config file: named sets of coordinator address and TLS files, and which one is in use. Keys
// are those of the flags. Read strictly: a misspelt tls-ca that was passed over would dial in
// plaintext. Written whole, through a temporary file: a full disk must not lose the contexts.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { BigFleetError, compareText, describeThrown } from '@bigfleet/base';
import type { ProcessPort } from '@bigfleet/process';
import { parseYaml, yamlText } from '@bigfleet/process';
import { nameHint } from '../output/text.ts';

export const CONTEXT_KEYS = ['coordinator', 'tls-cert', 'tls-key', 'tls-ca'] as const;

export type ContextEntry = Readonly<Partial<Record<(typeof CONTEXT_KEYS)[number], string>>>;

export interface CtlConfig {
  /** Empty: none is in use. */
  readonly currentContext: string;
  readonly contexts: ReadonlyMap<string, ContextEntry>;
}

const EMPTY: CtlConfig = { currentContext: '', contexts: new Map() };
const TOP_KEYS = ['current-context', 'contexts'];
const MAX_BYTES = 1_000_000;
const OWNER_ONLY = 0o600;
const OWNER_ONLY_DIRECTORY = 0o700;

/** Where the file is: --config, BIGFLEETCTL_CONFIG, XDG_CONFIG_HOME, ~/.config. */
export function configPath(
  flag: string,
  { env, home }: Pick<ProcessPort, 'env'> & { readonly home: string },
): string {
  const named = flag || (env['BIGFLEETCTL_CONFIG'] ?? '');
  if (named !== '') return named;
  const base = env['XDG_CONFIG_HOME'] || path.join(home, '.config');
  return path.join(base, 'bigfleetctl', 'config.yaml');
}

/** A file that a flag names must be there: without it another fleet would be dialled. */
export function readConfig(file: string, { mustExist = false } = {}): CtlConfig {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (isMissing && !mustExist) return EMPTY;
    throw invalid(file, describeThrown(error), error);
  }
  if (text.length > MAX_BYTES) throw invalid(file, `it is longer than ${MAX_BYTES} characters`);
  const parsed = parseYaml(text);
  if (!parsed.ok) throw invalid(file, parsed.error);
  return parsed.value === null ? EMPTY : configOf(file, parsed.value);
}

export function writeConfig(file: string, config: CtlConfig): void {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: OWNER_ONLY_DIRECTORY });
    writeFileSync(temporary, configText(config), { mode: OWNER_ONLY });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw invalid(file, describeThrown(error), error);
  }
}

export function configText(config: CtlConfig): string {
  return yamlText(configDocument(config));
}

/** As it stands in the file. */
export function configDocument({ currentContext, contexts }: CtlConfig): Record<string, unknown> {
  const sorted = [...contexts].sort(([a], [b]) => compareText(a, b));
  return { 'current-context': currentContext, contexts: Object.fromEntries(sorted) };
}

function configOf(file: string, value: unknown): CtlConfig {
  const top = mappingOf(file, 'the file', value);
  refuseUnknown(file, 'the file', top, TOP_KEYS);
  const contexts = mappingOf(file, 'contexts', top.get('contexts') ?? {});
  return {
    currentContext: textOf(file, 'current-context', top.get('current-context') ?? ''),
    contexts: new Map([...contexts].map(([name, entry]) => [name, entryOf(file, name, entry)])),
  };
}

function entryOf(file: string, name: string, value: unknown): ContextEntry {
  const place = `contexts.${name}`;
  const entry = mappingOf(file, place, value ?? {});
  refuseUnknown(file, place, entry, CONTEXT_KEYS);
  return Object.fromEntries(
    [...entry].map(([key, text]) => [key, textOf(file, `${place}.${key}`, text)]),
  );
}

function mappingOf(file: string, place: string, value: unknown): Map<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(file, `${place} must be a mapping`);
  }
  return new Map(Object.entries(value));
}

function textOf(file: string, place: string, value: unknown): string {
  if (typeof value !== 'string') throw invalid(file, `${place} must be text`);
  return value;
}

function refuseUnknown(
  file: string,
  place: string,
  mapping: ReadonlyMap<string, unknown>,
  known: readonly string[],
): void {
  for (const key of mapping.keys()) {
    if (known.includes(key)) continue;
    const hint = nameHint(known, key, `known are ${known.join(', ')}`);
    throw invalid(file, `${place} has no key ${JSON.stringify(key)}; ${hint}`);
  }
}

function invalid(file: string, problem: string, cause?: unknown): BigFleetError {
  return new BigFleetError('ctl_config_invalid', `${file}: ${problem}`, { cause });
}
