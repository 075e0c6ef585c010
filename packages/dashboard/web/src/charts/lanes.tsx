// Decisions over time, a lane per cluster. Marks by kind, arrows where a machine left one cluster for
// another, bars for ownership that moved between shards. Only the lanes in sight are drawn.

import { type KeyboardEvent, type ReactNode, useCallback, useMemo, useRef, useState } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import type { Decision } from '../../../src/api/common.ts';
import { KIND_NAMES } from '../../../src/words.ts';
import {
  formatClock,
  formatCompact,
  formatCount,
  formatDollars,
  formatPrice,
} from '../lib/format.ts';
import { ACTION_KINDS, lookOf } from '../parts/palette.ts';
import { Canvas, type CanvasHandle, cutText, type Draw, type Size, Tip } from './canvas.tsx';
import { msAt, panned, type TimeSpan, timeTicks, xOf, zoomed } from './time-axis.ts';

type Lanes = Answer<'decisions'>['lanes'];
type Moves = Answer<'decisions'>['moves'];
type Transfers = Answer<'decisions'>['transfers'];

const GUTTER = 216;
const AXIS = 24;
const MIN_LANE = 26;
const MAX_LANE = 72;
/** Lanes this high give each kind a line of its own. */
const SPREAD_LANE = 44;
const STRIP = 28;
const RIGHT = 12;
const REACH_PX = 9;
const MIN_STACK = 3;
const STACK_ROOM_PX = 34;

export interface LanesProps {
  readonly lanes: Lanes;
  readonly decisions: readonly Decision[];
  readonly moves: Moves;
  readonly transfers: Transfers;
  readonly span: TimeSpan;
  /** Nothing is known after this. */
  readonly newestMs: number;
  readonly selectedId: string;
  readonly onSpan: (span: TimeSpan) => void;
  readonly onOpen: (id: string) => void;
}

interface LaneRow {
  readonly cluster: string;
  readonly count: number;
  readonly dollarsPerHour: number;
}

