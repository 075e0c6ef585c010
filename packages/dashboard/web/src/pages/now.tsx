// Now: is the fleet fine, what is it doing, what does it cost?

import { type ReactNode, useMemo } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import { mergeDecisions } from '../lib/decisions.ts';
import { formatCents, formatCount, formatDollars, plural } from '../lib/format.ts';
import { To, useSearch } from '../nav/link.tsx';
import {
  Answered,
  Bar,
  Card,
  EmptyState,
  Legend,
  Mark,
  Money,
  Page,
  Sparkline,
  Stat,
  Tag,
  When,
} from '../parts/index.ts';
import { useDecisions, useView } from '../store/hooks.ts';
import { DecisionLine } from './decision-line.tsx';
import './now.css';

const TICKER_LINES = 20;
type Now = Answer<'now'>;

export default function NowPage(): ReactNode {
  const { at } = useSearch('now');
  const view = useView('now', { at });
  return (
    <Page page="now" frame={view.answer?.frame}>
      <Answered view={view}>
        {(answer) => (
          <>
            <div className="now-head">
              <Spending answer={answer} />
              <Verdict answer={answer} />
            </div>
            <Supply answer={answer} />
            <div className="now-foot">
              <Unmet answer={answer} />
              <Ticker answer={answer} isLive={at === 0} />
            </div>
          </>
        )}
      </Answered>
    </Page>
  );
}

function Spending({ answer }: { readonly answer: Now }): ReactNode {
  const { spending } = answer;
  const seen = spending.dollarsPerHour.filter((value) => value !== null);
  const low = formatDollars(Math.min(...seen));
  const high = formatDollars(Math.max(...seen));
  return (
    <Card className="now-spending">
      <Stat
        label="Spending"
        size="large"
        value={
          <span title={formatCents(answer.dollarsPerHour)}>
            {formatCents(answer.dollarsPerHour)}
            <span className="unit">/h</span>
          </span>
        }
        note={
          // A span that reads the same at both ends says nothing.
          seen.length < 2 || low === high ? undefined : `last 24 h: ${low} to ${high}`
        }
      />
      {seen.length < 2 ? (
        <p className="faint now-young">
          The picture of the last 24 hours grows by a value a minute.
        </p>
      ) : (
        <div className="now-sparkline">
          <Sparkline
            values={spending.dollarsPerHour}
            label="Dollars per hour over the last 24 hours"
            width={720}
            height={64}
            fromZero
          />
        </div>
      )}
    </Card>
  );
}

function Verdict({ answer }: { readonly answer: Now }): ReactNode {
  const rowsOf = (tier: string): number => answer.unmet.find((row) => row.tier === tier)?.rows ?? 0;
  const serious = rowsOf('critical') + rowsOf('service');
  const batch = rowsOf('batch');
  const { demand } = answer;
  const machines = answer.capacity.reduce((all, share) => all + share.count, 0);
  const speculative = answer.supply.find((share) => share.name === 'Speculative')?.count ?? 0;
  return (
    <Card className="now-verdict">
      {serious > 0 ? (
        <p className="now-word now-word-bad">
          {plural(serious, 'need')} above batch {serious === 1 ? 'is' : 'are'} short
        </p>
      ) : batch > 0 ? (
        <p className="now-word now-word-calm">Only batch waits: working as designed</p>
      ) : (
        <p className="now-word now-word-good">All demand is met</p>
      )}
      {serious + batch > 0 || answer.isPaused ? (
        <div className="row">
          {serious + batch > 0 ? (
            <To page="triage" className="button">
              Open triage
            </To>
          ) : null}
          {answer.isPaused ? (
            <Tag tone="warn">a shard’s actuation is paused or on dry run</Tag>
          ) : null}
        </div>
      ) : null}
      <div className="stats now-stats">
        <Stat
          label="Needs met"
          value={`${formatCount(demand.satisfied)} of ${formatCount(demand.rows)}`}
        />
        <Stat
          label="Clusters connected"
          value={`${formatCount(demand.connectedClusters)} of ${formatCount(demand.clusters)}`}
          tone={demand.connectedClusters < demand.clusters ? 'warn' : 'neutral'}
        />
        <Stat
          label="Machines"
          value={machines}
          dollarsPerHour={answer.dollarsPerHour}
          note={speculative === 0 ? undefined : `+ ${formatCount(speculative)} speculative`}
        />
      </div>
    </Card>
  );
}

