// Phantom capacity: the machines that count as ready while their nodes are not. This is the page of "nothing is
// short, and Pods wait".

import type { ReactNode } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import type { MachineRow } from '../../../src/api/common.ts';
import { formatCount, formatPrice, plural } from '../lib/format.ts';
import { To, useGo } from '../nav/link.tsx';
import { Card, type Column, EmptyState, Mark, Money, Table, When } from '../parts/index.ts';

type PhantomFacts = Answer<'triage'>['phantoms'];

const COLUMNS: readonly Column<MachineRow>[] = [
  {
    id: 'machine',
    title: 'Machine',
    width: 'minmax(150px, 1.2fr)',
    cell: ({ machine }) => (
      <To page="explain" search={{ machine }} className="mono cut-start" title={machine}>
        <bdi>{machine}</bdi>
      </To>
    ),
    compare: (a, b) => (a.machine < b.machine ? -1 : 1),
  },
  {
    id: 'cluster',
    title: 'Cluster',
    width: 'minmax(100px, 0.8fr)',
    cell: ({ cluster }) => (
      <To page="clusters" search={{ q: cluster }} className="cut">
        {cluster}
      </To>
    ),
    compare: (a, b) => (a.cluster < b.cluster ? -1 : 1),
  },
  {
    id: 'node',
    title: 'Node',
    hint: 'As its operator named it last',
    width: 'minmax(150px, 1.2fr)',
    cell: ({ node }) =>
      node === '' ? (
        <span className="faint">none known</span>
      ) : (
        <span className="mono cut-start" title={node}>
          <bdi>{node}</bdi>
        </span>
      ),
    compare: (a, b) => (a.node < b.node ? -1 : 1),
  },
  {
    id: 'provider',
    title: 'Provider',
    width: 'minmax(90px, 0.7fr)',
    cell: ({ provider }) => (
      <To page="providers" search={{ provider }} className="cut">
        {provider}
      </To>
    ),
    compare: (a, b) => (a.provider < b.provider ? -1 : 1),
  },
  {
    id: 'type',
    title: 'Type',
    width: 'minmax(130px, 1fr)',
    cell: ({ instanceType, capacityType }) => (
      <>
        <Mark name={capacityType} isQuiet />
        <span className="cut">{instanceType}</span>
      </>
    ),
    compare: (a, b) => (a.instanceType < b.instanceType ? -1 : 1),
  },
  {
    id: 'since',
    title: 'Configured',
    hint: 'When its provider reported it as configured',
    width: '110px',
    align: 'right',
    cell: ({ sinceMs }) => <When atMs={sinceMs} />,
    compare: (a, b) => b.sinceMs - a.sinceMs,
  },
  {
    id: 'dollars',
    title: '$/h',
    width: '92px',
    align: 'right',
    cell: ({ dollarsPerHour }) => <span className="num">{formatPrice(dollarsPerHour)}</span>,
    compare: (a, b) => a.dollarsPerHour - b.dollarsPerHour,
  },
];

export function Phantoms(props: {
  readonly phantoms: PhantomFacts;
  readonly aside?: ReactNode;
}): ReactNode {
  const { phantoms, aside } = props;
  const go = useGo();
  const { count, clusters, dollarsPerHour, machines } = phantoms;
  return (
    <Card
      title={
        <>
          Phantom capacity: {formatCount(count)}
          {count > 0 && (
            <span className="soft">
              {' '}
              in {plural(clusters, 'cluster')}, <Money dollars={dollarsPerHour} per="h" />
            </span>
          )}
        </>
      }
      note={reportedBy(phantoms)}
      aside={aside}
      isFlush
    >
      <Table
        label="Phantom machines"
        noun="machines"
        rows={machines}
        total={count}
        columns={COLUMNS}
        rowKey={({ machine }) => machine}
        onOpen={({ machine }) => go('explain', { machine })}
        maxHeight="420px"
        empty={
          <EmptyState
            title={phantoms.reporting === 0 ? 'Nobody reports it' : 'No machine is reported'}
          >
            {phantoms.reporting === 0
              ? 'A connected operator reports such machines; one of a version before does not.'
              : 'Every machine that counts as ready has a node that is.'}
          </EmptyState>
        }
      />
    </Card>
  );
}

/** Silence is not the same as none: who could have spoken stands beside the count. */
function reportedBy({ reporting, sessions }: PhantomFacts): string {
  const paid = 'Paid for and counted as ready for more than two minutes, with a node that is not.';
  if (sessions === 0) return `${paid} No operator is connected.`;
  return `${paid} Reported by ${formatCount(reporting)} of ${plural(sessions, 'connected operator')}.`;
}
