// Brakes: what failed so often that the engine waits before it tries again (a need, or a type of machine).

import type { ReactNode } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import { formatCount } from '../lib/format.ts';
import { Card, type Column, Table, When } from '../parts/index.ts';

type Brake = Answer<'triage'>['brakes'][number];
const BRAKE_COLUMNS: readonly Column<Brake>[] = [
  { id: 'subject', title: 'Braked', width: 'minmax(180px, 1.2fr)', cell: (brake) => brake.subject },
  { id: 'shard', title: 'Shard', width: '120px', cell: (brake) => brake.shard },
  {
    id: 'failures',
    title: 'Failures',
    width: '90px',
    align: 'right',
    cell: (brake) => <span className="num">{formatCount(brake.failures)}</span>,
    compare: (a, b) => a.failures - b.failures,
  },
  {
    id: 'until',
    title: 'Tried again',
    width: '130px',
    align: 'right',
    cell: (brake) => <When atMs={brake.pauseEndsMs} />,
    compare: (a, b) => a.pauseEndsMs - b.pauseEndsMs,
  },
  {
    id: 'error',
    title: 'Last error',
    width: 'minmax(200px, 2fr)',
    cell: (brake) => (
      <span className="cut" title={brake.lastError}>
        {brake.lastError}
      </span>
    ),
  },
];

export function Brakes({ brakes }: { readonly brakes: readonly Brake[] }): ReactNode {
  if (brakes.length === 0) return null;
  return (
    <Card
      title="Brakes"
      note="What failed so often that the engine waits before it tries again."
      isFlush
    >
      <Table
        label="Brakes"
        noun="brakes"
        rows={brakes}
        columns={BRAKE_COLUMNS}
        rowKey={(brake) => `${brake.shard}\n${brake.subject}`}
      />
    </Card>
  );
}
