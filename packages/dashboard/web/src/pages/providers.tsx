// Providers: what each one declared, beside what was observed of it: how long steps take, how often machines
// are lost, what fails. The trust score says its reasons; nothing here changes a decision.

import { type ReactNode, useMemo } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import type { Percentiles } from '../../../src/api/common.ts';
import { formatCount, formatDuration, formatPercent, formatPrice, plural } from '../lib/format.ts';
import { To, useSearch, useSetSearch } from '../nav/link.tsx';
import {
  Answered,
  Bar,
  Card,
  type Column,
  countColumn,
  dollarsColumn,
  EmptyState,
  Legend,
  Mark,
  Money,
  Page,
  statesColumn,
  StatesTableCard,
  Tag,
  type Tone,
  When,
} from '../parts/index.ts';
import { useView } from '../store/hooks.ts';
import './providers.css';
import { calibrationPoints } from './providers-calibration.ts';
import { Conformance, ConformanceBadge, Unmatched } from './providers-conformance.tsx';
import { CalibrationCurve } from './providers-curve.tsx';
import { Brakes } from './triage-brakes.tsx';

type Providers = Answer<'providers'>;
type Provider = Providers['providers'][number];
type Price = Provider['prices'][number];

export default function ProvidersPage(): ReactNode {
  const search = useSearch('providers');
  const set = useSetSearch('providers');
  const view = useView('providers', { at: search.at });
  return (
    <Page page="providers" frame={view.answer?.frame}>
      <Answered view={view}>
        {({ providers, brakes, unmatchedReports }) => {
          const chosen = providers.filter(({ name }) => name === search.provider);
          const shown = chosen.length > 0 ? chosen : providers;
          return (
            <>
              <StatesTableCard
                title={plural(providers.length, 'provider')}
                note="A row shows that provider alone."
                label="Providers"
                noun="providers"
                rows={providers}
                columns={COLUMNS}
                rowKey={({ name }) => name}
                selectedKey={search.provider}
                onOpen={({ name }) => set({ provider: name === search.provider ? '' : name })}
                empty={
                  <EmptyState title="No provider is known">
                    A shard that is connected tells which providers it dials.
                  </EmptyState>
                }
              />
              <Unmatched names={unmatchedReports} />
              {shown.map((provider) => (
                <ProviderCard key={provider.name} provider={provider} />
              ))}
              <Brakes brakes={brakes} />
            </>
          );
        }}
      </Answered>
    </Page>
  );
}

function trustTone(score: number): Tone {
  return score >= 80 ? 'good' : score >= 50 ? 'warn' : 'bad';
}

function machineCount(provider: Provider): number {
  return provider.machines.reduce((sum, { count }) => sum + count, 0);
}

function failureShare({ failures, transitions }: Provider): number {
  return transitions === 0 ? 0 : failures / transitions;
}

const COLUMNS: readonly Column<Provider>[] = [
  {
    id: 'name',
    title: 'Provider',
    width: 'minmax(110px, 1.2fr)',
    cell: (provider) => <strong className="cut">{provider.name}</strong>,
    compare: (a, b) => (a.name < b.name ? -1 : 1),
  },
  {
    id: 'health',
    title: 'Health',
    width: '84px',
    cell: ({ isHealthy }) => (
      <Tag tone={isHealthy ? 'good' : 'bad'}>{isHealthy ? 'healthy' : 'failing'}</Tag>
    ),
    compare: (a, b) => Number(a.isHealthy) - Number(b.isHealthy),
  },
  {
    id: 'trust',
    title: 'Trust',
    width: '64px',
    align: 'right',
    hint: 'Of 100; the reasons stand below',
    cell: ({ trust }) => <Tag tone={trustTone(trust.score)}>{Math.round(trust.score)}</Tag>,
    compare: (a, b) => a.trust.score - b.trust.score,
  },
  {
    id: 'conformance',
    title: 'Conformance',
    hint: 'The verdict of the report that --conformance names',
    width: '112px',
    cell: ({ conformance }) => <ConformanceBadge conformance={conformance} />,
    compare: (a, b) => ((a.conformance?.verdict ?? '') < (b.conformance?.verdict ?? '') ? -1 : 1),
  },
  countColumn({ id: 'machines', title: 'Machines' }, machineCount),
  dollarsColumn(({ dollarsPerHour }) => dollarsPerHour),
  statesColumn(({ machines }) => machines.map(({ count }) => count), 'minmax(90px, 1fr)'),
  {
    id: 'join',
    title: 'Join p50 · p99',
    hint: 'From Configuring to Configured, as observed',
    width: '150px',
    align: 'right',
    cell: ({ join }) => (
      <span className="num">
        {join.count === 0 ? '–' : `${formatDuration(join.p50Ms)} · ${formatDuration(join.p99Ms)}`}
      </span>
    ),
    compare: (a, b) => a.join.p99Ms - b.join.p99Ms,
  },
  {
    id: 'failures',
    title: 'Failed steps',
    width: '110px',
    align: 'right',
    cell: (provider) => (
      <span className={provider.failures === 0 ? 'num faint' : 'num'}>
        {formatCount(provider.failures)}{' '}
        <span className="faint">{formatPercent(failureShare(provider))}</span>
      </span>
    ),
    compare: (a, b) => failureShare(a) - failureShare(b),
  },
  {
    id: 'interruptions',
    title: 'Lost · expected',
    hint: 'Interruptions that were observed, and that the declared probabilities foresaw',
    width: '120px',
    align: 'right',
    cell: ({ calibration }) => (
      <span className="num">
        {formatCount(calibration.reduce((sum, row) => sum + row.observed, 0))} ·{' '}
        {calibration.reduce((sum, row) => sum + row.expected, 0).toFixed(1)}
      </span>
    ),
  },
  {
    id: 'list',
    title: 'Listed',
    width: '92px',
    align: 'right',
    cell: ({ lastListMs }) => <When atMs={lastListMs} />,
    compare: (a, b) => (a.lastListMs ?? 0) - (b.lastListMs ?? 0),
  },
];

