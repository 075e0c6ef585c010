// What a shard's cycle spends its time on: a bar for a row of the table, and the cycle of one shard taken
// apart. An older shard does not send these figures; the page then says so instead of showing zeros.

import type { ReactNode } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import { formatCount, formatFine } from '../lib/format.ts';
import { To, useSetSearch } from '../nav/link.tsx';
import { Bar, Card, type Column, EmptyState, Table, Tag, type Tone } from '../parts/index.ts';
import './shards.css';

type Shard = Answer<'shards'>['shards'][number];
type Phase = Shard['phases'][number];

/** The phases that decide have the colours of what they decide. */
const PHASES: Readonly<Record<string, { readonly token: string; readonly does: string }>> = {
  reconcile: { token: '--capacity-baremetal', does: 'takes in what the providers list' },
  snapread: {
    token: '--ramp-2',
    does: 'hands the fleet to the engine and back, writes the record',
  },
  phase1: { token: '--action-bootstrap', does: 'covers needs: idle machines, then purchases' },
  phase2: { token: '--action-preempt', does: 'takes machines from lower priorities' },
  phase3: { token: '--action-reclaim', does: 'gives back what nobody claims' },
  emit: { token: '--state-creating', does: 'sends hints to the clusters, after the cycle' },
  execute: { token: '--action-provision', does: 'queues the actions' },
};

function lookOf(phase: string): { readonly token: string; readonly does: string } {
  const known = Object.hasOwn(PHASES, phase) ? PHASES[phase] : undefined;
  return known ?? { token: '--text-faint', does: '' };
}

const WHOLE = 'cycle';

export function wholeOf(phases: readonly Phase[]): Phase | undefined {
  return phases.find(({ phase }) => phase === WHOLE);
}

function partsOf(phases: readonly Phase[]): readonly Phase[] {
  return phases.filter(({ phase }) => phase !== WHOLE);
}

/** All parts together: the length of a shard's bar. */
export function medianOf(phases: readonly Phase[]): number {
  return partsOf(phases).reduce((sum, { p50Ms }) => sum + p50Ms, 0);
}

export function PhaseBar(props: {
  readonly phases: readonly Phase[];
  readonly totalMs: number;
  readonly height?: number;
}): ReactNode {
  const { phases, totalMs, height = 10 } = props;
  if (phases.length === 0) {
    return (
      <span className="faint" title="Its version tells no times of its cycle.">
        not told
      </span>
    );
  }
  return (
    <Bar
      label="Median by phase"
      height={height}
      total={totalMs}
      format={formatFine}
      parts={partsOf(phases).map(({ phase, p50Ms }) => ({
        name: phase,
        value: p50Ms,
        token: lookOf(phase).token,
      }))}
    />
  );
}

/** As the alert on slow cycles has it. */
const SLOW_MS = 1_000;
const PAGING_MS = 5_000;

export function CycleP99({ phases }: { readonly phases: readonly Phase[] }): ReactNode {
  const whole = wholeOf(phases);
  if (whole === undefined) return <span className="faint">–</span>;
  const text = formatFine(whole.p99Ms);
  if (whole.p99Ms <= SLOW_MS) return <span className="num">{text}</span>;
  const tone: Tone = whole.p99Ms > PAGING_MS ? 'bad' : 'warn';
  return <Tag tone={tone}>{text}</Tag>;
}

const COLUMNS: readonly Column<Phase>[] = [
  {
    id: 'phase',
    title: 'Phase',
    width: 'minmax(110px, 0.5fr)',
    cell: ({ phase }) => (
      <span className="mark">
        <span
          className="swatch"
          style={{ background: phase === WHOLE ? 'transparent' : `var(${lookOf(phase).token})` }}
        />
        {phase === WHOLE ? <strong>the whole cycle</strong> : phase}
      </span>
    ),
  },
  {
    id: 'does',
    title: 'What it does',
    width: 'minmax(180px, 2fr)',
    cell: ({ phase }) => <span className="soft cut">{lookOf(phase).does}</span>,
  },
  ...(['p50Ms', 'p99Ms', 'maxMs'] as const).map(
    (name): Column<Phase> => ({
      id: name,
      title: { p50Ms: 'p50', p99Ms: 'p99', maxMs: 'max' }[name],
      width: '96px',
      align: 'right',
      cell: (phase) => <span className="num">{formatFine(phase[name])}</span>,
      compare: (a, b) => a[name] - b[name],
    }),
  ),
];

/** The shard that the URL names. */
export function ChosenCycle(props: {
  readonly shards: readonly Shard[];
  readonly name: string;
}): ReactNode {
  const set = useSetSearch('shards');
  const chosen = props.shards.find(({ shard }) => shard === props.name);
  if (chosen === undefined) return null;
  const { shard, phases } = chosen;
  const cycles = wholeOf(phases)?.cycles ?? Math.max(0, ...phases.map((phase) => phase.cycles));
  return (
    <Card
      title={`A cycle of ${shard}, by phase`}
      note={
        phases.length === 0
          ? undefined
          : `Over its last ${formatCount(cycles)} cycles. Medians of parts need not add up to the median of the whole.`
      }
      aside={
        <span className="row">
          <To page="decisions" search={{ shard }} className="button">
            Its decisions
          </To>
          <button type="button" onClick={() => set({ shard: '' })}>
            Close
          </button>
        </span>
      }
      isFlush
    >
      {phases.length === 0 ? (
        <EmptyState title={`${shard} tells no times of its cycle`}>
          A shard of a version before this figure does not, nor one that has not run a cycle yet.
        </EmptyState>
      ) : (
        <>
          <div className="cycle-bar">
            <PhaseBar phases={phases} totalMs={medianOf(phases)} height={16} />
          </div>
          <Table
            label={`Phases of ${shard}`}
            noun="phases"
            rows={phases}
            columns={COLUMNS}
            rowKey={({ phase }) => phase}
          />
        </>
      )}
    </Card>
  );
}
