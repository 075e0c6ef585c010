// The fleet map. Two canvases: machines below, drawn when they change; pointer, focus and the short glow of
// a change above, so that a hand that moves does not draw twenty thousand cells again.

import {
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import type { CellsEvent } from '../../../src/api/stream.ts';
import { STATE_NAMES } from '../../../src/words.ts';
import { after } from '../browser.ts';
import { formatCount, formatDollars, formatPrice, formatProbability } from '../lib/format.ts';
import { lookOf } from '../parts/palette.ts';
import { Canvas, type CanvasHandle, cutText, type Draw, type Size, Tip } from './canvas.tsx';
import { FleetCells } from './fleet-cells.ts';
import { type ColourBy, rampToken, stepOf } from './fleet-colours.ts';
import {
  type Box,
  cellBox,
  type FleetLayout,
  type Head,
  isInside,
  type Leaf,
  layoutFleet,
  placeAt,
} from './fleet-layout.ts';
import { FleetPainter, type Scene } from './fleet-painter.ts';

type MapAnswer = Answer<'map'>;
/** A change glows in a few steps: a smooth fade would draw sixty pictures a second for it. */
const GLOW_STEPS = 3;
const GLOW_STEP_MS = 400;
const MAX_GLOWS = 200;

export interface FleetMapProps {
  readonly answer: MapAnswer;
  readonly colourBy: ColourBy;
  readonly zoom: readonly string[];
  readonly onZoom: (path: readonly string[]) => void;
  readonly onOpen: (machine: string) => void;
  /** Subscribes to live changes; absent for a recorded moment. */
  readonly watch: ((told: (event: CellsEvent) => void) => () => void) | null;
}

interface Spot {
  readonly x: number;
  readonly y: number;
  /** A machine, or -1 for a group. */
  readonly cell: number;
  readonly group: number;
  readonly head: Head | null;
}

export function FleetMap(props: FleetMapProps): ReactNode {
  const { answer, colourBy, zoom, onZoom, onOpen, watch } = props;
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const shape = useShape(answer);
  const layout = useMemo(
    () => layoutFleet({ groups: shape, width: size.width, height: size.height, zoom }),
    [shape, size, zoom],
  );
  const cells = useMemo(() => new FleetCells(answer), [answer]);
  const leafOf = useMemo(() => {
    const leaves = new Map<number, Leaf>();
    for (const leaf of layout.leaves) leaves.set(leaf.group, leaf);
    return leaves;
  }, [layout]);
  const base = useRef<CanvasHandle>(null);
  const over = useRef<CanvasHandle>(null);
  const glow = useGlow(over);
  const [spot, setSpot] = useState<Spot | null>(null);
  const [focus, setFocus] = useState<number | null>(null);

  const painter = useMemo(() => new FleetPainter(), []);
  const scene = useRef<Scene>({ cells, layout, colourBy, atMs: answer.frame.atMs });
  const shown = useRef(answer);
  const drawBase = useCallback<Draw>(
    (context, _, colour) => {
      scene.current = { ...scene.current, layout, colourBy };
      drawHeads(context, layout, colour);
      if (scene.current.cells.count > 0) painter.paint(context, scene.current, colour);
      else drawGroups(context, { answer: shown.current, layout, colourBy, colour });
    },
    [layout, colourBy, painter],
  );
  const refresh = useCallback(() => {
    if (scene.current.cells.count === 0 || !painter.canRepaint(scene.current)) {
      base.current?.redraw();
      return;
    }
    base.current?.patch((context, _, colour) => painter.repaint(context, scene.current, colour));
  }, [painter]);
  useEffect(() => {
    shown.current = answer;
    scene.current = { cells, layout, colourBy, atMs: answer.frame.atMs };
    refresh();
  }, [answer, cells, layout, colourBy, refresh]);
  useEffect(() => {
    if (watch === null) return undefined;
    return watch((event) => {
      const touched = cells.apply(event);
      if (touched.length === 0) return;
      for (const index of touched) glow.add(cells.machine[index] ?? '');
      refresh();
    });
  }, [watch, cells, glow, refresh]);

  const boxOf = useCallback(
    (index: number): Box | null => {
      const group = cells.groupOf(index);
      const leaf = leafOf.get(group);
      return leaf === undefined ? null : cellBox(leaf, index - (cells.start[group] ?? 0));
    },
    [cells, leafOf],
  );

  const drawOver = useCallback<Draw>(
    (context, _, colour) => {
      for (const [machine, left] of glow.lit) {
        const box = boxOf(cells.indexOf(machine));
        if (box === null || cells.indexOf(machine) < 0) continue;
        const grown = 1 + left;
        context.globalAlpha = left / GLOW_STEPS;
        context.strokeStyle = colour('--text');
        context.lineWidth = 2;
        context.strokeRect(
          box.x - grown,
          box.y - grown,
          box.width + 2 * grown,
          box.height + 2 * grown,
        );
      }
      context.globalAlpha = 1;
      if (spot?.head) outline(context, spot.head, colour('--accent'), 1.5);
      const marked = spot !== null && spot.cell >= 0 ? spot.cell : focus;
      if (marked !== null && marked >= 0) {
        const box = boxOf(marked);
        if (box !== null) outline(context, box, colour('--text'), 2);
      }
    },
    [boxOf, cells, glow, spot, focus],
  );

  const find = (x: number, y: number): Spot | null => {
    const leaf = layout.leaves.find((candidate) => isInside(candidate, x, y));
    if (leaf !== undefined && cells.count > 0) {
      const place = placeAt(leaf, x, y, cells.countOf(leaf.group));
      if (place >= 0) {
        return {
          x,
          y,
          cell: (cells.start[leaf.group] ?? 0) + place,
          group: leaf.group,
          head: null,
        };
      }
    }
    // The innermost frame under the pointer; frames come parents first.
    const head = layout.heads.findLast((candidate) => isInside(candidate, x, y)) ?? null;
    if (head === null) return null;
    return { x, y, cell: -1, group: leaf?.group ?? -1, head };
  };

  const step = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && focus !== null) {
      const machine = cells.machine[focus];
      if (machine !== undefined) onOpen(machine);
      return;
    }
    const next = neighbour(event.key, focus, cells, boxOf, find);
    if (next === null) return;
    event.preventDefault();
    setFocus(next);
  };

  const pointed = spot ?? (focus === null ? null : spotOf(focus, boxOf));
  return (
    <div className="chart-box fleet-map">
      <div className="fleet-layer" aria-hidden="true">
        <Canvas draw={drawBase} label="Machines" handle={base} onSize={setSize} />
      </div>
      <Canvas
        draw={drawOver}
        handle={over}
        className="fleet-over"
        cursor={spot === null ? 'default' : 'pointer'}
        label={`Fleet map of ${formatCount(answer.total)} machines. Arrow keys walk the machines, Enter explains one. The same facts stand in the table view.`}
        onMove={(x, y) => setSpot(find(x, y))}
        onLeave={() => setSpot(null)}
        onUp={(x, y) => {
          const found = find(x, y);
          if (found === null) return;
          if (found.cell >= 0) onOpen(cells.machine[found.cell] ?? '');
          else if (found.head !== null) onZoom(found.head.path);
        }}
        onKeyDown={step}
        onFocus={() =>
          setFocus((before) => before ?? (cells.count > 0 ? firstShown(layout, cells) : null))
        }
        onBlur={() => setFocus(null)}
      />
      <Tip at={pointed}>
        {pointed === null ? null : <SpotText spot={pointed} cells={cells} answer={answer} />}
      </Tip>
      <p className="visually-hidden" role="status">
        {focus === null ? '' : sayCell(cells, focus)}
      </p>
    </div>
  );
}