export function DecisionLanes(props: LanesProps): ReactNode {
  const { decisions, moves, transfers, span, newestMs, selectedId, onSpan, onOpen } = props;
  const rows = useMemo(() => laneRows(props.lanes, decisions), [props.lanes, decisions]);
  const rowOf = useMemo(() => new Map(rows.map((row, index) => [row.cluster, index])), [rows]);
  const kindOf = useMemo(
    () => new Map(decisions.map((decision) => [decision.id, decision.kind])),
    [decisions],
  );
  const strip = transfers.length > 0 ? STRIP : 0;
  const top = AXIS + strip;
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<CanvasHandle>(null);
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  // Few lanes share the height, many scroll.
  const lane = Math.min(
    MAX_LANE,
    Math.max(MIN_LANE, (size.height - top) / Math.max(1, rows.length)),
  );
  const [scrollTop, setScrollTop] = useState(0);
  const [brush, setBrush] = useState<{ readonly from: number; readonly to: number } | null>(null);
  const [hover, setHover] = useState<{
    readonly x: number;
    readonly y: number;
    readonly decision: Decision;
  } | null>(null);
  const plotWidth = (): number => Math.max(1, size.width - GUTTER - RIGHT);
  const yOf = (row: number): number => top + row * lane + lane / 2 - scrollTop;

  const draw = useCallback<Draw>(
    (context, { width, height }, colour) => {
      const plot = Math.max(1, width - GUTTER - RIGHT);
      const y = (row: number): number => top + row * lane + lane / 2 - scrollTop;
      const x = (ms: number): number => GUTTER + xOf(ms, span, plot);
      const first = Math.max(0, Math.floor(scrollTop / lane));
      const last = Math.min(rows.length - 1, Math.ceil((scrollTop + height - top) / lane));
      context.textBaseline = 'middle';
      for (let row = first; row <= last; row += 1)
        drawLane(context, rows[row], { y: y(row), width, lane }, colour);
      context.save();
      context.beginPath();
      context.rect(GUTTER - 8, top, width - GUTTER + 8, height - top);
      context.clip();
      for (const tick of timeTicks(span, plot)) {
        context.fillStyle = colour('--line');
        context.fillRect(Math.round(GUTTER + tick.x), top, 1, height - top);
      }
      for (const move of moves) {
        const from = rowOf.get(move.from);
        const to = rowOf.get(move.to);
        if (from === undefined || to === undefined) continue;
        const isSeen = isWithin(from, first, last) || isWithin(to, first, last);
        if (!isSeen || move.toMs < span.fromMs || move.fromMs > span.toMs) continue;
        const fromY = y(from) + kindOffset(kindOf.get(move.fromId) ?? 'Reclaim', lane);
        const toY = y(to) + kindOffset(kindOf.get(move.toId) ?? 'Bootstrap', lane);
        drawArrow(context, x(move.fromMs), fromY, x(move.toMs), toY, colour('--text-faint'));
      }
      const stacks = new Map<string, number>();
      for (const decision of decisions) {
        const row = rowOf.get(decision.cluster);
        if (row === undefined || row < first - 1 || row > last + 1) continue;
        const px = x(decision.atMs);
        if (px < GUTTER - 8 || px > width) continue;
        const py = y(row) + kindOffset(decision.kind, lane);
        // Decisions of one cycle stand on one point: the first is drawn, the others are counted.
        const point = `${Math.round(px)},${Math.round(py)}`;
        const stacked = (stacks.get(point) ?? 0) + 1;
        stacks.set(point, stacked);
        if (stacked > 1 && decision.id !== selectedId) continue;
        drawMark(context, decision, px, py, colour, decision.id === selectedId);
      }
      if (lane >= SPREAD_LANE) drawStacks(context, stacks, colour('--text-soft'));
      context.restore();
      // The axis stands above the lanes that scroll under it.
      context.fillStyle = colour('--surface');
      context.fillRect(0, 0, width, top);
      context.font = '400 11px Inter, sans-serif';
      context.fillStyle = colour('--text-faint');
      context.textAlign = 'center';
      for (const tick of timeTicks(span, plot)) {
        if (tick.x > 20) context.fillText(tick.label, GUTTER + tick.x, AXIS / 2);
      }
      context.textAlign = 'left';
      if (strip > 0) drawTransfers(context, transfers, x, width, colour);
      context.fillStyle = colour('--line-strong');
      context.fillRect(0, top - 1, width, 1);
      if (brush !== null) {
        context.fillStyle = colour('--accent');
        context.globalAlpha = 0.16;
        context.fillRect(
          Math.min(brush.from, brush.to),
          top,
          Math.abs(brush.to - brush.from),
          height - top,
        );
        context.globalAlpha = 1;
      }
    },
    [
      rows,
      rowOf,
      kindOf,
      decisions,
      moves,
      transfers,
      span,
      scrollTop,
      brush,
      selectedId,
      top,
      strip,
      lane,
    ],
  );

  const find = (px: number, py: number): Decision | null => {
    const plot = plotWidth();
    let best: Decision | null = null;
    let bestDistance = REACH_PX;
    for (const decision of decisions) {
      const row = rowOf.get(decision.cluster);
      if (row === undefined) continue;
      const distance = Math.hypot(
        GUTTER + xOf(decision.atMs, span, plot) - px,
        yOf(row) + kindOffset(decision.kind, lane) - py,
      );
      if (distance < bestDistance) {
        best = decision;
        bestDistance = distance;
      }
    }
    return best;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = KEY_SPANS[event.key]?.(span, newestMs);
    if (next === undefined) return;
    event.preventDefault();
    onSpan(next);
  };
  const onWheel = useCallback(
    (px: number, _: number, event: WheelEvent) => {
      const box = scroller.current;
      const isScrollable = box !== null && box.scrollHeight > box.clientHeight + 1;
      const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (isScrollable && !event.ctrlKey && !isSideways) return;
      event.preventDefault();
      const plot = Math.max(1, size.width - GUTTER - RIGHT);
      const by = event.deltaX + event.deltaY;
      if (isSideways) onSpan(panned(span, by / plot, newestMs));
      else onSpan(zoomed(span, clampShare((px - GUTTER) / plot), 1.0015 ** by, newestMs));
    },
    [span, newestMs, onSpan, size.width],
  );

  const height = Math.floor(top + rows.length * lane);
  return (
    <div className="chart-box lanes">
      <div
        ref={scroller}
        className="lanes-scroll"
        onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
      >
        <div style={{ height: Math.max(height, 1) }} className="lanes-tall">
          <div className="lanes-sticky">
            <Canvas
              draw={draw}
              handle={canvas}
              label={`Time line of ${formatCount(decisions.length)} decisions in ${formatCount(rows.length)} clusters. Arrow keys move it, plus and minus zoom. The same decisions stand in the list.`}
              cursor={hover === null ? 'crosshair' : 'pointer'}
              onSize={setSize}
              onMove={(px, py) => {
                if (brush === null) {
                  const decision = find(px, py);
                  setHover(decision === null ? null : { x: px, y: py, decision });
                } else setBrush({ from: brush.from, to: Math.max(GUTTER, px) });
              }}
              onDown={(px, _, event) => {
                if (px < GUTTER) return;
                event.currentTarget.setPointerCapture(event.pointerId);
                setBrush({ from: px, to: px });
              }}
              onUp={(px, py) => {
                const from = brush?.from ?? px;
                setBrush(null);
                if (Math.abs(px - from) > 5) {
                  const plot = plotWidth();
                  const a = msAt(from - GUTTER, span, plot);
                  const b = msAt(Math.max(GUTTER, px) - GUTTER, span, plot);
                  onSpan({ fromMs: Math.min(a, b), toMs: Math.min(newestMs, Math.max(a, b)) });
                  return;
                }
                const decision = find(px, py);
                if (decision !== null) onOpen(decision.id);
              }}
              onLeave={() => setHover(null)}
              onWheel={onWheel}
              onKeyDown={onKeyDown}
            />
          </div>
        </div>
      </div>
      <Tip at={hover}>
        {hover === null ? null : (
          <>
            <strong>{hover.decision.kind}</strong> of{' '}
            <span className="mono">{hover.decision.machine}</span>
            <div>{hover.decision.reasonText}</div>
            <div className="num soft">
              {formatClock(hover.decision.atMs)} · {formatPrice(hover.decision.dollarsPerHour)}/h ·{' '}
              {hover.decision.instanceType}
            </div>
          </>
        )}
      </Tip>
    </div>
  );
}

