// The answer of a what-if: when it breaks first, both runs side by side, their course over time, and the
// decisions that differ.

import { type ReactNode, useMemo } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import { Series, type SeriesLine } from '../charts/series.tsx';
import {
  formatCompact,
  formatChange,
  formatCount,
  formatDollars,
  formatDuration,
  formatMoment,
  formatPercent,
  isMaterial,
  plural,
} from '../lib/format.ts';
import { To } from '../nav/link.tsx';
import { Card, type Column, lookOf, Mark, Stat, Table, When } from '../parts/index.ts';
import { needName } from './need-name.ts';

type Result = NonNullable<Answer<'whatif'>['result']>;
type Side = Result['baseline'];
type Difference = Result['differences'][number];

export function WhatIfResult({
  result,
  question,
}: {
  readonly result: Result;
  /** What was asked, in words. */
  readonly question: string;
}): ReactNode {
  return (
    <>
      <Breaks result={result} question={question} />
      <Course result={result} />
      <Card
        title="Side by side"
        note={
          <>
            {plural(result.cycles, 'cycle')} of demand, <When atMs={result.fromMs} absolute /> to{' '}
            <When atMs={result.toMs} absolute />
          </>
        }
        isFlush
      >
        <Sides result={result} />
      </Card>
      <Honesty result={result} />
      <Card
        title={`Decisions that differ: ${formatCount(result.differences.length)}`}
        note="The first ones; later ones follow from them."
        isFlush
      >
        <Table
          label="Decisions that differ"
          noun="differences"
          rows={result.differences}
          columns={DIFFERENCE_COLUMNS}
          rowKey={(difference) => `${difference.atMs}\n${difference.text}`}
          maxHeight="420px"
        />
      </Card>
    </>
  );
}

const DIFFERENCE_COLUMNS: readonly Column<Difference>[] = [
  {
    id: 'at',
    title: 'When',
    width: '170px',
    cell: ({ atMs }) => <When atMs={atMs} absolute />,
    compare: (a, b) => a.atMs - b.atMs,
  },
  {
    id: 'text',
    title: 'What differs',
    width: 'minmax(300px, 1fr)',
    cell: ({ text }) => (
      <span className="cut" title={text}>
        {text}
      </span>
    ),
  },
];

/** The answer in one look: whether it holds, and what it costs. */
function Breaks({
  result,
  question,
}: {
  readonly result: Result;
  readonly question: string;
}): ReactNode {
  const { breaks, fromMs, toMs, baseline, changed } = result;
  return (
    <section className={breaks === null ? 'breaks' : 'breaks breaks-broken'} role="status">
      <p className="breaks-question">{question}</p>
      {breaks === null ? (
        <>
          <p className="breaks-word">It holds</p>
          <p className="soft">
            Nothing above the batch tier stays unmet that was met without the changes.
          </p>
        </>
      ) : (
        <>
          <p className="breaks-word">
            It breaks on {formatMoment(breaks.atMs)}, {formatDuration(breaks.atMs - fromMs)} in
          </p>
          <p>
            <Mark name={breaks.tier} /> need{' '}
            <To
              page="explain"
              search={{
                cluster: breaks.need.cluster,
                fingerprint: breaks.need.fingerprint,
                group: breaks.need.group,
              }}
            >
              {breaks.need.cluster}, {needName(breaks.need.fingerprint)}
            </To>{' '}
            stays unmet, which it does not without the changes: {breaks.reasonText}
          </p>
        </>
      )}
      <div className="stats breaks-figures">
        <Shift
          label="Cost"
          before={baseline.dollars}
          after={changed.dollars}
          format={formatDollars}
        />
        <Shift
          label="Mean per hour"
          before={baseline.dollarsPerHour.mean}
          after={changed.dollarsPerHour.mean}
          format={formatDollars}
        />
        <Shift
          label="Time unmet above batch"
          before={unmetMs(baseline)}
          after={unmetMs(changed)}
          format={formatDuration}
        />
        <Shift
          label="Machines that changed cluster"
          before={baseline.movedMachines}
          after={changed.movedMachines}
          format={formatCount}
          isNeutral
        />
      </div>
      <p className="faint">
        over {formatDuration(toMs - fromMs)} of recorded demand, <When atMs={fromMs} absolute /> to{' '}
        <When atMs={toMs} absolute />
      </p>
    </section>
  );
}

