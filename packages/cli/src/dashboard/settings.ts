// From the flags of `bigfleet dashboard` to its settings. Each refusal names the flag, so that it can be
// fixed without reading further.

import path from 'node:path';
import { err, ok, parseClusterId, parseShardId, type Result } from '@bigfleet/base';
import type { DashboardSettings } from '@bigfleet/dashboard';
import { type FlagValues, isDialable, isLoopback, type Parsed } from '@bigfleet/process/flags';
import { formatAddress, parseListenAddress } from '@bigfleet/telemetry';
import { isTlsRequired } from '@bigfleet/wire';
import { BUILD_VERSION, type Env } from '../command.ts';
import { commaSeparated } from '../kube-flags.ts';
import { type DashboardFlags, RACK_LABEL } from './flags.ts';

export interface DashboardCommand {
  readonly settings: DashboardSettings;
  /** Cluster → kubeconfig file. */
  readonly kubeconfigs: ReadonlyMap<string, string>;
}

export function dashboardSettings(
  { values }: Parsed<DashboardFlags>,
  env: Env,
): Result<DashboardCommand, string> {
  const listen = parseListenAddress(values.listen);
  if (!listen.ok) return err(`--listen: ${listen.error}`);
  if (listen.value.kind === 'disabled')
    return err('--listen: a dashboard without a port shows nothing');
  const shards = readPairs('--shard', values.shard, shardProblem);
  if (!shards.ok) return shards;
  const wrong = [...shards.value].find(([, address]) => !isDialable(address));
  if (wrong !== undefined) {
    return err(
      `--shard=${wrong.join('=')}: ${JSON.stringify(wrong[1])} is not host:port or unix:/path`,
    );
  }
  const coordinators = [...commaSeparated(values.coordinator)];
  const undialable = coordinators.find((address) => !isDialable(address));
  if (undialable !== undefined) {
    return err(`--coordinator: ${JSON.stringify(undialable)} is not host:port or unix:/path`);
  }
  const recordsDirs = readPairs('--records-dir', values['records-dir'], shardProblem);
  if (!recordsDirs.ok) return recordsDirs;
  const kubeconfigs = readPairs('--kubeconfig', values.kubeconfig, clusterProblem);
  if (!kubeconfigs.ok) return kubeconfigs;
  const teams = readTeams(values.team);
  if (!teams.ok) return teams;
  const conformanceReports = readPairs('--conformance', values.conformance, nameProblem);
  if (!conformanceReports.ok) return conformanceReports;
  if (values['max-streams'] < 1) return err('--max-streams is at least 1');
  const settings: DashboardSettings = {
    listen: listen.value,
    shards: [...shards.value].map(([shard, address]) => ({ shard, address })),
    coordinators,
    recordsDirs: recordsDirs.value,
    rackLabels: values['rack-label'].length === 0 ? [RACK_LABEL] : values['rack-label'],
    teams: teams.value,
    conformanceReports: conformanceReports.value,
    isSimulated: values.simulated,
    webDir: values['web-dir'] === '' ? undefined : path.resolve(values['web-dir']),
    allowedHosts: values['allowed-host'].map((host) => host.toLowerCase()),
    maxStreams: values['max-streams'],
    historyBytes: values['history-bytes'],
    recordsBytes: values['records-bytes'],
    tls: {
      cert: values['tls-cert'],
      key: values['tls-key'],
      ca: values['tls-ca'],
      requireTls: isTlsRequired({ requireTls: values['require-tls'], env }),
    },
    build: { version: BUILD_VERSION, revision: env['BIGFLEET_REVISION'] ?? 'unknown' },
  };
  return ok({ settings, kubeconfigs: kubeconfigs.value });
}

/** Odd, and no reason to refuse: it starts, and says on its pages what is missing. */
export function dashboardWarnings({ settings }: DashboardCommand): readonly string[] {
  const { shards, coordinators, listen } = settings;
  const isOpen = !isLoopback(formatAddress(listen.host ?? '', listen.port));
  return [
    ...(shards.length === 0 && coordinators.length === 0
      ? [
          'nothing to show: name shards with --shard=<id>=<addr>, or a --coordinator that knows them',
        ]
      : []),
    ...(isOpen
      ? [
          'HTTP is plaintext and open to the network: put an authenticating proxy in front of --listen',
        ]
      : []),
  ];
}

type Values = FlagValues<DashboardFlags>;

/** `name=value` each; a name twice is a mistake that would hide one of the two. */
function readPairs(
  flag: string,
  given: Values['shard'],
  problemOf: (name: string) => string | undefined,
): Result<ReadonlyMap<string, string>, string> {
  const pairs = new Map<string, string>();
  for (const each of given) {
    const at = each.indexOf('=');
    const [name, value] = [each.slice(0, at), each.slice(at + 1)];
    if (at < 1 || value === '') return err(`${flag}=${each}: write <name>=<value>`);
    const problem = problemOf(name);
    if (problem !== undefined) return err(`${flag}=${each}: ${problem}`);
    if (pairs.has(name)) return err(`${flag}: ${name} is named twice`);
    pairs.set(name, value);
  }
  return ok(pairs);
}

/** Beyond any name of a provider or a team that a page could show. */
const MAX_NAME = 128;
const MAX_TEAMS = 1_000;
/** What a cluster's id may hold, and the star. */
const PATTERN = /^[A-Za-z0-9_.*-]{1,253}$/;

/** A team may have several patterns; a pattern twice would give its clusters to the first alone. */
function readTeams(given: Values['team']): Result<DashboardSettings['teams'], string> {
  if (given.length > MAX_TEAMS) return err(`--team: at most ${MAX_TEAMS} are taken`);
  const teams: DashboardSettings['teams'][number][] = [];
  for (const each of given) {
    const at = each.indexOf('=');
    const [team, pattern] = [each.slice(0, at).trim(), each.slice(at + 1)];
    if (at < 1 || team === '') return err(`--team=${each}: write <team>=<pattern>`);
    const problem = nameProblem(team);
    if (problem !== undefined) return err(`--team=${each}: ${problem}`);
    if (!PATTERN.test(pattern)) {
      return err(
        `--team=${each}: ${JSON.stringify(pattern)} matches no cluster: write its id, with * for any text`,
      );
    }
    const known = teams.find((other) => other.pattern === pattern);
    if (known !== undefined) {
      return err(`--team: the pattern ${pattern} is given twice, for ${known.team} and ${team}`);
    }
    teams.push({ team, pattern });
  }
  return ok(teams);
}

function nameProblem(name: string): string | undefined {
  return name.length <= MAX_NAME && !/\p{Cc}/u.test(name)
    ? undefined
    : `a name has at most ${MAX_NAME} characters and no control characters`;
}

function shardProblem(name: string): string | undefined {
  const parsed = parseShardId(name);
  return parsed.ok ? undefined : parsed.error.problem;
}

function clusterProblem(name: string): string | undefined {
  const parsed = parseClusterId(name);
  return parsed.ok ? undefined : parsed.error.problem;
}