const KEY_SPANS: Readonly<Record<string, (span: TimeSpan, newestMs: number) => TimeSpan>> = {
  ArrowLeft: (span, newestMs) => panned(span, -0.1, newestMs),
  ArrowRight: (span, newestMs) => panned(span, 0.1, newestMs),
  '+': (span, newestMs) => zoomed(span, 0.5, 0.7, newestMs),
  '=': (span, newestMs) => zoomed(span, 0.5, 0.7, newestMs),
  '-': (span, newestMs) => zoomed(span, 0.5, 1.4, newestMs),
};

function kindOffset(kind: Decision['kind'], lane: number): number {
  if (lane < SPREAD_LANE) return 0;
  return ((KIND_NAMES.indexOf(kind) - 2) * (lane - 16)) / KIND_NAMES.length;
}

function isWithin(row: number, first: number, last: number): boolean {
  return row >= first && row <= last;
}

function clampShare(share: number): number {
  return Math.max(0, Math.min(1, share));
}

/** The answer's lanes, and those of clusters that acted since; by name, so that a lane keeps its place. */
function laneRows(lanes: Lanes, decisions: readonly Decision[]): readonly LaneRow[] {
  const rows = new Map<string, LaneRow>();
  for (const lane of lanes) {
    rows.set(lane.cluster, {
      cluster: lane.cluster,
      count: lane.byKind.reduce((sum, count) => sum + count, 0),
      dollarsPerHour: lane.dollarsPerHour,
    });
  }
  for (const { cluster, dollarsPerHour } of decisions) {
    if (!rows.has(cluster)) rows.set(cluster, { cluster, count: 1, dollarsPerHour });
  }
  return [...rows.values()].sort((a, b) => (a.cluster < b.cluster ? -1 : 1));
}

function drawLane(
  context: CanvasRenderingContext2D,
  row: LaneRow | undefined,
  { y, width, lane }: { readonly y: number; readonly width: number; readonly lane: number },
  colour: (token: string) => string,
): void {
  if (row === undefined) return;
  context.fillStyle = colour('--line');
  context.fillRect(0, y + lane / 2, width, 1);
  const figures = `${formatCompact(row.count)} · ${formatDollars(row.dollarsPerHour)}/h`;
  context.font = '400 11px Inter, sans-serif';
  context.fillStyle = colour('--text-faint');
  context.textAlign = 'right';
  context.fillText(figures, GUTTER - 14, y);
  context.textAlign = 'left';
  const room = GUTTER - 14 - context.measureText(figures).width - 26;
  context.font = '500 12px Inter, sans-serif';
  context.fillStyle = colour('--text');
  context.fillText(cutText(context, row.cluster === '' ? 'no cluster' : row.cluster, room), 16, y);
}

