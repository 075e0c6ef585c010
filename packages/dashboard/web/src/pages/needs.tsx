// Needs: what the clusters ask for, and which of it waits.

import type { ReactNode } from 'react';
import { TIER_NAMES } from '../../../src/words.ts';
import { To, useSearch, useSetSearch } from '../nav/link.tsx';
import { plural } from '../lib/format.ts';
import { Answered, Card, Money, Page, RowLimit, Stat } from '../parts/index.ts';
import { useView } from '../store/hooks.ts';
import { NamedFilters } from './machines-filters.tsx';
import { NeedTable } from './needs-table.tsx';

export default function NeedsPage(): ReactNode {
  const search = useSearch('needs');
  const set = useSetSearch('needs');
  const { order: _, down: __, unmet, ...params } = search;
  const view = useView('needs', { ...params, unmet: unmet ? '1' : '0' });
  return (
    <Page
      page="needs"
      frame={view.answer?.frame}
      tools={
        <To
          page="triage"
          search={{ cluster: search.cluster, shard: search.shard }}
          className="button"
        >
          Triage what is unmet
        </To>
      }
    >
      <NamedFilters
        frame={view.answer?.frame}
        filters={[
          { kind: 'text', name: 'q', label: 'Need', hint: 'fingerprint or group' },
          { kind: 'text', name: 'cluster', label: 'Cluster' },
          { kind: 'choice', name: 'tier', label: 'Tier', options: TIER_NAMES },
          { kind: 'text', name: 'shard', label: 'Shard' },
          { kind: 'flag', name: 'unmet', label: 'Unmet only' },
        ]}
        values={search}
        onChange={set}
      />
      <Answered view={view}>
        {({ needs, total }) => {
          const unmetCount = needs.filter((need) => !need.isSatisfied).length;
          const priced = needs.filter((need) => need.claimedDollarsPerHour !== null);
          const dollars = priced.reduce((sum, need) => sum + (need.claimedDollarsPerHour ?? 0), 0);
          const isAll = needs.length === total;
          return (
            <Card
              isFlush
              title={
                <div className="stats">
                  <Stat label="Match" value={total} />
                  <Stat
                    label={isAll ? 'Unmet' : 'Unmet, of those listed'}
                    value={unmetCount}
                    tone={unmetCount > 0 ? 'warn' : 'good'}
                  />
                  <Stat
                    label={
                      isAll && priced.length === needs.length
                        ? 'Served by machines for'
                        : `Served for, of ${plural(priced.length, 'need')} whose price is known`
                    }
                    value={<Money dollars={dollars} per="h" />}
                  />
                </div>
              }
              aside={
                <RowLimit total={total} limit={search.limit} onLimit={(limit) => set({ limit })} />
              }
            >
              <NeedTable
                needs={needs}
                total={total}
                label="Needs"
                maxHeight="66vh"
                order={search.order === '' ? null : { column: search.order, isDown: search.down }}
                onOrder={({ column, isDown }) => set({ order: column, down: isDown })}
              />
            </Card>
          );
        }}
      </Answered>
    </Page>
  );
}