function unmetMs(side: Side): number {
  return side.unmet
    .filter(({ tier }) => tier !== 'batch')
    .reduce((sum, { needSeconds }) => sum + needSeconds * 1_000, 0);
}

/** A figure with the changes, and how far that is from the one without them. */
function Shift({
  label,
  before,
  after,
  format,
  isNeutral = false,
}: {
  readonly label: string;
  readonly before: number;
  readonly after: number;
  readonly format: (value: number) => string;
  readonly isNeutral?: boolean;
}): ReactNode {
  const change = formatChange(before, after, format);
  const isLoud = !isNeutral && change !== '' && isMaterial(before, after);
  return (
    <Stat
      label={label}
      value={format(after)}
      tone={isLoud ? (after > before ? 'bad' : 'good') : 'neutral'}
      note={change === '' ? 'the same' : `${change}, was ${format(before)}`}
    />
  );
}

interface Line {
  readonly name: string;
  readonly label: ReactNode;
  readonly before: number;
  readonly after: number;
  readonly format: (value: number) => string;
  /** More of it is worse; undefined when it is neither. */
  readonly isWorse?: boolean;
}

interface Group {
  readonly title: string;
  readonly lines: readonly Line[];
}

function groupsOf(baseline: Side, changed: Side): readonly Group[] {
  const money = (name: string, before: number, after: number): Line => ({
    name,
    label: name,
    before,
    after,
    format: formatDollars,
    isWorse: true,
  });
  return [
    {
      title: 'Cost',
      lines: [
        money('Together', baseline.dollars, changed.dollars),
        money('Mean $/h', baseline.dollarsPerHour.mean, changed.dollarsPerHour.mean),
        money('Median $/h', baseline.dollarsPerHour.p50, changed.dollarsPerHour.p50),
        money('Highest $/h', baseline.dollarsPerHour.max, changed.dollarsPerHour.max),
      ],
    },
    {
      title: 'By capacity type',
      lines: namesOf(baseline.byCapacityType, changed.byCapacityType).flatMap((name) => {
        const before = baseline.byCapacityType.find((each) => each.name === name);
        const after = changed.byCapacityType.find((each) => each.name === name);
        return [
          {
            ...money(`${name} $`, before?.dollars ?? 0, after?.dollars ?? 0),
            label: <Mark name={name} />,
          },
          {
            name: `${name} hours`,
            label: <span className="faint">machine-hours {lookOf(name).label.toLowerCase()}</span>,
            before: before?.machineHours ?? 0,
            after: after?.machineHours ?? 0,
            format: formatCount,
          },
        ];
      }),
    },
    {
      title: 'Unmet demand',
      lines: baseline.unmet.flatMap(({ tier, rows, needSeconds, worstMs }) => {
        const after = changed.unmet.find((each) => each.tier === tier);
        return [
          {
            name: `${tier} rows`,
            label: (
              <>
                <Mark name={tier} /> <span className="faint">needs ever unmet</span>
              </>
            ),
            before: rows,
            after: after?.rows ?? 0,
            format: formatCount,
            isWorse: true,
          },
          {
            name: `${tier} time`,
            label: <span className="faint">time unmet, of all needs together</span>,
            before: needSeconds * 1_000,
            after: (after?.needSeconds ?? 0) * 1_000,
            format: formatDuration,
            isWorse: true,
          },
          {
            name: `${tier} worst`,
            label: <span className="faint">longest wait of one</span>,
            before: worstMs,
            after: after?.worstMs ?? 0,
            format: formatDuration,
            isWorse: true,
          },
        ];
      }),
    },
    {
      title: 'Churn',
      lines: [
        ...baseline.churn.map(({ kind, count }) => ({
          name: kind,
          label: <Mark name={kind} />,
          before: count,
          after: changed.churn.find((each) => each.kind === kind)?.count ?? 0,
          format: formatCount,
        })),
        {
          name: 'moved',
          label: 'Machines that changed cluster',
          before: baseline.movedMachines,
          after: changed.movedMachines,
          format: formatCount,
        },
      ],
    },
  ];
}

function namesOf(
  a: readonly { readonly name: string }[],
  b: readonly { readonly name: string }[],
): readonly string[] {
  return [...new Set([...a, ...b].map(({ name }) => name))];
}

