// Shortfall triage, for a person who was woken: the verdict, the branch of the runbook that holds it, and
// the needs that wait, the gravest first. Shortfall of the batch tier is what priority is for: it is shown
// apart and quiet.

import { type KeyboardEvent, type ReactNode, useMemo } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import { formatCount, plural } from '../lib/format.ts';
import { requirementsText, resourceText } from '../lib/needs.ts';
import { To, useGo, useSearch, useSetSearch } from '../nav/link.tsx';
import { Answered, Card, type Column, Mark, Page, Stat, Table, Tag, When } from '../parts/index.ts';
import { ClaimedMoney } from './claimed-money.tsx';
import { useView } from '../store/hooks.ts';
import { NamedFilters } from './machines-filters.tsx';
import { Brakes } from './triage-brakes.tsx';
import { Phantoms } from './triage-phantoms.tsx';
import './triage.css';

type Triage = Answer<'triage'>;
type Row = Triage['rows'][number];
type Step = Triage['tree'][number];

/** Counted in machines, where every other branch counts needs. */
const PHANTOM: Step['branch'] = 'phantom-capacity';

export default function TriagePage(): ReactNode {
  const search = useSearch('triage');
  const set = useSetSearch('triage');
  const { branch, ...params } = search;
  const view = useView('triage', params);
  return (
    <Page page="triage" frame={view.answer?.frame}>
      <NamedFilters
        frame={view.answer?.frame}
        filters={[
          { kind: 'text', name: 'cluster', label: 'Cluster' },
          { kind: 'text', name: 'shard', label: 'Shard' },
        ]}
        values={search}
        onChange={set}
      />
      <Answered view={view}>
        {(answer) => (
          <>
            <Verdict answer={answer} />
            <Card
              title="Where it comes from"
              note="The on-call decision tree. A line chooses what is listed below it."
              isFlush
            >
              <Steps
                tree={answer.tree}
                phantoms={answer.phantoms}
                selected={branch}
                onSelect={(next) => set({ branch: next === branch ? '' : next })}
              />
            </Card>
            <Found answer={answer} branch={branch} />
            <Brakes brakes={answer.brakes} />
          </>
        )}
      </Answered>
    </Page>
  );
}

function Verdict({ answer }: { readonly answer: Triage }): ReactNode {
  // “Serious: two critical needs…”: the word first, since it is what a person woken up reads.
  const [head, ...rest] = answer.verdict.split(': ');
  const kind = answer.isSerious
    ? 'serious'
    : answer.phantoms.count > 0
      ? 'phantom'
      : answer.total > 0
        ? 'batch'
        : 'fine';
  return (
    <section className={`verdict verdict-${kind}`} aria-label="Verdict" role="status">
      <div>
        <p className="verdict-word">{head}</p>
        {rest.length > 0 && <p className="soft">{rest.join(': ')}</p>}
      </div>
      <div className="verdict-tiers">
        {answer.byTier.map(({ tier, rows, clusters, oldestMs }) => (
          <Stat
            key={tier}
            label={<Mark name={tier} />}
            value={rows}
            tone={rows > 0 && tier !== 'batch' ? 'bad' : 'neutral'}
            note={
              oldestMs === null ? (
                'none unmet'
              ) : (
                <>
                  in {plural(clusters, 'cluster')}, oldest <When atMs={oldestMs} />
                </>
              )
            }
          />
        ))}
      </div>
    </section>
  );
}

