// Cost and risk: what bound machines cost, what their interruptions are expected to cost on top, and where
// the two do not fit the work: pinned work on capacity that can be lost, cheap work on capacity that cannot.

import { type ReactNode, useCallback, useMemo } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import { Matrix } from '../charts/matrix.tsx';
import { Scatter, type ScatterDot } from '../charts/scatter.tsx';
import {
  formatCount,
  formatDollars,
  formatPenalty,
  formatPrice,
  formatProbability,
  plural,
} from '../lib/format.ts';
import { To, useGo, useSearch, useSetSearch } from '../nav/link.tsx';
import {
  Answered,
  CAPACITY_TYPES,
  Card,
  EmptyState,
  Legend,
  Mark,
  Money,
  NothingHere,
  Page,
  Ranked,
  type RankRow,
  Stat,
  Tag,
} from '../parts/index.ts';
import { useView } from '../store/hooks.ts';
import type { PageSearch } from '../url/pages.ts';
import './cost.css';
import { type CostDot, costDots } from './cost-dots.ts';
import { CostGroups, FLAG_WORDS } from './cost-groups.tsx';
import { MachineFilters } from './machines-filters.tsx';
import { MachineTable } from './machines-table.tsx';

type Cost = Answer<'cost'>;
type Group = Cost['groups'][number];
type Share = Cost['byCluster'][number];

export default function CostPage(): ReactNode {
  const search = useSearch('cost');
  const { table: _, ...params } = search;
  const view = useView('cost', params);
  return (
    <Page page="cost" frame={view.answer?.frame}>
      <MachineFilters
        page="cost"
        frame={view.answer?.frame}
        hides={['state']}
        hasTeams={(view.answer?.byTeam.length ?? 0) > 0}
      />
      <Answered view={view}>{(answer) => <CostAnswer answer={answer} search={search} />}</Answered>
    </Page>
  );
}

function CostAnswer(props: {
  readonly answer: Cost;
  readonly search: PageSearch<'cost'>;
}): ReactNode {
  const { answer, search } = props;
  const pinned = answer.pinnedOnSpot;
  const effective = answer.dollarsPerHour + answer.lossPerHour;
  const cheap = useMemo(() => flagged(answer.groups, 'cheap-on-reserved'), [answer.groups]);
  return (
    <>
      <Card>
        <div className="cost-stats">
          <Stat
            label="Paid for"
            value={<Money dollars={answer.dollarsPerHour} per="h" />}
            note={`${plural(answer.total, 'machine')} match`}
          />
          <Stat
            label="Expected loss by interruption"
            value={<Money dollars={answer.lossPerHour} per="h" />}
            note={`${formatDollars(effective)}/h effective`}
          />
          <Stat
            label="Idle: paid for, serving nobody"
            value={answer.idle.count}
            dollarsPerHour={answer.idle.dollarsPerHour}
          />
          <Stat
            label="Pinned work on spot"
            value={pinned.count}
            dollarsPerHour={pinned.dollarsPerHour}
            tone={pinned.count > 0 ? 'bad' : 'good'}
            note={pinned.count > 0 ? 'must not happen' : 'as it should be'}
          />
          <Stat
            label={
              answer.totalGroups === answer.groups.length
                ? 'Cheap work on reserved'
                : 'Cheap on reserved, of the largest groups'
            }
            value={cheap.count}
            dollarsPerHour={cheap.dollarsPerHour}
            tone={cheap.count > 0 ? 'warn' : 'good'}
            note={cheap.count > 0 ? 'would bear an interruption' : 'none'}
          />
        </div>
      </Card>
      {pinned.count > 0 && <PinnedOnSpot pinned={pinned} />}
      <ScatterCard answer={answer} search={search} />
      <Card
        title="Penalty bucket by capacity type"
        note="What an interruption would cost the work, against how its machine is paid for. Bound machines."
      >
        <PenaltyMatrix answer={answer} />
      </Card>
      <div className="grid cols-2 cost-ranks">
        <div className="stack">
          <Teams shares={answer.byTeam} />
          <RankCard title="By cluster" shares={answer.byCluster} name="cluster" />
        </div>
        <div className="stack">
          <RankCard title="By priority" shares={answer.byPriority} isMarked />
          <RankCard
            title="By capacity type"
            shares={answer.byCapacityType}
            name="capacity"
            isMarked
          />
          <RankCard title="By provider" shares={answer.byProvider} name="provider" />
        </div>
      </div>
    </>
  );
}