const MARKS = new Map(
  KIND_NAMES.map((kind) => {
    const { solid, line } = ACTION_KINDS[kind].shape;
    return [
      kind,
      {
        solid: solid === undefined ? null : new Path2D(solid),
        line: line === undefined ? null : new Path2D(line),
      },
    ];
  }),
);

function drawMark(
  context: CanvasRenderingContext2D,
  decision: Decision,
  x: number,
  y: number,
  colour: (token: string) => string,
  isSelected: boolean,
): void {
  const mark = MARKS.get(decision.kind);
  if (mark === undefined) return;
  const paint = colour(lookOf(decision.kind).token);
  context.save();
  context.translate(x - 6, y - 6);
  // Held back: it was decided and not handed over.
  if (decision.heldBack !== '') context.globalAlpha = 0.4;
  context.fillStyle = paint;
  context.strokeStyle = paint;
  context.lineWidth = 2;
  if (mark.solid !== null) {
    context.fill(mark.solid);
    context.strokeStyle = colour('--surface');
    context.lineWidth = 0.75;
    context.stroke(mark.solid);
  }
  if (mark.line !== null) context.stroke(mark.line);
  if (isSelected) {
    context.strokeStyle = colour('--text');
    context.lineWidth = 1.5;
    context.strokeRect(-3, -3, 18, 18);
  }
  context.restore();
}

/** How many decisions a mark stands for, where that is more than a few and the number has room. */
function drawStacks(
  context: CanvasRenderingContext2D,
  stacks: ReadonlyMap<string, number>,
  paint: string,
): void {
  const points = [...stacks]
    .map(([point, count]) => {
      const [x = 0, y = 0] = point.split(',').map(Number);
      return { x, y, count };
    })
    .sort((a, b) => a.y - b.y || a.x - b.x);
  context.font = '500 10px Inter, sans-serif';
  context.fillStyle = paint;
  points.forEach(({ x, y, count }, at) => {
    const next = points[at + 1];
    const isFree = next === undefined || next.y !== y || next.x - x >= STACK_ROOM_PX;
    if (count >= MIN_STACK && isFree) context.fillText(`×${formatCount(count)}`, x + 8, y);
  });
}

function drawArrow(
  context: CanvasRenderingContext2D,
  x0: number,
  y0: number,
  x1: number,
  y1: number,
  paint: string,
): void {
  const middle = (x0 + x1) / 2;
  context.strokeStyle = paint;
  context.fillStyle = paint;
  context.lineWidth = 1.25;
  context.globalAlpha = 0.65;
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(middle, y0, middle, y1, x1 - 7, y1);
  context.stroke();
  context.globalAlpha = 1;
  context.beginPath();
  context.moveTo(x1 - 6, y1);
  context.lineTo(x1 - 12, y1 - 3.5);
  context.lineTo(x1 - 12, y1 + 3.5);
  context.fill();
}

function drawTransfers(
  context: CanvasRenderingContext2D,
  transfers: Transfers,
  x: (ms: number) => number,
  width: number,
  colour: (token: string) => string,
): void {
  context.font = '500 12px Inter, sans-serif';
  context.fillStyle = colour('--text-soft');
  context.fillText('Between shards', 16, AXIS + STRIP / 2);
  context.save();
  context.beginPath();
  context.rect(GUTTER, AXIS, width - GUTTER, STRIP);
  context.clip();
  context.font = '400 11px Inter, sans-serif';
  for (const transfer of transfers) {
    const from = x(transfer.createdMs);
    const to = Math.max(from + 4, x(transfer.updatedMs));
    context.fillStyle = colour('--sim');
    context.globalAlpha = 0.22;
    context.fillRect(from, AXIS + 6, to - from, STRIP - 12);
    context.globalAlpha = 1;
    context.fillStyle = colour('--text-soft');
    context.fillText(
      `${transfer.from} → ${transfer.to}: ${formatCount(transfer.machines)}`,
      from + 6,
      AXIS + STRIP / 2,
    );
  }
  context.restore();
}