function Supply({ answer }: { readonly answer: Now }): ReactNode {
  const parts = (shares: Now['supply']) =>
    shares.map((share) => ({ name: share.name, value: share.count }));
  const items = (shares: Now['supply']) =>
    shares.map(({ name, count, dollarsPerHour }) => ({ name, count, dollarsPerHour }));
  return (
    <div className="now-supply">
      <Card title="Supply by state" aside={<To page="map">Fleet map</To>}>
        <div className="stack-tight">
          <Bar label="Machines by state" parts={parts(answer.supply)} height={20} />
          <Legend items={items(answer.supply)} label="States" />
        </div>
      </Card>
      <Card title="Supply by capacity type" aside={<To page="cost">Cost and risk</To>}>
        <div className="stack-tight">
          <Bar label="Machines by capacity type" parts={parts(answer.capacity)} height={20} />
          <Legend items={items(answer.capacity)} label="Capacity types" />
        </div>
      </Card>
    </div>
  );
}

function Unmet({ answer }: { readonly answer: Now }): ReactNode {
  const isAllMet = answer.unmet.every((row) => row.rows === 0);
  return (
    <Card title="Unmet demand by priority" aside={<To page="triage">Triage</To>}>
      {isAllMet ? (
        <EmptyState title="Nobody waits">Every need has its machines.</EmptyState>
      ) : (
        <ul className="unmet">
          {answer.unmet.map((row) => (
            <li
              key={row.tier}
              className={row.tier === 'batch' ? 'unmet-row unmet-batch' : 'unmet-row'}
            >
              <div className="row">
                <Mark name={row.tier} />
                <span className="grow" />
                {row.rows === 0 ? (
                  <span className="faint">none</span>
                ) : (
                  <strong className="num">{plural(row.rows, 'need')}</strong>
                )}
                {row.oldestMs === null ? null : (
                  <span className="faint">
                    oldest <When atMs={row.oldestMs} />
                  </span>
                )}
              </div>
              {row.reasons.length === 0 ? null : (
                <ul className="unmet-reasons">
                  {row.reasons.slice(0, 4).map((reason) => (
                    <li key={reason.reason} className="row soft">
                      <span className="grow" title={reason.reason}>
                        {reason.reasonText}
                      </span>
                      <span className="num">{formatCount(reason.rows)}</span>
                    </li>
                  ))}
                </ul>
              )}
              {row.tier === 'batch' && row.rows > 0 ? (
                <p className="faint">Batch yields to services: working as designed.</p>
              ) : null}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Ticker({ answer, isLive }: { readonly answer: Now; readonly isLive: boolean }): ReactNode {
  const live = useDecisions();
  const lines = useMemo(
    () => mergeDecisions(isLive ? live : [], answer.decisions, TICKER_LINES),
    [live, isLive, answer.decisions],
  );
  const acted = answer.actions.filter((action) => action.count > 0);
  return (
    <Card
      title="Decisions"
      note={
        <span className="row">
          last five minutes:
          {acted.length === 0 ? ' none' : null}
          {acted.map((action) => (
            <span key={action.kind} className="row now-acted">
              <Mark name={action.kind} />
              <span className="num">{formatCount(action.count)}</span>
              <Money dollars={action.dollarsPerHour} per="h" />
            </span>
          ))}
        </span>
      }
      aside={<To page="decisions">All decisions</To>}
      isFlush
    >
      {lines.length === 0 ? (
        <EmptyState title="No decisions yet">
          The engine writes one down as soon as it acts.
        </EmptyState>
      ) : (
        <ol className="decision-lines" aria-label="Newest decisions">
          {lines.map((decision) => (
            <DecisionLine key={decision.id} decision={decision} />
          ))}
        </ol>
      )}
    </Card>
  );
}
