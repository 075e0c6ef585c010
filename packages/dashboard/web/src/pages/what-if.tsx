// What-if: the production engine over recorded demand with something changed. The form's text, the URL and
// the command line are one question; the answer puts both runs side by side and says how far the model
// itself is from what was recorded.

import { type ReactNode, useState } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import { formatPercent } from '../lib/format.ts';
import { To, useSearch, useSetSearch } from '../nav/link.tsx';
import { Answered, Card, Page, Problem } from '../parts/index.ts';
import { useView } from '../store/hooks.ts';
import type { PageSearch } from '../url/pages.ts';
import './what-if.css';
import {
  CHANGE_FORMS,
  type ChangeRow,
  commandOf,
  formOf,
  lineOf,
  linesOf,
  PRESETS,
  questionOf,
  rowsOf,
  setOf,
  wrongOf,
} from './what-if-changes.ts';
import { CommandLine } from './what-if-command.tsx';
import { WhatIfResult } from './what-if-result.tsx';

type WhatIf = Answer<'whatif'>;

export default function WhatIfPage(): ReactNode {
  const { shard: named, set, seed } = useSearch('whatif');
  const isAsked = linesOf(set).length > 0;
  // Not the sources of a frame: of two hundred live shards only some stand there, and those that are away first.
  const known = useView('shards', {});
  const shards = (known.answer?.shards ?? []).map((each) => each.shard).sort();
  // A lone shard needs no name in the URL; of several, the first by name until a reader chooses.
  const shard = named === '' && shards.length > 1 ? (shards[0] ?? '') : named;
  const isChosen = named !== '' || known.answer !== undefined || known.problem !== null;
  const view = useView('whatif', isAsked && isChosen ? { shard, set, seed } : null);
  return (
    <Page
      page="whatif"
      frame={isAsked ? view.answer?.frame : undefined}
      tools={
        <>
          <ShardChoice shards={shards} shard={shard} />
          {isAsked ? (
            <To page="whatif" search={{ shard: named }} className="button">
              Another question
            </To>
          ) : null}
        </>
      }
    >
      {isAsked ? (
        <Answered view={view}>
          {(answer) => <Run answer={answer} set={view.isRefreshing ? '' : set} />}
        </Answered>
      ) : (
        <Start shard={shard} isLone={shards.length <= 1} />
      )}
      <Card
        title={isAsked ? 'Change the question' : 'Or your own question'}
        note="All changes at once, against the same recorded demand without them."
      >
        <ChangesForm key={`${shard}\n${set}\n${seed}`} shard={shard} set={set} seed={seed} />
      </Card>
      {isAsked ? (
        <Card title="On the command line" note="Where the records are; it gives the same answer.">
          <CommandLine text={commandOf(set, seed)} />
        </Card>
      ) : null}
    </Page>
  );
}