/** Groups and counts by value: an answer that changes only states keeps its layout. */
function useShape(answer: MapAnswer): MapAnswer['groups'] {
  const key = answer.groups
    .map((group) => `${group.path.join('\u0000')}\u0001${group.count}`)
    .join('\n');
  const kept = useRef({ key: '', groups: answer.groups });
  // Only ever replaced by an equal-keyed value's successor, so a render that is thrown away does no harm.
  if (kept.current.key !== key) kept.current = { key, groups: answer.groups };
  return kept.current.groups;
}

interface Glow {
  readonly lit: ReadonlyMap<string, number>;
  add(machine: string): void;
}

/** Machines that just changed, with the steps that they still glow. */
function useGlow(over: React.RefObject<CanvasHandle | null>): Glow {
  const glow = useMemo(() => {
    const lit = new Map<string, number>();
    const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
    let cancel: (() => void) | null = null;
    const fade = (): void => {
      cancel = null;
      for (const [machine, left] of lit) {
        if (left <= 1) lit.delete(machine);
        else lit.set(machine, left - 1);
      }
      over.current?.redraw();
      if (lit.size > 0) cancel = after(GLOW_STEP_MS, fade);
    };
    return {
      lit,
      add: (machine: string) => {
        if (isStill || lit.size >= MAX_GLOWS) return;
        lit.set(machine, GLOW_STEPS);
        over.current?.redraw();
        cancel ??= after(GLOW_STEP_MS, fade);
      },
      stop: () => cancel?.(),
    };
  }, [over]);
  useEffect(() => () => glow.stop(), [glow]);
  return glow;
}