function Sides({ result }: { readonly result: Result }): ReactNode {
  const groups = groupsOf(result.baseline, result.changed);
  return (
    <table className="sides">
      <caption className="visually-hidden">
        The recorded demand without and with the changes
      </caption>
      <thead>
        <tr>
          <th scope="col">
            <span className="visually-hidden">Figure</span>
          </th>
          <th scope="col">without the changes</th>
          <th scope="col">with them</th>
          <th scope="col">difference</th>
        </tr>
      </thead>
      {groups.map(({ title, lines }) => (
        <tbody key={title}>
          <tr className="sides-group">
            <th scope="colgroup" colSpan={4}>
              {title}
            </th>
          </tr>
          {lines.map((line) => (
            <SideLine key={line.name} line={line} />
          ))}
        </tbody>
      ))}
    </table>
  );
}

function SideLine({ line }: { readonly line: Line }): ReactNode {
  const { label, before, after, format, isWorse } = line;
  const change = formatChange(before, after, format);
  const isLoud = isWorse !== undefined && change !== '' && isMaterial(before, after);
  return (
    <tr>
      <th scope="row">{label}</th>
      <td>{format(before)}</td>
      <td>{format(after)}</td>
      <td className={isLoud ? (after > before ? 'worse' : 'better') : undefined}>
        {change === '' ? <span className="faint">same</span> : change}
      </td>
    </tr>
  );
}

const dollarsText = (value: number): string => `${formatDollars(value)}/h`;
const dollarsTick = (value: number): string => `$${formatCompact(value)}`;
/** Nobody has half a machine: lines between whole numbers bear none. */
const countTick = (value: number): string => (Number.isInteger(value) ? formatCompact(value) : '');

function Course({ result }: { readonly result: Result }): ReactNode {
  const { series, breaks } = result;
  const charts = useMemo(
    () => [
      {
        title: 'Dollars per hour',
        lines: linesOf(series.dollarsPerHour, '--accent'),
        format: dollarsText,
        formatTick: dollarsTick,
      },
      {
        title: 'Unmet needs',
        lines: linesOf(series.unmet, '--bad'),
        format: formatCount,
        formatTick: countTick,
      },
      {
        title: 'Machines that serve a cluster',
        lines: linesOf(series.bound, '--state-configured'),
        format: formatCount,
        formatTick: countTick,
      },
    ],
    [series],
  );
  return (
    <Card
      title="Over the recorded time"
      note={`Dashed without the changes, solid with them.${breaks === null ? '' : ' The upright line is the moment it breaks.'}`}
    >
      <div className="grid cols-3">
        {charts.map(({ title, ...chart }) => (
          <section key={title}>
            <h3>{title}</h3>
            <Series
              {...chart}
              atMs={series.atMs}
              label={`${title} over the recorded time, without and with the changes`}
              markMs={breaks?.atMs ?? null}
            />
          </section>
        ))}
      </div>
    </Card>
  );
}

function linesOf(
  values: readonly (readonly [number, number])[],
  token: string,
): readonly SeriesLine[] {
  return [
    {
      label: 'without',
      token: '--text-faint',
      values: values.map(([before]) => before),
      isDashed: true,
    },
    { label: 'with', token, values: values.map(([, after]) => after) },
  ];
}

function Honesty({ result }: { readonly result: Result }): ReactNode {
  const { bound, dollarsPerHour } = result.modelError;
  const worst = Math.max(Math.abs(bound), Math.abs(dollarsPerHour));
  return (
    <Card
      title="How far to believe it"
      note="The run without changes, against what was recorded. Both runs share this error; differences much smaller than it mean little."
    >
      <div className="stats">
        <Stat
          label="Machines bound, off by"
          value={formatPercent(bound)}
          tone={Math.abs(bound) > 0.1 ? 'warn' : 'neutral'}
        />
        <Stat
          label="Dollars per hour, off by"
          value={formatPercent(dollarsPerHour)}
          tone={Math.abs(dollarsPerHour) > 0.1 ? 'warn' : 'neutral'}
        />
        <Stat
          label="Verdict"
          value={worst > 0.25 ? 'a sketch' : worst > 0.1 ? 'rough' : 'close'}
          tone={worst > 0.1 ? 'warn' : 'good'}
        />
      </div>
    </Card>
  );
}
