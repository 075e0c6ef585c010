// The cost scatter: one dot per group of machines, x its price, y its expected loss by interruption. Lines
// join prices and losses that cost the same, so that a dot beyond a line is dearer than every dot before
// it, whatever it is made of. Drawn on canvas in one pass; the page keeps the same dots in a table for
// readers who see no picture.

import { type KeyboardEvent, type ReactNode, useCallback, useMemo, useState } from 'react';
import type { CapacityName } from '../../../src/words.ts';
import { formatPrice } from '../lib/format.ts';
import { CAPACITY_TYPES } from '../parts/palette.ts';
import { Canvas, type Draw, type Size, Tip } from './canvas.tsx';
import {
  type Dot,
  dotAt,
  dotRadius,
  equalCostLevels,
  equalCostLine,
  type MoneyScale,
  moneyScale,
} from './scatter-scale.ts';

export interface ScatterDot {
  readonly key: string;
  readonly price: number;
  /** Null is infinite: work that must not be interrupted, on capacity that can be. */
  readonly loss: number | null;
  readonly count: number;
  readonly capacityType: CapacityName;
  readonly isFlagged: boolean;
  readonly label: string;
}

export interface ScatterProps {
  readonly dots: readonly ScatterDot[];
  readonly label: string;
  /** What is told about the dot under the pointer or the keyboard. */
  readonly describe: (index: number) => ReactNode;
  readonly onOpen: (index: number) => void;
}

const HEIGHT = 400;
const MARGIN = { top: 14, right: 18, bottom: 42, left: 74 };
/** Above the plot: losses without bound. */
const INFINITE_BAND = 34;
/** Before 0 on both axes, where much stands (what is never lost, what is free): no mark may hide a tick. */
const FLOOR = 24;
const REACH = 8;

interface Layout {
  readonly width: number;
  readonly x: MoneyScale;
  readonly y: MoneyScale;
  readonly placed: readonly Dot[];
  /** From the largest to the smallest, so that small dots stay on top. */
  readonly order: readonly number[];
  /** By effective cost, for the keyboard; infinite last. */
  readonly walk: readonly number[];
  readonly plot: {
    readonly left: number;
    readonly right: number;
    readonly top: number;
    readonly bottom: number;
  };
  readonly hasInfinite: boolean;
}

function layOut(dots: readonly ScatterDot[], width: number): Layout {
  const x = moneyScale(dots.map((dot) => dot.price));
  const y = moneyScale(dots.map((dot) => dot.loss ?? 0));
  const hasInfinite = dots.some((dot) => dot.loss === null);
  const plot = {
    left: MARGIN.left + FLOOR,
    right: width - MARGIN.right,
    top: MARGIN.top + (hasInfinite ? INFINITE_BAND : 0),
    bottom: HEIGHT - MARGIN.bottom - FLOOR,
  };
  const largest = dots.reduce((most, dot) => Math.max(most, dot.count), 1);
  const placed = dots.map((dot) => ({
    x: plot.left + x.place(dot.price) * (plot.right - plot.left),
    y:
      dot.loss === null
        ? MARGIN.top + INFINITE_BAND / 2
        : plot.bottom - y.place(dot.loss) * (plot.bottom - plot.top),
    radius: dotRadius(dot.count, largest),
  }));
  const indices = dots.map((_, index) => index);
  const cost = (index: number): number => {
    const dot = dots[index];
    return dot === undefined || dot.loss === null ? Infinity : dot.price + dot.loss;
  };
  return {
    width,
    x,
    y,
    placed,
    order: indices.toSorted((a, b) => (placed[b]?.radius ?? 0) - (placed[a]?.radius ?? 0)),
    walk: indices.toSorted((a, b) => (cost(a) === cost(b) ? a - b : cost(a) - cost(b))),
    plot,
    hasInfinite,
  };
}

