// The flags of bfconformance (conformance §7) as one table: the parser, -help and the tests read it.

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

export interface FlagSpec {
  readonly name: FlagName;
  /** Absent for a switch. */
  readonly value?: string;
  readonly default?: string;
  readonly help: string;
}

export const FLAGS: readonly FlagSpec[] = [
  {
    name: 'provider',
    value: 'name',
    help: 'boot a provider of this repository; with -target: a name for the report',
  },
  {
    name: 'target',
    value: 'host:port',
    help: 'judge a running endpoint: host:port, [::1]:port or unix:/path',
  },
  {
    name: 'start-cmd',
    value: 'cmd',
    help: 'boot a provider of any language: a command with {addr}, {state} (empty: in memory) and {seed}',
  },
  {
    name: 'fault-target',
    value: 'host:port',
    help: 'an endpoint with the fault hooks; claims profile fault',
  },
  {
    name: 'profile',
    value: 'a,b',
    default: 'core',
    help: 'claimed profiles: core cloud bare-metal spot scale durable fault; or "declared": those in the package.json of -provider',
  },
  { name: 'only', value: 'Bnnn,…', help: 'run these behaviours alone; never certifies' },
  { name: 'skip-baseline', help: 'without the baseline checks' },
  {
    name: 'seed',
    value: 'n',
    default: '1',
    help: 'of all randomness; printed, so that a failure replays',
  },
  {
    name: 'seed-count',
    value: 'n',
    default: '256',
    help: 'speculative slots of a booted provider',
  },
  {
    name: 'scale-seed',
    value: 'n',
    default: '8000 booted, 4000 on a target',
    help: 'machines of the scale lane (BFCONF_SCALE_SEED)',
  },
  {
    name: 'soak',
    value: 'duration',
    default: '10s booted, 8s on a target',
    help: 'soak time of the scale lane (BFCONF_SOAK)',
  },
  {
    name: 'time-scale',
    value: 'factor',
    default: '1',
    help: 'multiplies every wait: real substrates are slow',
  },
  {
    name: 'port',
    value: 'n',
    default: 'any free one',
    help: 'look for free ports upwards from here',
  },
  {
    name: 'host-label',
    value: 'text',
    default: 'certify',
    help: '--provider of the processes that -provider boots',
  },
  {
    name: 'tls-cert',
    value: 'file',
    help: 'client certificate (PEM) for -target, -fault-target and -start-cmd',
  },
  { name: 'tls-key', value: 'file', help: 'its key' },
  { name: 'tls-ca', value: 'file', help: 'the CA that the endpoint must be signed by' },
  { name: 'out', value: 'dir', help: 'write report.json, junit.xml and badge.json' },
  { name: 'list', help: 'print the catalogue and end' },
  { name: 'help', help: 'print this and end' },
];
