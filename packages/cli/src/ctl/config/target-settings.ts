// Which coordinator with which certificates: what the command line says, else the context, else the
// default. The three TLS flags go together: naming one of them leaves the context's files aside, so
// that a certificate of one fleet is never mixed with the authority of another.

import path from 'node:path';
import { BigFleetError } from '@bigfleet/base';
import { nearestName } from '@bigfleet/process/flags';
import type { ContextEntry, CtlConfig } from './config-file.ts';

export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export interface TargetSettings {
  readonly coordinator: string;
  readonly tls: TlsFiles;
}

export interface TargetFlags {
  readonly context: string;
  readonly coordinator: string;
  readonly tls: TlsFiles;
  /** Which flags the command line named. */
  readonly given: ReadonlySet<string>;
}

const TLS_FLAGS = ['tls-cert', 'tls-key', 'tls-ca'];

/** Relative paths in the file are relative to the file. */
export function targetSettings(
  flags: TargetFlags,
  config: CtlConfig,
  configFile: string,
): TargetSettings {
  const entry = contextEntry(flags.context || config.currentContext, config);
  const beside = (file: string | undefined): string =>
    file === undefined || file === '' ? '' : path.resolve(path.dirname(configFile), file);
  const hasTlsFlag = TLS_FLAGS.some((name) => flags.given.has(name));
  return {
    coordinator: flags.given.has('coordinator')
      ? flags.coordinator
      : (entry.coordinator ?? flags.coordinator),
    tls: hasTlsFlag
      ? flags.tls
      : {
          cert: beside(entry['tls-cert']),
          key: beside(entry['tls-key']),
          ca: beside(entry['tls-ca']),
        },
  };
}

function contextEntry(name: string, { contexts }: CtlConfig): ContextEntry {
  if (name === '') return {};
  return contexts.get(name) ?? unknownContext(name, [...contexts.keys()]);
}

export function unknownContext(name: string, known: readonly string[]): never {
  const near = nearestName(known, name);
  const hint =
    near === undefined ? `known are ${known.join(', ') || 'none'}` : `did you mean ${near}?`;
  throw new BigFleetError('ctl_context_unknown', `there is no context ${name}; ${hint}`);
}