export function Scatter({ dots, label, describe, onOpen }: ScatterProps): ReactNode {
  const [width, setWidth] = useState(640);
  // Dots come and go with every answer: the one in hand is remembered by its key.
  const [active, setActive] = useState<string | null>(null);
  const layout = useMemo(() => layOut(dots, width), [dots, width]);
  const index = active === null ? -1 : dots.findIndex((dot) => dot.key === active);
  const draw = useCallback<Draw>(
    (context, _, colour) => drawScatter(context, dots, layout, index, colour),
    [dots, layout, index],
  );
  const onSize = useCallback((size: Size) => setWidth(Math.max(320, size.width)), []);
  const walk = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && index >= 0) return onOpen(index);
    if (event.key === 'Escape') return setActive(null);
    const step = STEPS[event.key];
    if (step === undefined || dots.length === 0) return undefined;
    event.preventDefault();
    const at = layout.walk.indexOf(index);
    const last = layout.walk.length - 1;
    const next = at < 0 ? 0 : Math.min(last, Math.max(0, at + step));
    return setActive(dots[layout.walk[next] ?? 0]?.key ?? null);
  };
  const under = (x: number, y: number): number => dotAt(layout.placed, x, y, REACH);
  return (
    <div className="chart-box scatter">
      <Canvas
        draw={draw}
        label={`${label}. Arrow keys go from the cheapest to the dearest, Enter opens the machines.`}
        cursor={index >= 0 ? 'pointer' : 'default'}
        onSize={onSize}
        onMove={(x, y) => setActive(dots[under(x, y)]?.key ?? null)}
        onLeave={() => setActive(null)}
        onUp={(x, y) => {
          const hit = under(x, y);
          if (hit >= 0) onOpen(hit);
        }}
        onKeyDown={walk}
        onBlur={() => setActive(null)}
      />
      <div aria-live="polite" className="visually-hidden">
        {dots[index]?.label ?? ''}
      </div>
      <Tip at={layout.placed[index] ?? null}>{index < 0 ? null : describe(index)}</Tip>
    </div>
  );
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowRight: 1,
  ArrowDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: -1e9,
  End: 1e9,
};

function drawScatter(
  context: CanvasRenderingContext2D,
  dots: readonly ScatterDot[],
  layout: Layout,
  active: number,
  token: Token,
): void {
  context.font = `11px ${token('--font')}`;
  drawAxes(context, layout, token);
  const chosen = dots[active];
  const cost = chosen === undefined || chosen.loss === null ? null : chosen.price + chosen.loss;
  if (cost !== null) drawEqualCost(context, layout, cost, token('--accent'), true);
  for (const index of layout.order) {
    const dot = dots[index];
    const placed = layout.placed[index];
    if (dot === undefined || placed === undefined) continue;
    drawDot(context, dot, placed, token, index === active);
  }
  if (cost !== null) drawCost(context, layout, cost, token);
}

type Token = (name: string) => string;