function ProviderCard({ provider }: { readonly provider: Provider }): ReactNode {
  return (
    <Card
      title={
        <span className="provider-head">
          <strong>{provider.name}</strong>
          <Tag tone={provider.isHealthy ? 'good' : 'bad'}>
            {provider.isHealthy ? 'healthy' : 'failing'}
          </Tag>
          {provider.isShared && <Tag title="Several shards dial it">shared</Tag>}
          <span className="soft">
            {plural(machineCount(provider), 'machine')},{' '}
            <Money dollars={provider.dollarsPerHour} per="h" />
          </span>
        </span>
      }
      note={
        <>
          <span className="mono">{provider.address}</span> · known from {provider.source} · dialled
          by{' '}
          {provider.shards.length > 3
            ? plural(provider.shards.length, 'shard')
            : provider.shards.join(', ')}
        </>
      }
      aside={
        <To page="lifecycle" search={{ provider: provider.name }} className="button">
          Its lifecycle
        </To>
      }
    >
      <div className="provider-grid">
        <Trust provider={provider} />
        <section>
          <h3>Observed times</h3>
          <Spans provider={provider} />
        </section>
        <section>
          <h3>Interruptions: declared against observed</h3>
          <CalibrationCurve rows={provider.calibration} />
          <Broken provider={provider} />
        </section>
        <section>
          <h3>Price sample</h3>
          <Prices prices={provider.prices} />
        </section>
      </div>
    </Card>
  );
}

function Trust({ provider }: { readonly provider: Provider }): ReactNode {
  const { score, why } = provider.trust;
  return (
    <section>
      <h3>Trust</h3>
      <div className="trust">
        <span className="trust-score">{Math.round(score)}</span>
        <div className="trust-meter" role="img" aria-label={`${Math.round(score)} of 100`}>
          <span style={{ width: `${score}%`, background: `var(--${trustTone(score)})` }} />
        </div>
      </div>
      <ul className="trust-why">
        {why.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
      <div className="provider-states">
        <Bar
          label="Machines by state"
          parts={provider.machines.map(({ name, count }) => ({ name, value: count }))}
        />
        <Legend
          items={provider.machines
            .filter(({ count }) => count > 0)
            .map(({ name, count }) => ({ name, count }))}
        />
      </div>
      <Conformance provider={provider.name} conformance={provider.conformance} />
    </section>
  );
}

function Spans({ provider }: { readonly provider: Provider }): ReactNode {
  const rows: readonly (readonly [string, Percentiles])[] = [
    ['Create', provider.create],
    ['Join', provider.join],
    ['Drain', provider.drain],
  ];
  return (
    <>
      <table className="spans">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">times</th>
            <th scope="col">p50</th>
            <th scope="col">p90</th>
            <th scope="col">p99</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, { count, p50Ms, p90Ms, p99Ms }]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{formatCount(count)}</td>
              {[p50Ms, p90Ms, p99Ms].map((ms, index) => (
                // biome-ignore lint: three columns in a fixed order.
                <td key={index}>{count === 0 ? '–' : formatDuration(ms)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p className="soft">
        {plural(provider.failures, 'failure')} in {plural(provider.transitions, 'step')} (
        {formatPercent(failureShare(provider))})
      </p>
    </>
  );
}

function Broken({ provider }: { readonly provider: Provider }): ReactNode {
  const broken = calibrationPoints(provider.calibration).filter((point) => point.isBroken);
  if (broken.length === 0) return null;
  return (
    <p className="soft">
      <Tag tone="bad">does not hold</Tag>{' '}
      {plural(broken.length, 'declared probability', 'declared probabilities')} that chance does not
      explain.
    </p>
  );
}

const SAMPLE = 8;

function Prices({ prices }: { readonly prices: readonly Price[] }): ReactNode {
  const dearest = useMemo(
    () => prices.toSorted((a, b) => b.machines * b.dollarsPerHour - a.machines * a.dollarsPerHour),
    [prices],
  );
  if (prices.length === 0) return <p className="faint">No machine with a price.</p>;
  return (
    <>
      <table className="spans">
        <thead>
          <tr>
            <th scope="col">Type</th>
            <th scope="col">machines</th>
            <th scope="col">$/h each</th>
          </tr>
        </thead>
        <tbody>
          {dearest.slice(0, SAMPLE).map((price) => (
            <tr
              key={[price.instanceType, price.zone, price.capacityType, price.dollarsPerHour].join(
                '\n',
              )}
            >
              <th scope="row">
                <Mark name={price.capacityType} isQuiet /> {price.instanceType}{' '}
                <span className="faint">{price.zone}</span>
              </th>
              <td>{formatCount(price.machines)}</td>
              <td>{formatPrice(price.dollarsPerHour)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {prices.length > SAMPLE && (
        <p className="faint">
          the {SAMPLE} that cost most, of {formatCount(prices.length)}
        </p>
      )}
    </>
  );
}