function drawHeads(
  context: CanvasRenderingContext2D,
  layout: FleetLayout,
  colour: (token: string) => string,
): void {
  context.textBaseline = 'middle';
  for (const head of layout.heads) {
    context.fillStyle = colour(head.depth % 2 === 1 ? '--surface' : '--sunken');
    context.strokeStyle = colour(head.depth <= 1 ? '--line-strong' : '--line');
    context.lineWidth = 1;
    context.beginPath();
    context.roundRect(head.x + 0.5, head.y + 0.5, head.width - 1, head.height - 1, 4);
    context.fill();
    context.stroke();
    if (!head.hasLabel) continue;
    context.font = `${head.depth <= 1 ? 600 : 500} 11px Inter, sans-serif`;
    context.fillStyle = colour(head.depth <= 1 ? '--text' : '--text-soft');
    const room = head.width - 12;
    const name = cutText(context, head.label, room);
    context.fillText(name, head.x + 6, head.y + 9.5);
    const used = context.measureText(name).width;
    const count = formatCount(head.count);
    context.font = '400 11px Inter, sans-serif';
    if (used + 10 + context.measureText(count).width < room) {
      context.fillStyle = colour('--text-faint');
      context.fillText(count, head.x + 6 + used + 8, head.y + 9.5);
    }
  }
}

/** Above the limit of cells: each group as one small stacked bar. */
function drawGroups(
  context: CanvasRenderingContext2D,
  picture: {
    readonly answer: MapAnswer;
    readonly layout: FleetLayout;
    readonly colourBy: ColourBy;
    readonly colour: (token: string) => string;
  },
): void {
  const { answer, layout, colourBy, colour } = picture;
  for (const leaf of layout.leaves) {
    const group = answer.groups[leaf.group];
    if (group === undefined || group.count === 0) continue;
    if (colourBy === 'cost' || colourBy === 'risk') {
      const value = colourBy === 'cost' ? group.dollarsPerHour / group.count : group.meanRisk;
      context.fillStyle = colour(rampToken(stepOf(colourBy, value)));
      context.fillRect(leaf.x, leaf.y, leaf.width, leaf.height);
      continue;
    }
    let x = leaf.x;
    group.byState.forEach((count, state) => {
      const width = (leaf.width * count) / group.count;
      context.fillStyle = colour(lookOf(STATE_NAMES[state] ?? '').token);
      context.fillRect(x, leaf.y, width, leaf.height);
      x += width;
    });
  }
}

