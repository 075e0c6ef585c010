// Fleet map: where is everything?

import { type ReactNode, useCallback, useMemo } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import type { CellsEvent } from '../../../src/api/stream.ts';
import { CAPACITY_NAMES, STATE_NAMES } from '../../../src/words.ts';
import { legendOf } from '../charts/fleet-colours.ts';
import { parsePath, printPath, shortName } from '../charts/fleet-layout.ts';
import { FleetMap } from '../charts/fleet-map.tsx';
import { formatCount, plural } from '../lib/format.ts';
import { To, useGo, useSearch, useSetSearch } from '../nav/link.tsx';
import {
  Answered,
  Bar,
  Card,
  EmptyState,
  type Filter,
  Legend,
  Money,
  Page,
  Segmented,
  Table,
} from '../parts/index.ts';
import { useStore, useView } from '../store/hooks.ts';
import type { PageSearch } from '../url/pages.ts';
import { NamedFilters, TEAM_FILTER } from './machines-filters.tsx';
import './map.css';

type Search = PageSearch<'map'>;
type MapAnswer = Answer<'map'>;

type FilterName = 'state' | 'capacity' | 'cluster' | 'team' | 'provider' | 'zone' | 'q';

const FILTERS: readonly Filter<FilterName>[] = [
  { kind: 'choice', name: 'state', label: 'State', options: STATE_NAMES },
  { kind: 'choice', name: 'capacity', label: 'Capacity', options: CAPACITY_NAMES },
  { kind: 'text', name: 'cluster', label: 'Cluster' },
  { kind: 'text', name: 'provider', label: 'Provider' },
  { kind: 'text', name: 'zone', label: 'Zone' },
  { kind: 'text', name: 'q', label: 'Machine', hint: 'id, type or node' },
];

export default function MapPage(): ReactNode {
  const search = useSearch('map');
  const set = useSetSearch('map');
  const zoom = useMemo(() => parsePath(search.zoom), [search.zoom]);
  const view = useView('map', {
    ...filterOf(search),
    ...narrowed(search, zoom),
    at: search.at,
    by: search.by,
  });
  return (
    <Page
      page="map"
      frame={view.answer?.frame}
      isFilling
      tools={
        <>
          <Segmented
            label="Group by"
            value={search.by}
            onChange={(by) => set({ by, zoom: '' })}
            options={[
              { value: 'place', label: 'Place' },
              { value: 'cluster', label: 'Cluster' },
              { value: 'provider', label: 'Provider' },
            ]}
          />
          <Segmented
            label="Colour by"
            value={search.colour}
            onChange={(colour) => set({ colour })}
            options={[
              { value: 'state', label: 'State' },
              { value: 'cluster', label: 'Cluster' },
              { value: 'cost', label: 'Cost' },
              { value: 'risk', label: 'Risk' },
              { value: 'age', label: 'Age' },
            ]}
          />
          <button
            type="button"
            aria-pressed={search.table}
            onClick={() => set({ table: !search.table })}
          >
            Table
          </button>
        </>
      }
    >
      <NamedFilters
        frame={view.answer?.frame}
        filters={search.team === '' ? FILTERS : [...FILTERS, TEAM_FILTER]}
        values={search}
        onChange={set}
      />
      <Answered view={view}>
        {(answer) => <MapBody answer={answer} search={search} zoom={zoom} />}
      </Answered>
    </Page>
  );
}

function filterOf(search: Search) {
  const { shard, cluster, team, provider, zone, state, capacity, q } = search;
  return { shard, cluster, team, provider, zone, state, capacity, q };
}

/** A zoom asks the server for less, so that a part of a huge fleet still shows its machines. */
function narrowed(
  search: Search,
  zoom: readonly string[],
): { zone?: string; cluster?: string; provider?: string } {
  if (search.by === 'place' && zoom[1]) return { zone: zoom[1] };
  if (search.by === 'cluster' && zoom[0] && zoom[0] !== 'none') return { cluster: zoom[0] };
  if (search.by === 'provider' && zoom[0]) return { provider: zoom[0] };
  return {};
}

function MapBody({
  answer,
  search,
  zoom,
}: {
  readonly answer: MapAnswer;
  readonly search: Search;
  readonly zoom: readonly string[];
}): ReactNode {
  const set = useSetSearch('map');
  const go = useGo();
  const store = useStore();
  const watch = useCallback((told: (event: CellsEvent) => void) => store.watchCells(told), [store]);
  const onZoom = useCallback((path: readonly string[]) => set({ zoom: printPath(path) }), [set]);
  const onOpen = useCallback((machine: string) => go('explain', { machine }), [go]);
  const dollars = answer.groups.reduce((sum, group) => sum + group.dollarsPerHour, 0);
  return (
    <Card className="map-card" isFlush>
      <div className="map-head">
        <Crumbs zoom={zoom} onZoom={onZoom} />
        <span className="num">
          {plural(answer.total, 'machine')} · <Money dollars={dollars} per="h" />
        </span>
        <span className="grow" />
        {answer.isAggregated ? (
          <span className="faint">
            groups only above 20,000 machines: zoom in or filter to see each machine
          </span>
        ) : null}
        <MapLegend search={search} answer={answer} />
      </div>
      {answer.total === 0 ? (
        <EmptyState title="No machines match">Loosen the filters above.</EmptyState>
      ) : search.table ? (
        <GroupTable answer={answer} search={search} onZoom={onZoom} zoom={zoom} />
      ) : (
        <div className="map-canvas">
          <FleetMap
            answer={answer}
            colourBy={search.colour}
            zoom={zoom}
            onZoom={onZoom}
            onOpen={onOpen}
            // Without cells there is nothing that a changed machine would repaint.
            watch={search.at === 0 && !answer.isAggregated ? watch : null}
          />
        </div>
      )}
    </Card>
  );
}