/** Whose recorded demand is run over again, where there is a choice. */
function ShardChoice(props: {
  readonly shards: readonly string[];
  readonly shard: string;
}): ReactNode {
  const { shards, shard } = props;
  const change = useSetSearch('whatif');
  if (shards.length <= 1 && shard === '') return null;
  const names = shards.includes(shard) ? shards : [...shards, shard];
  return (
    <label className="filter">
      <span>Recorded by</span>
      <select value={shard} onChange={(event) => change({ shard: event.target.value })}>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Ready questions first: one click is one answer. What they run over stands above them. */
function Start(props: { readonly shard: string; readonly isLone: boolean }): ReactNode {
  const { shard, isLone } = props;
  const change = useSetSearch('whatif');
  return (
    <Card
      title="Ask the recorded past"
      note={
        <>
          Both runs, without and with the change, go over all the demand that{' '}
          {isLone ? 'the shard' : shard} has recorded: the folder that{' '}
          <code>--records-dir shard=folder</code> names.
        </>
      }
    >
      <ul className="questions">
        {PRESETS.map(({ label, question, set }) => (
          <li key={set}>
            <button type="button" className="question" onClick={() => change({ set, shard })}>
              <strong>{label}</strong>
              <span className="soft">{question}</span>
              <code className="faint">{set}</code>
            </button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function ChangesForm(props: Pick<PageSearch<'whatif'>, 'shard' | 'set' | 'seed'>): ReactNode {
  const change = useSetSearch('whatif');
  const [rows, setRows] = useState<readonly ChangeRow[]>(() => {
    const asked = rowsOf(props.set);
    return asked.length > 0 ? asked : [{ name: 'reserved', subject: '', value: '' }];
  });
  const [seed, setSeed] = useState(String(props.seed));
  const isSeed = /^\d{1,10}$/.test(seed) && Number(seed) <= 2 ** 32;
  const isRight = isSeed && rows.length > 0 && rows.every((row) => wrongOf(row) === '');
  const put = (index: number, patch: Partial<ChangeRow>): void =>
    setRows(rows.map((row, at) => (at === index ? { ...row, ...patch } : row)));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isRight) change({ shard: props.shard, set: setOf(rows), seed: Number(seed) });
      }}
    >
      <div className="change-rows">
        {rows.map((row, index) => (
          <ChangeFields
            // biome-ignore lint: rows have no name but their place.
            key={index}
            row={row}
            index={index}
            onChange={(patch) => put(index, patch)}
            onRemove={() => setRows(rows.filter((_, at) => at !== index))}
          />
        ))}
      </div>
      <div className="change-foot">
        <button
          type="button"
          onClick={() => setRows([...rows, { name: 'price', subject: 'spot', value: '' }])}
        >
          Add a change
        </button>
        <span className="grow" />
        <label>
          Seed
          <input
            type="text"
            inputMode="numeric"
            value={seed}
            aria-invalid={!isSeed}
            onChange={(event) => setSeed(event.target.value)}
          />
        </label>
        <button type="submit" className="primary" disabled={!isRight}>
          Run
        </button>
      </div>
    </form>
  );
}

function ChangeFields(props: {
  readonly row: ChangeRow;
  readonly index: number;
  readonly onChange: (patch: Partial<ChangeRow>) => void;
  readonly onRemove: () => void;
}): ReactNode {
  const { row, index, onChange, onRemove } = props;
  const form = formOf(row.name);
  // An untouched row is not wrong yet.
  const wrong = row.value === '' && form !== undefined ? '' : wrongOf(row);
  const wrongId = `change-wrong-${index}`;
  return (
    <div className="change-row" role="group" aria-label={`Change ${index + 1}`}>
      <label>
        What
        <select
          value={row.name}
          onChange={(event) => {
            const next = formOf(event.target.value);
            onChange({
              name: event.target.value,
              subject: next?.subject?.isOptional === false ? 'spot' : '',
            });
          }}
        >
          {form === undefined && <option value={row.name}>{row.name}</option>}
          {CHANGE_FORMS.map(({ name, label }) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {form?.subject !== undefined && (
        <label>
          {form.subject.label}
          <input
            type="text"
            value={row.subject}
            placeholder={form.subject.example}
            onChange={(event) => onChange({ subject: event.target.value })}
          />
        </label>
      )}
      <label className={form?.subject === undefined ? 'change-wide' : undefined}>
        {form?.value.label ?? 'value'}
        <input
          type="text"
          value={row.value}
          placeholder={form?.value.example}
          aria-invalid={wrong !== ''}
          aria-describedby={wrong === '' ? undefined : wrongId}
          onChange={(event) => onChange({ value: event.target.value })}
        />
      </label>
      <button
        type="button"
        className="plain icon"
        aria-label={`Remove ${lineOf(row)}`}
        onClick={onRemove}
      >
        ×
      </button>
      {wrong !== '' && (
        <p className="change-wrong" id={wrongId} role="alert">
          {wrong}
        </p>
      )}
    </div>
  );
}

function Run(props: {
  readonly answer: WhatIf;
  /** Empty while the answer is that of the question before: its own words are then the question. */
  readonly set: string;
}): ReactNode {
  const { answer, set } = props;
  const question = questionOf(set || answer.changes.join('\n'));
  if (answer.status === 'failed') {
    return <Problem problem={{ code: 'what_if_failed', message: answer.problem }} />;
  }
  if (answer.result === null) {
    const percent = formatPercent(Math.floor(answer.progress * 100) / 100);
    return (
      <Card title={`Running: ${question}`}>
        <div className="what-if-progress" role="status">
          <progress max={1} value={answer.progress} aria-label="Progress" />
          <p className="soft">{percent} of the recorded cycles, in both runs</p>
        </div>
      </Card>
    );
  }
  return <WhatIfResult result={answer.result} question={question} />;
}