function outline(context: CanvasRenderingContext2D, box: Box, paint: string, width: number): void {
  context.strokeStyle = paint;
  context.lineWidth = width;
  context.strokeRect(box.x - 0.5, box.y - 0.5, box.width + 1, box.height + 1);
}

function firstShown(layout: FleetLayout, cells: FleetCells): number | null {
  const leaf = layout.leaves[0];
  return leaf === undefined ? null : (cells.start[leaf.group] ?? 0);
}

const DIRECTIONS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
/** Wide enough to step over frames and headings between two groups. */
const MAX_STEP_PX = 120;

/** The machine in a direction, over the borders of groups. */
function neighbour(
  key: string,
  from: number | null,
  cells: FleetCells,
  boxOf: (index: number) => Box | null,
  find: (x: number, y: number) => Spot | null,
): number | null {
  const direction = DIRECTIONS[key];
  if (direction === undefined || cells.count === 0) return null;
  const box = from === null ? null : boxOf(from);
  if (box === null || from === null) return 0;
  const [dx, dy] = direction;
  const half = (dx === 0 ? box.height : box.width) / 2;
  for (let walked = half + 1.5; walked < half + MAX_STEP_PX; walked += 2) {
    const x = box.x + box.width / 2 + dx * walked;
    const y = box.y + box.height / 2 + dy * walked;
    const found = find(x, y);
    if (found !== null && found.cell >= 0 && found.cell !== from) return found.cell;
  }
  return from;
}

function spotOf(index: number, boxOf: (index: number) => Box | null): Spot | null {
  const box = boxOf(index);
  return box === null
    ? null
    : { x: box.x + box.width, y: box.y + box.height, cell: index, group: -1, head: null };
}

function sayCell(cells: FleetCells, index: number): string {
  const cluster = cells.clusterName(index);
  return `${cells.machine[index] ?? ''}, ${cells.stateName(index)}, ${cluster === '' ? 'no cluster' : cluster}, ${formatPrice(cells.dollarsPerHour[index] ?? 0)} per hour`;
}

function SpotText({
  spot,
  cells,
  answer,
}: {
  readonly spot: Spot;
  readonly cells: FleetCells;
  readonly answer: MapAnswer;
}): ReactNode {
  if (spot.cell >= 0) {
    const cluster = cells.clusterName(spot.cell);
    return (
      <>
        <strong className="mono">{cells.machine[spot.cell]}</strong>
        <div>
          {cells.stateName(spot.cell)} · {cluster === '' ? 'no cluster' : cluster}
        </div>
        <div className="num soft">
          {formatPrice(cells.dollarsPerHour[spot.cell] ?? 0)}/h · interruption probability{' '}
          {formatProbability(cells.risk[spot.cell] ?? 0)}
        </div>
      </>
    );
  }
  if (spot.head === null) return null;
  const inside = answer.groups.filter((group) =>
    spot.head?.path.every((part, at) => group.path[at] === part),
  );
  const dollars = inside.reduce((sum, group) => sum + group.dollarsPerHour, 0);
  const byState = STATE_NAMES.map((name, state) => ({
    name,
    count: inside.reduce((sum, group) => sum + (group.byState[state] ?? 0), 0),
  })).filter((row) => row.count > 0);
  return (
    <>
      <strong>{spot.head.path.filter((part) => part !== '').join(' › ')}</strong>
      <div className="num">
        {formatCount(spot.head.count)} machines · {formatDollars(dollars)}/h
      </div>
      {byState.map((row) => (
        <div key={row.name} className="row soft">
          <span className="swatch" style={{ background: `var(${lookOf(row.name).token})` }} />
          {row.name} <span className="num">{formatCount(row.count)}</span>
        </div>
      ))}
    </>
  );
}