function flagged(groups: readonly Group[], flag: Group['flags'][number]): Omit<Share, 'name'> {
  let count = 0;
  let dollarsPerHour = 0;
  for (const group of groups) {
    if (!group.flags.includes(flag)) continue;
    count += group.count;
    dollarsPerHour += group.dollarsPerHour;
  }
  return { count, dollarsPerHour };
}

function PinnedOnSpot({ pinned }: { readonly pinned: Cost['pinnedOnSpot'] }): ReactNode {
  return (
    <Card
      title={
        <>
          <Tag tone="bad">Red flag</Tag> Machines that can be interrupted serve work that must not
          be: {formatCount(pinned.count)}
        </>
      }
      note="The engine never places pinned work there: an interruption probability was published late or wrongly. Look at the provider’s calibration, then at the machine’s record."
      isFlush
    >
      <MachineTable
        machines={pinned.machines}
        total={pinned.count}
        label="Machines with pinned work on spot"
        hides={['state', 'age']}
        maxHeight="260px"
      />
    </Card>
  );
}

function ScatterCard(props: {
  readonly answer: Cost;
  readonly search: PageSearch<'cost'>;
}): ReactNode {
  const { answer, search } = props;
  const go = useGo();
  const set = useSetSearch('cost');
  const { groups, totalGroups } = answer;
  const dots = useMemo(() => costDots(groups), [groups]);
  const drawn = useMemo(() => dots.map(drawnDot), [dots]);
  const open = useCallback(
    (index: number) => {
      const dot = dots[index];
      if (dot === undefined) return;
      const { instanceType, capacityType, zones, providers } = dot;
      go('machines', {
        q: instanceType,
        capacity: capacityType,
        zone: zones.length === 1 ? (zones[0] ?? '') : '',
        provider: providers.length === 1 ? (providers[0] ?? '') : '',
        cluster: search.cluster,
        team: search.team,
        sort: 'cost',
      });
    },
    [go, dots, search.cluster, search.team],
  );
  const shown =
    totalGroups === groups.length
      ? plural(groups.length, 'group')
      : `The ${formatCount(groups.length)} largest of ${formatCount(totalGroups)} groups`;
  return (
    <Card
      title="Price against expected loss"
      note={`${shown} of bound machines; a mark’s size is its count. Dashed lines join equal effective cost: price plus expected loss.`}
      aside={
        <button
          type="button"
          aria-pressed={search.table}
          onClick={() => set({ table: !search.table })}
        >
          As a table
        </button>
      }
      isFlush={search.table}
    >
      {groups.length === 0 ? (
        <NothingHere what="bound machines" />
      ) : search.table ? (
        <CostGroups groups={groups} total={totalGroups} />
      ) : (
        <>
          <Scatter
            dots={drawn}
            label={`${plural(dots.length, 'mark')} of machines by price and expected loss`}
            describe={(index) => {
              const dot = dots[index];
              return dot === undefined ? null : <DotFacts dot={dot} />;
            }}
            onOpen={open}
          />
          <div className="scatter-legend">
            <Legend
              label="Capacity types"
              items={Object.keys(CAPACITY_TYPES).map((name) => ({ name }))}
            />
            <span className="scatter-hint">
              <span className="scatter-ring" aria-hidden="true" />
              flagged: pinned on spot, or cheap on reserved
              {answer.pinnedOnSpot.count > 0 && '; no limit: pinned work that can be interrupted'}
            </span>
          </div>
        </>
      )}
    </Card>
  );
}

function drawnDot(dot: CostDot): ScatterDot {
  const { key, price, loss, count, capacityType, instanceType, flags } = dot;
  const cost =
    loss === null ? 'loss without limit' : `${formatPrice(price + loss)} per hour effective`;
  const flagText = flags.map((flag) => `, flagged: ${FLAG_WORDS[flag]}`).join('');
  return {
    key,
    price,
    loss,
    count,
    capacityType,
    isFlagged: flags.length > 0,
    label: `${instanceType} ${CAPACITY_TYPES[capacityType].label}: ${plural(count, 'machine')}, ${formatPrice(price)} per hour, ${cost}${flagText}`,
  };
}

