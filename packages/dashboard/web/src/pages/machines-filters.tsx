// Filters that offer what there is: the clusters, providers, zones and shards of the moment that is shown.
// Names are asked for once, when a hand goes to the filters: at the ceiling they are a thousand clusters.

import { type ReactNode, useMemo, useState } from 'react';
import type { Frame } from '../../../src/api/common.ts';
import { CAPACITY_NAMES, STATE_NAMES } from '../../../src/words.ts';
import { useSearch, useSetSearch } from '../nav/link.tsx';
import { type Filter, FilterBar } from '../parts/index.ts';
import { useView } from '../store/hooks.ts';
import type { PageSearch } from '../url/pages.ts';

type KnownNames = ReadonlyMap<string, readonly string[]>;

export function NamedFilters<S extends object, K extends keyof S & string>(props: {
  readonly frame: Frame | undefined;
  readonly filters: readonly Filter<K>[];
  readonly values: S;
  readonly onChange: (patch: Partial<S>) => void;
}): ReactNode {
  const { frame, filters, values, onChange } = props;
  const [isWanted, setWanted] = useState(false);
  const names = useKnownNames(frame, isWanted);
  const named = filters.map((filter) => {
    const known = names.get(filter.name);
    return filter.kind === 'text' && known !== undefined ? { ...filter, known } : filter;
  });
  return (
    <div onFocusCapture={() => setWanted(true)}>
      <FilterBar filters={named} values={values} onChange={onChange} />
    </div>
  );
}

/** By the name of the filter. A recorded moment is asked once, where now would be pushed for ever. */
function useKnownNames(frame: Frame | undefined, isWanted: boolean): KnownNames {
  const [atMs, setAtMs] = useState(0);
  if (isWanted && atMs === 0 && frame !== undefined) setAtMs(frame.atMs);
  const asked = atMs === 0 ? null : { at: atMs };
  const clusters = useView('clusters', asked).answer?.clusters;
  const providers = useView('providers', asked).answer?.providers;
  const sources = frame?.sources;
  return useMemo(() => {
    const shards = sources?.filter(({ kind }) => kind === 'shard').map(({ name }) => name);
    const zones = providers?.flatMap(({ prices }) => prices.map(({ zone }) => zone));
    return new Map([
      ['cluster', distinct(clusters?.map(({ cluster }) => cluster))],
      ['team', distinct(clusters?.map(({ team }) => team))],
      ['provider', distinct(providers?.map(({ name }) => name))],
      ['zone', distinct(zones)],
      ['shard', distinct(shards)],
    ]);
  }, [clusters, providers, sources]);
}

function distinct(names: readonly string[] = []): readonly string[] {
  return [...new Set(names)].filter((name) => name !== '').sort();
}

type FilteredPage = 'cost' | 'lifecycle' | 'machines';
type FilterName = 'q' | 'state' | 'capacity' | 'cluster' | 'team' | 'provider' | 'zone' | 'shard';

/** Teams are there by a flag: whoever has none is not asked for one. */
export const TEAM_FILTER = { kind: 'text', name: 'team', label: 'Team' } as const;

const FILTERS: readonly Filter<FilterName>[] = [
  { kind: 'text', name: 'q', label: 'Machine', hint: 'id, type or node' },
  { kind: 'choice', name: 'state', label: 'State', options: STATE_NAMES },
  { kind: 'choice', name: 'capacity', label: 'Capacity', options: CAPACITY_NAMES },
  { kind: 'text', name: 'cluster', label: 'Cluster' },
  TEAM_FILTER,
  { kind: 'text', name: 'provider', label: 'Provider' },
  { kind: 'text', name: 'zone', label: 'Zone' },
  { kind: 'text', name: 'shard', label: 'Shard' },
];

/** Which machines: the same on every page that lists or counts them. */
export function MachineFilters<P extends FilteredPage>(props: {
  readonly page: P;
  readonly frame: Frame | undefined;
  readonly hides?: readonly FilterName[];
  /** There are teams to choose from; one that is chosen is always shown. */
  readonly hasTeams?: boolean;
}): ReactNode {
  const { page, frame, hides = [], hasTeams = false } = props;
  const search = useSearch(page) as PageSearch<FilteredPage>;
  const set = useSetSearch<FilteredPage>(page);
  const filters = FILTERS.filter(({ name }) =>
    name === 'team' ? hasTeams || search.team !== '' : !hides.includes(name),
  );
  return <NamedFilters frame={frame} filters={filters} values={search} onChange={set} />;
}
