// Time series on canvas, by uPlot: the one place that imports it. Two lines at most (what was and what would
// have been); lines differ in dash as well as colour. The page states the figures beside the picture, so
// the canvas itself is one image to a screen reader.

import { type ReactNode, useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import './series.css';
import { formatClock, formatMoment } from '../lib/format.ts';
import { colourOf, useColourVersion } from '../lib/theme.ts';

export interface SeriesLine {
  readonly label: string;
  /** Name of a custom property. */
  readonly token: string;
  readonly values: readonly (number | null)[];
  readonly isDashed?: boolean;
}

export interface SeriesProps {
  /** Milliseconds since 1970, rising. */
  readonly atMs: readonly number[];
  readonly lines: readonly SeriesLine[];
  readonly label: string;
  readonly format: (value: number) => string;
  /** Shorter, for the axis; `format` when absent. */
  readonly formatTick?: (value: number) => string;
  readonly height?: number;
  /** A moment that is marked by a vertical line. */
  readonly markMs?: number | null;
}

export function Series(props: SeriesProps): ReactNode {
  const { atMs, lines, label, format, formatTick = format, height = 180, markMs = null } = props;
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const colours = useColourVersion();

  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const resized = new ResizeObserver(([entry]) =>
      setWidth(Math.floor(entry?.contentRect.width ?? 0)),
    );
    resized.observe(element);
    return () => resized.disconnect();
  }, []);

  useEffect(() => {
    const element = box.current;
    if (element === null || width === 0) return undefined;
    const axis: uPlot.Axis = {
      stroke: colourOf('--text-faint'),
      font: `11px ${colourOf('--font')}`,
      grid: { stroke: colourOf('--line'), width: 1 },
      ticks: { show: false },
    };
    const spanMs = (atMs.at(-1) ?? 0) - (atMs[0] ?? 0);
    const time = spanMs > 20 * 3_600_000 ? formatMoment : formatClock;
    // Minutes apart, seconds only crowd the axis; within a few of them they are what differs.
    const tick = spanMs > 5 * 60_000 ? withoutSeconds : (text: string): string => text;
    const plot = new uPlot(
      {
        width,
        height,
        padding: [8, 8, 0, 0],
        legend: { live: true },
        cursor: { y: false, points: { size: 6 } },
        scales: {
          x: { time: false },
          y: { range: (_, _min, max) => [0, max === 0 ? 1 : max * 1.08] },
        },
        axes: [
          {
            ...axis,
            space: 90,
            values: (_, splits) => splits.map((at) => tick(time(at))),
          },
          { ...axis, size: 52, values: (_, splits) => splits.map((value) => formatTick(value)) },
        ],
        series: [
          { label: 'Time', value: (_, at) => (at === null ? '–' : formatMoment(at)) },
          ...lines.map((line) => ({
            label: line.label,
            stroke: colourOf(line.token),
            width: 1.75,
            ...(line.isDashed === true && { dash: [5, 4] }),
            points: { show: false },
            value: (_: uPlot, value: number | null) => (value === null ? '–' : format(value)),
          })),
        ],
        hooks: {
          draw: [
            (drawn) => {
              const { ctx, bbox } = drawn;
              if (markMs === null) return;
              const at = Math.round(drawn.valToPos(markMs, 'x', true));
              ctx.save();
              ctx.strokeStyle = colourOf('--bad');
              ctx.lineWidth = window.devicePixelRatio * 1.5;
              ctx.beginPath();
              ctx.moveTo(at, bbox.top);
              ctx.lineTo(at, bbox.top + bbox.height);
              ctx.stroke();
              ctx.restore();
            },
          ],
        },
      },
      [[...atMs], ...lines.map((line) => [...line.values])],
      element,
    );
    return () => plot.destroy();
  }, [atMs, lines, format, formatTick, height, markMs, width, colours]);

  return <div className="series" ref={box} role="img" aria-label={label} />;
}

function withoutSeconds(text: string): string {
  return text.replace(/:\d\d$/, '');
}