function Steps(props: {
  readonly tree: readonly Step[];
  readonly phantoms: Triage['phantoms'];
  readonly selected: string;
  readonly onSelect: (branch: string) => void;
}): ReactNode {
  return (
    <ol className="steps" onKeyDown={walkButtons} aria-label="Decision tree">
      {props.tree.map((step, index) => (
        <li key={step.branch}>
          <button
            type="button"
            className={step.rows > 0 ? 'step step-hit' : 'step step-none'}
            aria-pressed={step.branch === props.selected}
            onClick={() => props.onSelect(step.branch)}
          >
            <span className="step-number" aria-hidden="true">
              {index + 1}
            </span>
            <span className="step-question">{step.question}</span>
            <span className="step-do">
              <span>{step.meaning}</span>
              <strong>{step.action}</strong>
            </span>
            <span className="step-rows">
              {step.rows > 0
                ? formatCount(step.rows)
                : step.branch === PHANTOM && props.phantoms.reporting === 0
                  ? 'not told'
                  : 'no'}
              <span className={step.branch === PHANTOM ? 'step-unit' : 'visually-hidden'}>
                {step.branch === PHANTOM ? step.rows > 0 && ' machines' : ' needs'}
              </span>
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
}

function walkButtons(event: KeyboardEvent<HTMLOListElement>): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (step === 0) return;
  const buttons = [...event.currentTarget.querySelectorAll('button')];
  const at = buttons.indexOf(event.target as HTMLButtonElement);
  event.preventDefault();
  buttons[Math.min(buttons.length - 1, Math.max(0, at + step))]?.focus();
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'priority',
    title: 'Priority',
    width: '132px',
    cell: ({ need }) => (
      <>
        <Mark name={need.tier} /> <span className="num faint">{formatCount(need.priority)}</span>
      </>
    ),
    compare: (a, b) => a.need.priority - b.need.priority,
  },
  {
    id: 'need',
    title: 'Need',
    width: 'minmax(170px, 1.4fr)',
    cell: ({ need }) => (
      <To
        page="explain"
        search={{
          cluster: need.cluster,
          fingerprint: need.fingerprint,
          group: need.group,
          counterfactuals: true,
        }}
        title={[need.fingerprint, ...need.requirements].join('\n')}
        className="need-link"
      >
        <span>
          {need.cluster}
          {need.group !== '' && ` · ${need.group}`}
        </span>
        <span className="soft cut-start">
          <bdi>{requirementsText(need.requirements)}</bdi>
        </span>
      </To>
    ),
    compare: (a, b) => (a.need.cluster < b.need.cluster ? -1 : 1),
  },
  {
    id: 'age',
    title: 'Unmet',
    width: '98px',
    align: 'right',
    cell: ({ need }) => (
      <span title={plural(need.ageCyclesUnmet, 'cycle')}>
        <When atMs={need.unmetSinceMs} />
      </span>
    ),
    compare: (a, b) => a.need.ageCyclesUnmet - b.need.ageCyclesUnmet,
  },
  {
    id: 'reason',
    title: 'Why',
    width: 'minmax(160px, 1.4fr)',
    cell: ({ need, isEscalated }) => (
      <span className="cut" title={`${need.reason}: ${need.reasonText}`}>
        {isEscalated && <Tag tone="warn">escalated</Tag>} {need.reasonText}
      </span>
    ),
    compare: (a, b) => (a.need.reason < b.need.reason ? -1 : 1),
  },
  {
    id: 'blast',
    title: 'Short of',
    hint: 'What the need still lacks',
    width: 'minmax(112px, 0.9fr)',
    cell: ({ need }) => (
      <span className="cut num" title={resourceText(need.deficit)}>
        {resourceText(need.deficit)}
      </span>
    ),
  },
  {
    id: 'served',
    title: 'Has',
    hint: 'Machines that serve it already, and their price',
    width: '104px',
    align: 'right',
    cell: ({ need }) => (
      <span className="num">
        <span className={need.claimed === 0 ? 'faint' : undefined}>
          {formatCount(need.claimed)}
        </span>{' '}
        <span className="faint">
          <ClaimedMoney dollars={need.claimedDollarsPerHour} />
        </span>
      </span>
    ),
    compare: (a, b) => a.need.claimed - b.need.claimed,
  },
  {
    id: 'matching',
    title: 'Supply',
    hint: 'Machines that match it: idle, serving others, not bought yet; and those that drain for it',
    width: '132px',
    align: 'right',
    cell: ({ matching, awaitingDrain }) => (
      <span
        className="num"
        title={`${matching.idle} idle, ${matching.configured} serve others, ${matching.speculative} could be bought, ${awaitingDrain} drain for it`}
      >
        {formatCount(matching.idle)} · {formatCount(matching.configured)} ·{' '}
        {formatCount(matching.speculative)}
        {awaitingDrain > 0 && <span className="faint"> +{formatCount(awaitingDrain)}</span>}
      </span>
    ),
    compare: (a, b) => a.matching.speculative - b.matching.speculative,
  },
  {
    id: 'action',
    title: 'What to do',
    width: 'minmax(170px, 1.6fr)',
    cell: ({ action, branchText }) => (
      <span className="cut" title={`${branchText}\n${action}`}>
        {action}
      </span>
    ),
  },
];

function rowKey({ need }: Row): string {
  return [need.cluster, need.fingerprint, need.group].join('\n');
}

interface Chosen {
  readonly answer: Triage;
  readonly branch: string;
}

/** Phantoms stand first while nothing is short: they are then what the page is about. */
function Found({ answer, branch }: Chosen): ReactNode {
  const phantoms = <Phantoms phantoms={answer.phantoms} aside={<AllBranches branch={branch} />} />;
  if (branch === PHANTOM) return phantoms;
  const isShown = branch === '' && answer.phantoms.count > 0;
  return (
    <>
      {isShown && !answer.isSerious && phantoms}
      <Waiting answer={answer} branch={branch} />
      {isShown && answer.isSerious && phantoms}
    </>
  );
}

function AllBranches({ branch }: Pick<Chosen, 'branch'>): ReactNode {
  const set = useSetSearch('triage');
  if (branch === '') return null;
  return (
    <button type="button" onClick={() => set({ branch: '' })}>
      Show all branches
    </button>
  );
}

function Waiting({ answer, branch }: Chosen): ReactNode {
  const go = useGo();
  const { grave, batch } = useMemo(() => {
    const chosen = answer.rows.filter((row) => branch === '' || row.branch === branch);
    return {
      grave: chosen.filter((row) => !row.isDemoted),
      batch: chosen.filter((row) => row.isDemoted),
    };
  }, [answer.rows, branch]);
  const rest = answer.total - answer.rows.length;
  const covered = grave.filter((row) => row.branch === 'draining').length;
  const open = ({ need: { cluster, fingerprint, group } }: Row): void =>
    go('explain', { cluster, fingerprint, group, counterfactuals: true });
  const chosenStep = answer.tree.find((step) => step.branch === branch);
  if (answer.total === 0) return null;
  const aside = <AllBranches branch={branch} />;
  return (
    <>
      {(grave.length > 0 || batch.length === 0) && (
        <Card
          title={`Waiting, above the batch tier: ${formatCount(grave.length)}`}
          note={
            chosenStep === undefined
              ? `By priority, then age.${covered === 0 ? '' : ` Machines that drain will cover ${formatCount(covered)} of them.`}`
              : `Only: ${chosenStep.question}`
          }
          aside={aside}
          isFlush
        >
          <Table
            label="Unmet needs above the batch tier"
            noun="needs"
            rows={grave}
            columns={COLUMNS}
            rowKey={rowKey}
            onOpen={open}
          />
        </Card>
      )}
      {batch.length > 0 && (
        <Card
          title={<span className="soft">Batch tier: {formatCount(batch.length)}</span>}
          note="Working as designed: priority is the only throttle, and these wait for capacity that others need more."
          aside={grave.length === 0 ? aside : null}
          isFlush
        >
          <Table
            label="Unmet needs of the batch tier"
            noun="needs"
            rows={batch}
            columns={COLUMNS}
            rowKey={rowKey}
            rowClass={() => 'demoted'}
            onOpen={open}
            maxHeight="420px"
          />
        </Card>
      )}
      {rest > 0 && (
        <p className="faint">
          {formatCount(answer.rows.length)} of {formatCount(answer.total)} unmet needs are listed,
          the gravest; filter by cluster, or{' '}
          <To page="needs" search={{ unmet: true, limit: 5_000 }}>
            list more of them
          </To>
          .
        </p>
      )}
    </>
  );
}
