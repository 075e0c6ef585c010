// docs/internals/observability.md from the series that processes define. What is the same in several
// processes is written once; the names of a provider's series carry `<p>`, its name.

import type { LabelDeclarations } from '@bigfleet/telemetry';
import type { ProcessSeries } from './processes.ts';
import type { DefinedMetric } from './recording-registry.ts';

export const PAGE = 'docs/internals/observability.md';
export const COMMAND = 'node test/docs/observability/main.ts';

const PROVIDER_PREFIX = /^bigfleet_p_/;
const HEADINGS: Readonly<Record<string, string>> = {
  shard: 'Shard (`bigfleet shard`, port 8780)',
  coordinator: 'Coordinator (`bigfleet coordinator`, port 8790)',
  operator: 'Operator (`bigfleet-operator`, port 8770)',
  'pod-controller': 'Pod controller (`bigfleet-unschedulable-pod-controller`, port 8080)',
  dashboard: 'Dashboard (`bigfleet dashboard`, port 8760)',
  provider: 'Provider (every provider built on the kit, port 9090)',
};
const NOTES: Readonly<Record<string, string>> = {
  coordinator: 'Series with the label `shard` exist on the leader only and go with its leadership.',
  operator: 'One operator serves one cluster, so none has a cluster label.',
  provider:
    '`<p>` is the name of the provider. Prices and calls of an API only where it refreshes or makes any.',
};

const INTRODUCTION = `# Observability

<!-- Generated: ${COMMAND} -->

*Which series are there, who exports them, and what do they mean?* The page is written from the
registries of the processes themselves, started for the purpose; \`test/docs/observability/page.test.ts\`
fails when it is not current. The order of authority stands in [the index](../index.md).

Rules that every series keeps, enforced where series are defined (\`packages/telemetry/src/metrics\`):

- A label is closed (its values are listed below, and all of them are shown from the start, at zero)
  or open with a stated bound. A value beyond the bound is dropped and counted in
  \`bigfleet_telemetry_label_overflow_total\`.
- No machine id, instance type or profile is a label. Which process a number comes from is said by
  the labels of Prometheus itself.
- Durations are seconds, sizes bytes, instants Unix seconds. A counter ends in \`_total\`.
- Values that are read rather than counted are read when somebody scrapes.

Every process serves \`/metrics\`, \`/healthz\` and \`/readyz\` on its HTTP port, without TLS: keep it inside
the network of the fleet. \`/readyz\` says in one line what it waits for. What to do when a number is
wrong: [the runbook](../operator-guide.md#runbook).`;

const DIVERGENCES = `## Divergences

Queries of the founding documents that the specification lists run verbatim against a real Prometheus
(\`test/promql/shard-queries.test.ts\`). Alerts (\`deploy/prometheus\`)
and dashboards (\`deploy/grafana\`) ask for series, labels and values of this page only
(\`test/monitoring/dashboards.test.ts\`), and each of their queries answers on a running fleet
(\`test/monitoring/running-fleet.test.ts\`).`;

export function observabilityPage(processes: readonly ProcessSeries[]): string {
  const common = commonNames(processes);
  const shared = processes[0]?.series.filter(({ name }) => common.has(name)) ?? [];
  return `${[
    INTRODUCTION,
    '## Every process',
    '`thread` is `main` and the names of worker threads, in the shard `engine` and `reconcile`.',
    tableOf(shared.map(withoutThreads)),
    ...processes.flatMap(({ process, series }) => sectionOf(process, series, common)),
    DIVERGENCES,
  ].join('\n\n')}\n`;
}

function commonNames(processes: readonly ProcessSeries[]): ReadonlySet<string> {
  const [first, ...others] = processes.map(({ series }) => new Set(series.map(({ name }) => name)));
  return new Set([...(first ?? [])].filter((name) => others.every((names) => names.has(name))));
}

function sectionOf(
  process: string,
  series: readonly DefinedMetric[],
  common: ReadonlySet<string>,
): string[] {
  const note = NOTES[process];
  const own = series.filter(({ name }) => !common.has(name));
  return [
    `## ${HEADINGS[process] ?? process}`,
    ...(note === undefined ? [] : [note]),
    tableOf(own),
  ];
}

function tableOf(series: readonly DefinedMetric[]): string {
  const rows = series
    .map((metric) => ({ ...metric, name: metric.name.replace(PROVIDER_PREFIX, 'bigfleet_<p>_') }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(
      ({ name, type, help, labels }) =>
        `| \`${name}\` | ${type} | ${labelsOf(labels)} | ${help.replaceAll('|', '\\|')} |`,
    );
  return ['| Series | Type | Labels | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}

/** Which threads there are differs between processes. */
function withoutThreads(metric: DefinedMetric): DefinedMetric {
  const labels = Object.entries(metric.labels);
  const named = labels.map(([name, values]) => [name, name === 'thread' ? [] : values] as const);
  return { ...metric, labels: Object.fromEntries(named) };
}

/** A label with one value says what a build or machine is; its value is not of the contract. */
function labelsOf(labels: LabelDeclarations): string {
  return Object.entries(labels)
    .map(([name, values]) =>
      'max' in values ? `\`${name}\` (at most ${values.max})` : closedLabel(name, values),
    )
    .join('; ');
}

function closedLabel(name: string, values: readonly string[]): string {
  return values.length < 2 ? `\`${name}\`` : `\`${name}\`: ${values.join(', ')}`;
}
