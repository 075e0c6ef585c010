// The flow over a machine's states: an edge is as wide as machines took it, and carries how long they had
// stood in the state before. Failures are stubs at the state that failed. At most a few dozen marks, so SVG.

import type { ReactNode } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import type { StateName as State } from '../../../src/words.ts';
import { formatCount, formatDollars, formatDuration } from '../lib/format.ts';
import { STATES } from '../parts/palette.ts';
import {
  type EdgeKind,
  edgeKind,
  edgeWidth,
  FLOW_HEIGHT,
  FLOW_WIDTH,
  isStub,
  NODE_HEIGHT,
  NODE_WIDTH,
  ORDINARY,
  PLACES,
  stubOf,
  type Way,
  wayOf,
} from './flow-layout.ts';

type Lifecycle = Answer<'lifecycle'>;
type Edge = Lifecycle['edges'][number];

export interface FlowProps {
  readonly states: Lifecycle['states'];
  readonly edges: Lifecycle['edges'];
  readonly selected: State | '';
  readonly onSelect: (state: State) => void;
}

const EMPTY = { count: 0, p50Ms: 0, p90Ms: 0, p99Ms: 0, maxMs: 0 };

export function Flow({ states, edges, selected, onSelect }: FlowProps): ReactNode {
  const all = withOrdinary(edges);
  const largest = all.reduce((most, edge) => Math.max(most, edge.count), 1);
  return (
    <div className="flow">
      <svg
        viewBox={`0 0 ${FLOW_WIDTH} ${FLOW_HEIGHT}`}
        role="group"
        aria-label="States of machines"
      >
        <defs>
          <marker
            id="flow-arrow"
            viewBox="0 0 8 8"
            refX="1"
            refY="4"
            markerWidth="8"
            markerHeight="8"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path d="M0 0 8 4 0 8Z" fill="context-stroke" />
          </marker>
        </defs>
        {all.map((edge) => (
          <FlowEdge key={`${edge.from} ${edge.to}`} edge={edge} largest={largest} />
        ))}
        {all
          .filter((edge) => hasFigures(edge, largest))
          .map((edge) => (
            <EdgeFigures key={`${edge.from} ${edge.to}`} edge={edge} />
          ))}
        {states.map((each) => (
          <FlowState
            key={each.state}
            state={each}
            isSelected={each.state === selected}
            onSelect={onSelect}
          />
        ))}
      </svg>
      <ul className="flow-key" aria-label="Kinds of steps">
        {KEY.map(([kind, words]) => (
          <li key={kind}>
            <svg viewBox="0 0 28 10" aria-hidden="true">
              <path
                className={`flow-edge flow-${kind}`}
                d="M0 5H28"
                strokeWidth={kind === 'merged' ? 2 : 5}
              />
            </svg>
            {words}
          </li>
        ))}
      </ul>
    </div>
  );
}

const KEY: readonly (readonly [EdgeKind, string])[] = [
  ['taken', 'a step, as wide as machines took it'],
  ['merged', 'several steps between two looks at a machine, seen as one'],
  ['failure', 'into Failed'],
];

function withOrdinary(edges: readonly Edge[]): readonly Edge[] {
  const seen = new Set(edges.map((edge) => `${edge.from} ${edge.to}`));
  const missing = ORDINARY.filter(([from, to]) => !seen.has(`${from} ${to}`));
  return [...missing.map(([from, to]) => ({ from, to, count: 0, dwell: EMPTY })), ...edges];
}

/** Merged steps below this share of the busiest are without figures, which stand in the table. */
const QUIET_SHARE = 0.05;

function hasFigures({ from, to, count }: Edge, largest: number): boolean {
  const kind = edgeKind(from, to, count);
  return kind === 'merged' ? count >= largest * QUIET_SHARE : kind !== 'unused';
}

function wayOfEdge({ from, to }: Edge): Way {
  return isStub(from, to) ? stubOf(from) : wayOf(from, to);
}

function FlowEdge({ edge, largest }: { readonly edge: Edge; readonly largest: number }): ReactNode {
  const kind = edgeKind(edge.from, edge.to, edge.count);
  return (
    <path
      className={`flow-edge flow-${kind}`}
      d={wayOfEdge(edge).path}
      strokeWidth={edgeWidth(kind, edge.count, largest)}
      markerEnd="url(#flow-arrow)"
    >
      <title>{`${edge.from} to ${edge.to}: ${formatCount(edge.count)}${kind === 'merged' ? ', seen as one step' : ''}`}</title>
    </path>
  );
}

function EdgeFigures({ edge }: { readonly edge: Edge }): ReactNode {
  const { label, isFlat, anchor } = wayOfEdge(edge);
  const { dwell } = edge;
  const p50 = `p50 ${formatDuration(dwell.p50Ms)}`;
  const p90 = `p90 ${formatDuration(dwell.p90Ms)}`;
  const p99 = `p99 ${formatDuration(dwell.p99Ms)}`;
  const title = `${edge.from} to ${edge.to}: ${formatCount(edge.count)}; ${p50}, ${p90}, ${p99}`;
  if (isStub(edge.from, edge.to)) {
    return (
      <text className="flow-figures flow-failed" x={label.x} y={label.y} textAnchor={anchor}>
        <title>{title}</title>
        <tspan className="flow-count">{formatCount(edge.count)}</tspan> failed
      </text>
    );
  }
  const isMerged = edgeKind(edge.from, edge.to, edge.count) === 'merged';
  const tail = isMerged ? [] : [p90, p99];
  return (
    <text
      className={isMerged ? 'flow-figures flow-figures-merged' : 'flow-figures'}
      x={label.x}
      y={isFlat ? label.y - 26 : label.y - 18}
      textAnchor={anchor}
    >
      <title>{title}</title>
      <tspan className="flow-count" x={label.x}>
        {formatCount(edge.count)}
      </tspan>
      {dwell.count > 0 && (
        <>
          <tspan x={label.x} dy={14}>
            {p50}
          </tspan>
          {tail.map((text, index) => (
            <tspan
              key={text.slice(0, 3)}
              className="flow-tail"
              x={label.x}
              // A flat edge runs between the median and the rest.
              dy={index === 0 && isFlat ? 32 : 13}
            >
              {text}
            </tspan>
          ))}
        </>
      )}
    </text>
  );
}

function FlowState(props: {
  readonly state: Lifecycle['states'][number];
  readonly isSelected: boolean;
  readonly onSelect: (state: State) => void;
}): ReactNode {
  const { state, count, dollarsPerHour } = props.state;
  const { x, y } = PLACES[state];
  const look = STATES[state];
  const cost = `${formatDollars(dollarsPerHour)}/h`;
  return (
    <g
      className="flow-state"
      transform={`translate(${x - NODE_WIDTH / 2} ${y - NODE_HEIGHT / 2})`}
      role="button"
      tabIndex={0}
      aria-pressed={props.isSelected}
      onClick={() => props.onSelect(state)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        props.onSelect(state);
      }}
    >
      <rect width={NODE_WIDTH} height={NODE_HEIGHT} rx={8} />
      <rect
        className="flow-stripe"
        width={4}
        height={NODE_HEIGHT - 16}
        x={8}
        y={8}
        rx={2}
        style={{ fill: `var(${look.token})` }}
      />
      <text className="flow-name" x={20} y={20}>
        {look.label}
      </text>
      <text className="flow-size" x={20} y={40}>
        {formatCount(count)}
      </text>
      <text className="flow-money" x={20} y={54}>
        {cost}
      </text>
    </g>
  );
}
