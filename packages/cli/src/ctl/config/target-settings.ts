// Which coordinator with which certificates: what the command line says, else the context, else the
// default. The three TLS flags go together: naming one of them leaves the context's files aside, so
// that a certificate of one fleet is never mixed with the authority of another.

import path from 'node:path';
import { BigFleetError } from '@bigfleet/base';
import { nameHint } from '../output/text.ts';
import type { ContextEntry, CtlConfig } from './config-file.ts';

export interface TargetSettings {
  readonly coordinator: string;
  readonly tls: { readonly cert: string; readonly key: string; readonly ca: string };
}

type TargetFlags = Required<ContextEntry> & { readonly context: string };

/** `given`: which flags the command line named. Relative paths in the file are relative to the file. */
export function targetSettings(
  flags: TargetFlags,
  given: ReadonlySet<string>,
  config: CtlConfig,
  configFile: string,
): TargetSettings {
  const entry = contextEntry(flags.context || config.currentContext, config);
  const beside = (file: string | undefined): string =>
    file === undefined || file === '' ? '' : path.resolve(path.dirname(configFile), file);
  const hasTlsFlag = ['tls-cert', 'tls-key', 'tls-ca'].some((name) => given.has(name));
  const { coordinator } = given.has('coordinator') ? flags : { ...flags, ...entry };
  const tls = hasTlsFlag
    ? { cert: flags['tls-cert'], key: flags['tls-key'], ca: flags['tls-ca'] }
    : {
        cert: beside(entry['tls-cert']),
        key: beside(entry['tls-key']),
        ca: beside(entry['tls-ca']),
      };
  return { coordinator, tls };
}

function contextEntry(name: string, { contexts }: CtlConfig): ContextEntry {
  if (name === '') return {};
  return contexts.get(name) ?? unknownContext(name, [...contexts.keys()]);
}

export function unknownContext(name: string, known: readonly string[]): never {
  const hint = nameHint(known, name, `known are ${known.join(', ') || 'none'}`);
  throw new BigFleetError('ctl_context_unknown', `there is no context ${name}; ${hint}`);
}
