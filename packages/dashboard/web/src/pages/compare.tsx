// Compare: the same figures at two moments, and what lies between them. The later one is the page's own
// moment (now, or the time slider's); the other stands beside it in the URL. Two versions of the engine are
// compared over records, on the command line.

import type { ReactNode } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import {
  formatCents,
  formatCount,
  formatDifference,
  formatDuration,
  formatMoment,
} from '../lib/format.ts';
import { To, useSearch, useSetAt, useSetSearch } from '../nav/link.tsx';
import { Answered, Card, EmptyState, Mark, Money, Page, Stat } from '../parts/index.ts';
import { useTick, useView, type View } from '../store/hooks.ts';
import { NamedFilters } from './machines-filters.tsx';
import './compare.css';
import {
  type ComparedShare,
  compareShares,
  compareUnmet,
  largestChanges,
} from './compare-moments.ts';
import { NeedTable } from './needs-table.tsx';
import { CommandLine } from './what-if-command.tsx';

const MOST = 12;
const UNMET_LIMIT = 5_000;

export default function ComparePage(): ReactNode {
  const search = useSearch('compare');
  const { at, cluster } = search;
  const set = useSetSearch('compare');
  const now = useView('now', { at });
  return (
    <Page page="compare" frame={now.answer?.frame}>
      <NamedFilters
        frame={now.answer?.frame}
        filters={[
          { kind: 'text', name: 'cluster', label: 'Cluster', hint: 'for dollars and needs' },
        ]}
        values={search}
        onChange={set}
      />
      <Answered view={now}>
        {(answer) => (
          <>
            <Moments frame={answer.frame} />
            {search.with === 0 ? (
              <EmptyState title="Compare with when?">
                Choose a moment above: anything since {formatMoment(answer.frame.oldestMs)} is kept.
              </EmptyState>
            ) : (
              <Compared after={answer} at={at} then={search.with} cluster={cluster} />
            )}
          </>
        )}
      </Answered>
      <Versions />
    </Page>
  );
}

const BACK: readonly { readonly label: string; readonly ms: number }[] = [
  { label: '1 min', ms: 60_000 },
  { label: '5 min', ms: 300_000 },
  { label: '15 min', ms: 900_000 },
  { label: '1 h', ms: 3_600_000 },
  { label: '6 h', ms: 21_600_000 },
  { label: '24 h', ms: 86_400_000 },
];

function Moments({ frame }: { readonly frame: Answer<'now'>['frame'] }): ReactNode {
  const search = useSearch('compare');
  const set = useSetSearch('compare');
  const setAt = useSetAt();
  const tickMs = useTick();
  const shownMs = search.at === 0 ? tickMs : search.at;
  const keptMs = shownMs - frame.oldestMs;
  return (
    <Card>
      <div className="moments">
        <div className="moment">
          <span className="moment-word">Before</span>
          <span className="moment-time">
            {search.with === 0 ? 'not chosen' : formatMoment(search.with)}
          </span>
          <div className="row">
            {BACK.filter(({ ms }) => ms < keptMs).map(({ label, ms }) => (
              <button
                key={ms}
                type="button"
                onClick={() => set({ with: Math.round(shownMs - ms) })}
              >
                {label} earlier
              </button>
            ))}
            <button type="button" onClick={() => set({ with: Math.ceil(frame.oldestMs) })}>
              oldest
            </button>
            <MomentInput label="Moment before" ms={search.with} onMs={(ms) => set({ with: ms })} />
          </div>
        </div>
        <span className="moment-span">
          {search.with === 0 ? '' : `${formatDuration(Math.abs(shownMs - search.with))} →`}
        </span>
        <div className="moment">
          <span className="moment-word">After</span>
          <span className="moment-time">
            {search.at === 0 ? 'Now, live' : formatMoment(search.at)}
          </span>
          <div className="row">
            {search.at !== 0 && (
              <button type="button" onClick={() => setAt(0)}>
                now
              </button>
            )}
            {search.with !== 0 && search.at !== 0 && (
              <button type="button" onClick={() => set({ at: search.with, with: search.at })}>
                Swap
              </button>
            )}
            <MomentInput label="Moment after" ms={search.at} onMs={(ms) => setAt(ms)} />
          </div>
        </div>
      </div>
    </Card>
  );
}