function MapLegend({
  search,
  answer,
}: {
  readonly search: Search;
  readonly answer: MapAnswer;
}): ReactNode {
  if (search.colour === 'cluster') {
    return (
      <span className="faint">
        {plural(answer.clusters.length - 1, 'cluster')}, one hue each; lines are their borders
      </span>
    );
  }
  const items = legendOf(search.colour);
  if (search.colour !== 'state') return <Legend label="Colours" items={items} />;
  const counts = STATE_NAMES.map((_, state) =>
    answer.groups.reduce((sum, group) => sum + (group.byState[state] ?? 0), 0),
  );
  return (
    <Legend
      label="States"
      items={items
        .map((item, state) => ({ ...item, count: counts[state] ?? 0 }))
        .filter((item) => item.count > 0)}
    />
  );
}

function Crumbs({
  zoom,
  onZoom,
}: {
  readonly zoom: readonly string[];
  readonly onZoom: (path: readonly string[]) => void;
}): ReactNode {
  return (
    <nav className="crumbs" aria-label="Zoom">
      <button
        type="button"
        className="plain"
        disabled={zoom.length === 0}
        onClick={() => onZoom([])}
      >
        Whole fleet
      </button>
      {zoom.map((part, at) => (
        <span key={zoom.slice(0, at + 1).join('/')} className="row">
          <span className="faint" aria-hidden="true">
            ›
          </span>
          <button
            type="button"
            className="plain"
            disabled={at === zoom.length - 1}
            onClick={() => onZoom(zoom.slice(0, at + 1))}
          >
            {part === '' ? 'unnamed' : part}
          </button>
        </span>
      ))}
    </nav>
  );
}

type Group = MapAnswer['groups'][number];

function GroupTable({
  answer,
  search,
  zoom,
  onZoom,
}: {
  readonly answer: MapAnswer;
  readonly search: Search;
  readonly zoom: readonly string[];
  readonly onZoom: (path: readonly string[]) => void;
}): ReactNode {
  const rows = answer.groups.filter((group) => zoom.every((part, at) => group.path[at] === part));
  return (
    <Table<Group>
      label="Groups of the fleet map"
      noun="groups"
      rows={rows}
      rowKey={(group) => group.path.join('\u0000')}
      onOpen={(group) => onZoom(group.path)}
      maxHeight="100%"
      columns={[
        {
          id: 'path',
          title: 'Group',
          width: 'minmax(220px, 2fr)',
          cell: (group) => <span title={group.path.join(' › ')}>{sayPath(group.path)}</span>,
          compare: (a, b) => (a.path.join('/') < b.path.join('/') ? -1 : 1),
        },
        {
          id: 'count',
          title: 'Machines',
          align: 'right',
          width: 'minmax(100px, 1fr)',
          cell: (group) => <span className="num">{formatCount(group.count)}</span>,
          compare: (a, b) => a.count - b.count,
        },
        {
          id: 'cost',
          title: 'Spending',
          align: 'right',
          width: 'minmax(110px, 1fr)',
          cell: (group) => <Money dollars={group.dollarsPerHour} per="h" />,
          compare: (a, b) => a.dollarsPerHour - b.dollarsPerHour,
        },
        {
          id: 'states',
          title: 'States',
          width: 'minmax(160px, 2fr)',
          cell: (group) => (
            <Bar
              label="States"
              parts={STATE_NAMES.map((name, state) => ({ name, value: group.byState[state] ?? 0 }))}
            />
          ),
        },
        {
          id: 'clusters',
          title: 'Clusters',
          width: 'minmax(200px, 3fr)',
          cell: (group) => (
            <span className="cut">
              {group.byCluster
                .map(
                  ([cluster, count]) =>
                    `${answer.clusters[cluster] || 'none'} ${formatCount(count)}`,
                )
                .join(', ')}
            </span>
          ),
        },
        {
          id: 'machines',
          title: 'List',
          width: '90px',
          cell: (group) => (
            <To page="machines" search={machinesOf(search, group)}>
              machines
            </To>
          ),
        },
      ]}
    />
  );
}

function sayPath(path: readonly string[]): string {
  const parts = path.map((part, at) => shortName(part, path[at - 1] ?? ''));
  return parts.filter((part) => part !== '').join(' › ') || 'unnamed';
}

function machinesOf(search: Search, group: Group): Partial<PageSearch<'machines'>> {
  const filter = filterOf(search);
  if (search.by === 'place') return { ...filter, zone: group.path[1] ?? filter.zone };
  if (search.by === 'cluster') return { ...filter, cluster: group.path[0] ?? filter.cluster };
  return { ...filter, provider: group.path[0] ?? filter.provider };
}