function drawAxes(context: CanvasRenderingContext2D, layout: Layout, token: Token): void {
  const { plot, x, y } = layout;
  context.lineWidth = 1;
  context.strokeStyle = token('--line');
  context.fillStyle = token('--text-faint');
  context.textAlign = 'center';
  context.textBaseline = 'top';
  for (const tick of x.ticks) {
    const at = Math.round(plot.left + x.place(tick) * (plot.right - plot.left)) + 0.5;
    line(context, at, plot.top, at, plot.bottom + FLOOR);
    context.fillText(tickText(tick), at, plot.bottom + FLOOR + 6);
  }
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  for (const tick of y.ticks) {
    const at = Math.round(plot.bottom - y.place(tick) * (plot.bottom - plot.top)) + 0.5;
    line(context, plot.left - FLOOR, at, plot.right, at);
    context.fillText(tickText(tick), plot.left - FLOOR - 8, at);
  }
  drawCorners(context, layout, token);
  for (const level of equalCostLevels(x, y)) {
    drawEqualCost(context, layout, level, token('--line-strong'), false);
  }
  if (layout.hasInfinite) {
    context.fillStyle = token('--bad-soft');
    context.fillRect(
      plot.left - FLOOR,
      MARGIN.top,
      plot.right - plot.left + FLOOR,
      INFINITE_BAND - 4,
    );
    context.fillStyle = token('--bad');
    context.textAlign = 'right';
    context.fillText('no limit', plot.left - FLOOR - 8, MARGIN.top + INFINITE_BAND / 2 - 2);
  }
  context.fillStyle = token('--text-soft');
  context.textAlign = 'center';
  context.textBaseline = 'bottom';
  context.fillText('price of one machine, $ per hour', (plot.left + plot.right) / 2, HEIGHT - 4);
  context.save();
  context.translate(9, (plot.top + plot.bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.textBaseline = 'middle';
  context.fillText('expected loss of one machine, $ per hour', 0, 0);
  context.restore();
}

/** What a corner means, so that a reader need not work it out from two axes. */
function drawCorners(context: CanvasRenderingContext2D, { plot }: Layout, token: Token): void {
  context.fillStyle = token('--text-faint');
  context.textBaseline = 'top';
  context.textAlign = 'right';
  context.fillText('dear, and often lost', plot.right - 8, plot.top + 14);
  context.textBaseline = 'bottom';
  context.fillText('dear, and safe', plot.right - 8, plot.bottom - 24);
}

function drawEqualCost(
  context: CanvasRenderingContext2D,
  { plot, x, y }: Layout,
  effectiveCost: number,
  colour: string,
  isChosen: boolean,
): void {
  context.save();
  context.beginPath();
  context.rect(plot.left, plot.top, plot.right - plot.left, plot.bottom - plot.top);
  context.clip();
  context.strokeStyle = colour;
  context.lineWidth = isChosen ? 1.5 : 1;
  context.setLineDash(isChosen ? [] : [3, 4]);
  context.beginPath();
  for (const [index, [placeX, placeY]] of equalCostLine(effectiveCost, x, y).entries()) {
    const atX = plot.left + placeX * (plot.right - plot.left);
    const atY = plot.bottom - placeY * (plot.bottom - plot.top);
    if (index === 0) context.moveTo(atX, atY);
    else context.lineTo(atX, atY);
  }
  context.stroke();
  context.restore();
}

/** Where the chosen line meets the axis: what every dot on it costs. */
function drawCost(
  context: CanvasRenderingContext2D,
  { plot, x }: Layout,
  effectiveCost: number,
  token: Token,
): void {
  const text = `${formatPrice(effectiveCost)}/h effective`;
  const end = plot.left + x.place(effectiveCost) * (plot.right - plot.left);
  const wide = context.measureText(text).width + 10;
  const left = Math.min(Math.max(plot.left, end - wide / 2), plot.right - wide);
  const top = plot.bottom + FLOOR + 3;
  context.fillStyle = token('--accent');
  context.fillRect(left, top, wide, 17);
  context.fillStyle = token('--on-accent');
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.fillText(text, left + 5, top + 9);
}

const paths = new Map<string, Path2D>();

function pathOf(shape: string): Path2D {
  const known = paths.get(shape);
  if (known !== undefined) return known;
  const made = new Path2D(shape);
  paths.set(shape, made);
  return made;
}

function drawDot(
  context: CanvasRenderingContext2D,
  dot: ScatterDot,
  { x, y, radius }: Dot,
  token: Token,
  isActive: boolean,
): void {
  const look = CAPACITY_TYPES[dot.capacityType];
  const path = pathOf(look.shape.solid ?? look.shape.line ?? '');
  // Shapes fill about nine of their twelve units.
  const scale = (radius * 2) / 9.5;
  context.save();
  context.translate(x - 6 * scale, y - 6 * scale);
  context.scale(scale, scale);
  context.globalAlpha = isActive ? 1 : 0.62;
  context.fillStyle = token(look.token);
  context.fill(path);
  context.globalAlpha = 1;
  context.lineWidth = (isActive ? 2 : 1) / scale;
  context.strokeStyle = isActive ? token('--text') : token(look.token);
  context.stroke(path);
  context.restore();
  if (!dot.isFlagged) return;
  context.beginPath();
  context.arc(x, y, radius + 4, 0, Math.PI * 2);
  context.lineWidth = 1.75;
  context.strokeStyle = token('--bad');
  context.stroke();
}

function line(
  context: CanvasRenderingContext2D,
  x1: number,
  y1: number,
  x2: number,
  y2: number,
): void {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

function tickText(tick: number): string {
  return tick === 0 ? '$0' : tick < 0.01 ? `$${tick}` : formatPrice(tick).replace(/\.00$/, '');
}
