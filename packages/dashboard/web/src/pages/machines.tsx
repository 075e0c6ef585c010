// Machines: every one that matches, sorted by the server, since only a part of them comes here.

import type { ReactNode } from 'react';
import { To, useSearch, useSetSearch } from '../nav/link.tsx';
import { Answered, Card, type Order, Page, RowLimit, Stat } from '../parts/index.ts';
import { useView } from '../store/hooks.ts';
import type { PageSearch } from '../url/pages.ts';
import { MachineFilters } from './machines-filters.tsx';
import { MachineTable } from './machines-table.tsx';

type Sort = PageSearch<'machines'>['sort'];
const SORTS: readonly Sort[] = ['machine', 'state', 'cluster', 'cost', 'risk', 'age'];
/** The server sorts these from the largest down. */
const DOWN: ReadonlySet<Sort> = new Set<Sort>(['cost', 'risk', 'age']);

export default function MachinesPage(): ReactNode {
  const search = useSearch('machines');
  const set = useSetSearch('machines');
  const view = useView('machines', search);
  const order: Order = { column: search.sort, isDown: DOWN.has(search.sort) };
  return (
    <Page
      page="machines"
      frame={view.answer?.frame}
      tools={
        <To page="map" search={mapSearch(search)} className="button">
          On the map
        </To>
      }
    >
      <MachineFilters page="machines" frame={view.answer?.frame} />
      <Answered view={view}>
        {({ machines, total, dollarsPerHour }) => (
          <Card
            isFlush
            title={<Stat label="Match" value={total} dollarsPerHour={dollarsPerHour} />}
            aside={
              <RowLimit total={total} limit={search.limit} onLimit={(limit) => set({ limit })} />
            }
          >
            <MachineTable
              machines={machines}
              total={total}
              label="Machines"
              maxHeight="68vh"
              sorted={{
                order,
                columns: SORTS,
                onOrder: ({ column }) => {
                  const sort = SORTS.find((each) => each === column);
                  if (sort !== undefined) set({ sort });
                },
              }}
            />
          </Card>
        )}
      </Answered>
    </Page>
  );
}

function mapSearch(search: PageSearch<'machines'>): Partial<PageSearch<'map'>> {
  const { shard, cluster, provider, zone, state, capacity, q } = search;
  return { shard, cluster, provider, zone, state, capacity, q };
}