function DotFacts({ dot }: { readonly dot: CostDot }): ReactNode {
  const { price, loss, penalties } = dot;
  const [penalty = ''] = penalties;
  return (
    <>
      <strong>{dot.instanceType}</strong> <Mark name={dot.capacityType} />
      <div className="soft cut">
        {dot.providers.join(', ')} · {dot.zones.join(', ')}
      </div>
      <dl>
        <dt>Price</dt>
        <dd>{formatPrice(price)}/h</dd>
        <dt>
          {formatProbability(dot.interruptionProbability)} ×{' '}
          {penalties.length === 1 ? `penalty ${formatPenalty(penalty)}` : 'any penalty'}
        </dt>
        <dd>{loss === null ? '∞' : `${formatPrice(loss)}/h`}</dd>
        <dt className="scatter-sum">Effective, each</dt>
        <dd className="scatter-sum">{loss === null ? '∞' : `${formatPrice(price + loss)}/h`}</dd>
        <dt>{plural(dot.count, 'machine')}</dt>
        <dd>{formatDollars(dot.dollarsPerHour)}/h</dd>
      </dl>
      {dot.flags.map((flag) => (
        <Tag key={flag} tone={flag === 'pinned-on-spot' ? 'bad' : 'warn'}>
          {FLAG_WORDS[flag]}
        </Tag>
      ))}
    </>
  );
}

function PenaltyMatrix({ answer }: { readonly answer: Cost }): ReactNode {
  const { matrix, groups } = answer;
  const flags = useMemo(() => {
    const words = new Map<string, string>();
    for (const group of groups) {
      for (const flag of group.flags) {
        words.set(`${group.interruptionPenalty} ${group.capacityType}`, FLAG_WORDS[flag]);
      }
    }
    return words;
  }, [groups]);
  const rows = matrix.buckets
    .map((bucket, index) => ({ bucket, index }))
    .filter(({ index }) => matrix.machines[index]?.some((count) => count > 0));
  if (rows.length === 0) return <NothingHere what="bound machines" />;
  return (
    <Matrix
      caption="Machines and dollars per hour by penalty bucket and capacity type"
      corner="Penalty"
      rows={rows.map(({ bucket }) => ({ key: bucket, label: formatPenalty(bucket) }))}
      columns={matrix.capacityTypes.map((type) => ({ key: type, label: <Mark name={type} /> }))}
      cell={(row, column) => {
        const at = rows[row];
        const type = matrix.capacityTypes[column];
        return {
          count: matrix.machines[at?.index ?? 0]?.[column] ?? 0,
          dollarsPerHour: matrix.dollarsPerHour[at?.index ?? 0]?.[column] ?? 0,
          flag: flags.get(`${at?.bucket} ${type}`) ?? '',
        };
      }}
    />
  );
}

/** Whose cluster it is, no peer says: who starts the dashboard does. */
function Teams({ shares }: { readonly shares: readonly Share[] }): ReactNode {
  if (shares.length > 0) {
    return <RankCard title="By team" shares={shares} name="team" none="no team" />;
  }
  return (
    <Card title="By team">
      <EmptyState title="Nobody said whose clusters are whose">
        Start the dashboard with <code>--team &lt;team&gt;=&lt;pattern of clusters&gt;</code>, once
        for each.
      </EmptyState>
    </Card>
  );
}

function RankCard(props: {
  readonly title: string;
  readonly shares: readonly Share[];
  /** The names are states, tiers or capacity types: words with a mark of their own. */
  readonly isMarked?: boolean;
  /** The filter that a name sets. */
  readonly name?: 'cluster' | 'team' | 'capacity' | 'provider';
  /** What an empty name is. */
  readonly none?: string;
}): ReactNode {
  const { title, shares, name, isMarked = false, none = 'none' } = props;
  const rows = shares
    .toSorted((a, b) => b.dollarsPerHour - a.dollarsPerHour)
    .map((share): RankRow => {
      const text = share.name === '' ? <span className="soft">{none}</span> : share.name;
      const label = isMarked ? <Mark name={share.name} /> : text;
      return {
        name: share.name,
        count: share.count,
        dollarsPerHour: share.dollarsPerHour,
        label:
          name === undefined || share.name === '' ? (
            label
          ) : (
            <To page="cost" search={{ [name]: share.name }}>
              {label}
            </To>
          ),
      };
    });
  return (
    <Card title={title}>
      {rows.length === 0 ? (
        <NothingHere what="machines" />
      ) : (
        <Ranked rows={rows} label={title} limit={14} />
      )}
    </Card>
  );
}