/** The reader's own time zone, as everywhere. */
function MomentInput(props: {
  readonly label: string;
  readonly ms: number;
  readonly onMs: (ms: number) => void;
}): ReactNode {
  return (
    <input
      type="datetime-local"
      step={1}
      aria-label={props.label}
      value={props.ms === 0 ? '' : localText(props.ms)}
      onChange={(event) => {
        const ms = new Date(event.target.value).getTime();
        if (Number.isFinite(ms) && ms > 0) props.onMs(ms);
      }}
    />
  );
}

function localText(ms: number): string {
  const date = new Date(ms);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

function Compared(props: {
  readonly after: Answer<'now'>;
  readonly at: number;
  readonly then: number;
  readonly cluster: string;
}): ReactNode {
  const { after, at, then, cluster } = props;
  const before = useView('now', { at: then });
  const costs = [useView('cost', { at: then, cluster }), useView('cost', { at, cluster })] as const;
  const unmet = '1';
  const limit = UNMET_LIMIT;
  const needs = [
    useView('needs', { at: then, cluster, unmet, limit }),
    useView('needs', { at, cluster, unmet, limit }),
  ] as const;
  return (
    <>
      <Answered view={before}>{(answer) => <Figures before={answer} after={after} />}</Answered>
      {/* A moment that cannot be shown is refused once, not once for each part of the page. */}
      {before.problem === null ? (
        <>
          <Both views={costs}>{(a, b) => <Costs before={a} after={b} />}</Both>
          <Both views={needs}>{(a, b) => <Needs before={a} after={b} />}</Both>
        </>
      ) : null}
    </>
  );
}

function Both<V extends 'cost' | 'needs'>(props: {
  readonly views: readonly [View<V>, View<V>];
  readonly children: (before: Answer<V>, after: Answer<V>) => ReactNode;
}): ReactNode {
  const [before, after] = props.views;
  return (
    <Answered view={before}>
      {(a) => <Answered view={after}>{(b) => props.children(a, b)}</Answered>}
    </Answered>
  );
}

function Figures(props: {
  readonly before: Answer<'now'>;
  readonly after: Answer<'now'>;
}): ReactNode {
  const { before, after } = props;
  const machines = (answer: Answer<'now'>): number =>
    answer.supply.reduce((sum, { count }) => sum + count, 0);
  const unmetRows = (answer: Answer<'now'>): number =>
    answer.unmet.reduce((sum, { rows }) => sum + rows, 0);
  const lines = [
    { label: 'Machines', a: machines(before), b: machines(after) },
    { label: 'Needs', a: before.demand.rows, b: after.demand.rows },
    { label: 'Needs in shortfall', a: unmetRows(before), b: unmetRows(after) },
    {
      label: 'Clusters connected',
      a: before.demand.connectedClusters,
      b: after.demand.connectedClusters,
    },
  ];
  return (
    <>
      <Card>
        <div className="stats">
          <Stat
            label="Dollars per hour"
            value={<Money dollars={after.dollarsPerHour} per="h" />}
            note={
              <>
                was <Money dollars={before.dollarsPerHour} per="h" />,{' '}
                <Money dollars={after.dollarsPerHour - before.dollarsPerHour} per="h" sign />
              </>
            }
          />
          {lines.map(({ label, a, b }) => (
            <Stat
              key={label}
              label={label}
              value={b}
              note={`was ${formatCount(a)}${signed(b - a)}`}
            />
          ))}
        </div>
      </Card>
      <div className="grid cols-2 compared-grid">
        <SharesCard
          title="By state"
          compared={compareShares(before.supply, after.supply)}
          isMarked
        />
        <SharesCard
          title="By capacity type"
          compared={compareShares(before.capacity, after.capacity)}
          isMarked
        />
      </div>
    </>
  );
}

function signed(difference: number): string {
  return difference === 0 ? ', the same' : `, ${formatDifference(difference, formatCount)}`;
}

function Costs(props: {
  readonly before: Answer<'cost'>;
  readonly after: Answer<'cost'>;
}): ReactNode {
  const { before, after } = props;
  const lists = [
    ['Clusters that changed most', compareShares(before.byCluster, after.byCluster)],
    ['Providers that changed most', compareShares(before.byProvider, after.byProvider)],
  ] as const;
  return (
    <div className="grid cols-2 compared-grid">
      {lists.map(([title, compared]) => {
        const changes = largestChanges(compared, MOST);
        const all = largestChanges(compared, compared.length).length;
        return (
          <SharesCard
            key={title}
            title={title}
            note={
              all > changes.length
                ? `${formatCount(changes.length)} of ${formatCount(all)}`
                : undefined
            }
            compared={changes}
            empty="Nothing changed between the two moments."
          />
        );
      })}
    </div>
  );
}

function SharesCard(props: {
  readonly title: string;
  readonly compared: readonly ComparedShare[];
  readonly note?: string | undefined;
  readonly empty?: string;
  /** The names are states or capacity types. */
  readonly isMarked?: boolean;
}): ReactNode {
  const { title, compared, note, empty, isMarked = false } = props;
  return (
    <Card title={title} note={note} isFlush>
      {compared.length === 0 ? (
        <EmptyState title="No difference">{empty}</EmptyState>
      ) : (
        <table className="compared">
          <thead>
            <tr>
              <th scope="col">
                <span className="visually-hidden">Name</span>
              </th>
              <th scope="col">before</th>
              <th scope="col">after</th>
              <th scope="col">machines</th>
              <th scope="col">$/h</th>
            </tr>
          </thead>
          <tbody>
            {compared.map((each) => (
              <tr key={each.name}>
                <th scope="row" title={each.name}>
                  <ShareName name={each.name} isMarked={isMarked} />
                </th>
                <td className="soft">{formatCount(each.before.count)}</td>
                <td>{formatCount(each.after.count)}</td>
                <td>
                  {each.countDifference === 0 ? (
                    <span className="faint">same</span>
                  ) : (
                    formatDifference(each.countDifference, formatCount)
                  )}
                </td>
                <td
                  className={toneOf(each.dollarsDifference)}
                  title={`${formatCents(each.before.dollarsPerHour)} → ${formatCents(each.after.dollarsPerHour)} per hour`}
                >
                  {Math.abs(each.dollarsDifference) < 0.005 ? (
                    <span className="faint">same</span>
                  ) : (
                    <Money dollars={each.dollarsDifference} sign />
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}

function toneOf(dollars: number): string | undefined {
  return Math.abs(dollars) < 0.005 ? undefined : dollars > 0 ? 'rise' : 'fall';
}

function ShareName(props: { readonly name: string; readonly isMarked: boolean }): ReactNode {
  if (props.name === '') return <span className="faint">none</span>;
  return props.isMarked ? <Mark name={props.name} /> : props.name;
}

function Needs(props: {
  readonly before: Answer<'needs'>;
  readonly after: Answer<'needs'>;
}): ReactNode {
  const { before, after } = props;
  const compared = compareUnmet(before.needs, after.needs);
  const isCut = before.total > before.needs.length || after.total > after.needs.length;
  const lists = [
    ['Became unmet', compared.nowUnmet],
    ['Met since, or no longer asked for', compared.nowMet],
    ['Unmet at both moments', compared.stillUnmet],
  ] as const;
  return (
    <>
      {isCut && (
        <p className="faint">
          More than {formatCount(UNMET_LIMIT)} needs are unmet: only those are compared. Filter by
          cluster to see all of one.
        </p>
      )}
      <Card title="Unmet needs" note="Those that draining machines will cover are among them.">
        <div className="stats">
          {lists.map(([title, needs]) => (
            <Stat key={title} label={title} value={needs.length} />
          ))}
        </div>
      </Card>
      {lists
        .filter(([, needs]) => needs.length > 0)
        .map(([title, needs]) => (
          <Card key={title} title={title} isFlush>
            <NeedTable needs={needs} total={needs.length} label={title} maxHeight="320px" />
          </Card>
        ))}
    </>
  );
}

const DIFF =
  'bigfleet diff --records-dir=<directory> --against=<main file or checkout of the other build>';

function Versions(): ReactNode {
  return (
    <Card
      title="Two versions of the engine"
      note={
        <>
          Compared over the same recorded inputs, on the command line: every cycle is decided by
          both builds, and what differs is listed. What would happen under other facts is asked on{' '}
          <To page="whatif" className="compare-link">
            What-if
          </To>
          .
        </>
      }
    >
      <CommandLine text={DIFF} />
    </Card>
  );
}
