// The calibration curve of one provider: declared against observed interruptions per machine-hour. On the
// diagonal a promise holds; a dot is as large as the machine-hours behind it, its bar is what chance allows.

import type { ReactNode } from 'react';
import { formatCompact, formatPercent } from '../lib/format.ts';
import {
  type CalibrationPoint,
  type CalibrationRow,
  calibrationPoints,
  ENOUGH_HOURS,
  rateTicks,
} from './providers-calibration.ts';

const WIDTH = 320;
const HEIGHT = 216;
const BOX = { left: 54, right: 298, top: 10, bottom: 176 };

export function CalibrationCurve({
  rows,
}: {
  readonly rows: readonly CalibrationRow[];
}): ReactNode {
  const points = calibrationPoints(rows);
  if (points.length === 0) {
    const hours = rows.reduce((sum, { machineHours }) => sum + machineHours, 0);
    return (
      <p className="faint">
        {hours === 0
          ? 'No machine-hours on capacity that can be interrupted yet.'
          : `Too little seen: ${hours.toFixed(1)} machine-hours, and a rate wants ${ENOUGH_HOURS} of one declared probability.`}
      </p>
    );
  }
  const top = Math.max(...points.map((point) => Math.max(point.promisedRate, point.observedRate)));
  // A bar of chance may leave the picture; a dot may not.
  const ticks = rateTicks(top * 1.1);
  const end = ticks.at(-1) ?? 1;
  const x = (rate: number): number => BOX.left + (rate / end) * (BOX.right - BOX.left);
  const y = (rate: number): number =>
    BOX.bottom - (Math.min(rate, end) / end) * (BOX.bottom - BOX.top);
  return (
    <svg
      className="calibration"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Calibration: ${points.map(sentenceOf).join('; ')}`}
    >
      {ticks.map((tick) => (
        <g key={tick}>
          <line
            className="calibration-grid"
            x1={BOX.left}
            x2={BOX.right}
            y1={y(tick)}
            y2={y(tick)}
          />
          <text x={BOX.left - 6} y={y(tick) + 3} textAnchor="end">
            {rateText(tick)}
          </text>
          <text x={x(tick)} y={BOX.bottom + 14} textAnchor="middle">
            {rateText(tick)}
          </text>
        </g>
      ))}
      <line className="calibration-promise" x1={x(0)} y1={y(0)} x2={x(end)} y2={y(end)} />
      {points.map((point) => (
        <line
          key={point.declared}
          className="calibration-range"
          x1={x(point.promisedRate)}
          x2={x(point.promisedRate)}
          y1={y(point.lowRate)}
          y2={y(point.highRate)}
        />
      ))}
      {points.map((point) => (
        <circle
          key={point.declared}
          className={point.isBroken ? 'calibration-dot calibration-bad' : 'calibration-dot'}
          cx={x(point.promisedRate)}
          cy={y(point.observedRate)}
          r={3 + Math.min(9, Math.log10(1 + point.machineHours) * 1.8)}
        >
          <title>{sentenceOf(point)}</title>
        </circle>
      ))}
      <text
        className="calibration-axis"
        x={(BOX.left + BOX.right) / 2}
        y={HEIGHT - 6}
        textAnchor="middle"
      >
        declared, interruptions per machine-hour
      </text>
      <text
        className="calibration-axis"
        transform={`translate(8 ${(BOX.top + BOX.bottom) / 2}) rotate(-90)`}
        textAnchor="middle"
      >
        observed
      </text>
    </svg>
  );
}

function rateText(rate: number): string {
  return rate === 0 ? '0' : formatPercent(rate);
}

function sentenceOf(point: CalibrationPoint): string {
  const hours = formatCompact(point.machineHours);
  const verdict = point.isBroken ? ': not explained by chance' : '';
  return `declared ${rateText(point.promisedRate)}, observed ${rateText(point.observedRate)} (${point.observed} in ${hours} machine-hours, ${point.expected.toFixed(1)} expected)${verdict}`;
}
