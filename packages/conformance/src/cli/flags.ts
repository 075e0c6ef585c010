// The command line of bfconformance (conformance §7). `-x`, `--x`, `-x value` and `-x=value` are the
// same, as users of the reference program expect. An unknown flag, a missing or empty value and a flag
// given twice are errors: a typo must not pass for a weaker run. What a value means is read later
// (options.ts): several defaults depend on other flags, so the table's are for the reader of -help.

import { err, ok, type Result } from '@bigfleet/base';
import {
  type Flag,
  readArguments,
  type Refusal,
  refusalText,
  text,
  toggle,
} from '@bigfleet/process/flags';

export type FlagName =
  | 'provider'
  | 'target'
  | 'start-cmd'
  | 'fault-target'
  | 'profile'
  | 'only'
  | 'skip-baseline'
  | 'seed'
  | 'seed-count'
  | 'scale-seed'
  | 'soak'
  | 'time-scale'
  | 'port'
  | 'host-label'
  | 'tls-cert'
  | 'tls-key'
  | 'tls-ca'
  | 'out'
  | 'list'
  | 'help';

export const FLAGS: Readonly<Record<FlagName, Flag<unknown>>> = {
  provider: text(
    '',
    'boot a provider of this repository; with -target: a name for the report',
    '<name>',
  ),
  target: text('', 'judge a running endpoint: host:port, [::1]:port or unix:/path', '<host:port>'),
  'start-cmd': text(
    '',
    'boot a provider of any language: a command with {addr}, {state} (empty: in memory) and {seed}',
    '<cmd>',
  ),
  'fault-target': text('', 'an endpoint with the fault hooks; claims profile fault', '<host:port>'),
  profile: text(
    'core',
    'claimed profiles: core cloud bare-metal spot scale durable fault; or "declared": those in the package.json of -provider',
    '<a,b>',
  ),
  only: text('', 'run these behaviours alone; never certifies', '<Bnnn,…>'),
  'skip-baseline': toggle(false, 'without the baseline checks'),
  seed: text('1', 'of all randomness; printed, so that a failure replays', '<n>'),
  'seed-count': text('256', 'speculative slots of a booted provider', '<n>'),
  'scale-seed': text(
    '8000 booted, 4000 on a target',
    'machines of the scale lane (BFCONF_SCALE_SEED)',
    '<n>',
  ),
  soak: text(
    '10s booted, 8s on a target',
    'soak time of the scale lane (BFCONF_SOAK)',
    '<duration>',
  ),
  'time-scale': text('1', 'multiplies every wait: real substrates are slow', '<factor>'),
  port: text('any free one', 'look for free ports upwards from here', '<n>'),
  'host-label': text('certify', '--provider of the processes that -provider boots', '<text>'),
  'tls-cert': text(
    '',
    'client certificate (PEM) for -target, -fault-target and -start-cmd',
    '<file>',
  ),
  'tls-key': text('', 'its key', '<file>'),
  'tls-ca': text('', 'the CA that the endpoint must be signed by', '<file>'),
  out: text('', 'write report.json, junit.xml and badge.json', '<dir>'),
  list: toggle(false, 'print the catalogue and end'),
  help: toggle(false, 'print this and end'),
};

/** Switches hold 'true' or 'false'. */
export type FlagValues = ReadonlyMap<FlagName, string>;

export function parseFlags(argv: readonly string[]): Result<FlagValues, string> {
  const read = readArguments(FLAGS, argv);
  if (!read.ok) return err(problemText(read.error));
  const values = new Map<FlagName, string>();
  for (const [name, [value = '']] of read.value.texts) {
    // Only names of the table were taken.
    const known = name as FlagName;
    const isSwitch = FLAGS[known].form === undefined;
    if (isSwitch && value !== 'true' && value !== 'false') return err(`-${name} takes no value`);
    if (value === '') return err(`-${name} needs a value`);
    values.set(known, value);
  }
  return ok(values);
}

/** With one dash, as the help spells them. */
function problemText(refusal: Refusal): string {
  if (refusal.kind !== 'unknown') return refusalText(refusal).replace(/^--/, '-');
  const hint = refusal.nearest === undefined ? '' : `: did you mean -${refusal.nearest}?`;
  return `unknown flag -${refusal.name}${hint}`;
}
