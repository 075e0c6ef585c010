// The record of one cycle, as the engine wrote it: what it was asked, whom it weighed, what it did. Opened
// beside the decisions; nothing in it is worked out again.

import { type ReactNode, useState } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import type { RecordName } from '../lib/decisions.ts';
import { formatCount, formatPrice, plural } from '../lib/format.ts';
import { resourceText } from '../lib/needs.ts';
import { To } from '../nav/link.tsx';
import { Answered, MachineLink, Mark, Tag, useDrawer, When } from '../parts/index.ts';
import { useView } from '../store/hooks.ts';
import { Candidates } from './candidates.tsx';
import { needName } from './need-name.ts';
import './record.css';

type Recorded = Answer<'record'>;
type RecordedNeed = Recorded['needs'][number];
const NEEDS_AT_FIRST = 8;
const MAX_ACTIONS = 60;

function keyOf({ cluster, fingerprint, group }: RecordedNeed): string {
  return `${cluster}/${fingerprint}/${group}`;
}

export function RecordDrawer({
  name,
  decisionId,
  onClose,
}: {
  readonly name: RecordName;
  readonly decisionId: string;
  readonly onClose: () => void;
}): ReactNode {
  const view = useView('record', { ...name });
  const box = useDrawer(onClose);
  return (
    <aside ref={box} className="drawer" aria-label={`Record of cycle ${name.cycle}`} tabIndex={-1}>
      <header className="drawer-head">
        <div className="grow">
          <h2>
            Cycle {formatCount(name.cycle)} of {name.shard}
          </h2>
          {view.answer === undefined ? null : (
            <p className="faint">
              <When atMs={view.answer.atMs} absolute /> · epoch {view.answer.epoch} ·{' '}
              {formatCount(view.answer.bytes)} bytes
            </p>
          )}
        </div>
        <button
          type="button"
          className="icon plain"
          aria-label="Close the record"
          onClick={onClose}
        >
          ✕
        </button>
      </header>
      <div className="drawer-body">
        <Answered view={view}>
          {(record) => <RecordBody record={record} decisionId={decisionId} />}
        </Answered>
      </div>
    </aside>
  );
}

function RecordBody({
  record,
  decisionId,
}: {
  readonly record: Recorded;
  readonly decisionId: string;
}): ReactNode {
  const [isAllShown, setAllShown] = useState(false);
  const decision = record.actions.find((action) => action.id === decisionId);
  const asked = decision?.need ?? null;
  const isAsked = (need: RecordedNeed): boolean =>
    asked !== null &&
    need.cluster === asked.cluster &&
    need.fingerprint === asked.fingerprint &&
    need.group === asked.group;
  const own = record.needs.filter(isAsked);
  const others = record.needs.filter((need) => !isAsked(need));
  const actions = record.actions.slice(0, MAX_ACTIONS);
  const shown = isAllShown ? others : others.slice(0, NEEDS_AT_FIRST);
  return (
    <>
      {decision === undefined ? null : (
        <section className="drawer-section">
          <h3>The decision</h3>
          <dl className="facts">
            <dt>Action</dt>
            <dd className="row">
              <Mark name={decision.kind} />
              {decision.heldBack === '' ? null : (
                <Tag tone="warn">held back: {decision.heldBack}</Tag>
              )}
            </dd>
            <dt>Machine</dt>
            <dd>
              <MachineLink machine={decision.machine} cycle={decision.cycle} />
            </dd>
            <dt>What</dt>
            <dd className="row">
              {decision.instanceType} in {decision.zone} <Mark name={decision.capacityType} />
            </dd>
            <dt>Price</dt>
            <dd className="num">{formatPrice(decision.dollarsPerHour)}/h</dd>
            {decision.cluster === '' ? null : (
              <>
                <dt>Cluster</dt>
                <dd>{decision.cluster}</dd>
              </>
            )}
            {decision.domain === '' ? null : (
              <>
                <dt>Same domain</dt>
                <dd>{decision.domain}</dd>
              </>
            )}
            <dt>Reason</dt>
            <dd>
              {decision.reasonText} <code className="faint">{decision.reason}</code>
            </dd>
          </dl>
        </section>
      )}
      {own.length === 0 ? null : (
        <section className="drawer-section">
          <h3>The need behind it</h3>
          {own.map((need) => (
            <NeedBlock key={keyOf(need)} need={need} isOpen />
          ))}
        </section>
      )}
      {record.heldBack.length === 0 ? null : (
        <section className="drawer-section">
          <h3>Held back between decision and execution</h3>
          <ul>
            {record.heldBack.map((held) => (
              <li key={held.code} className="row">
                <span className="grow">{held.codeText}</span>
                <span className="num">{formatCount(held.count)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section className="drawer-section">
        <h3>
          All actions of this cycle: {formatCount(actions.length)} of{' '}
          {formatCount(record.totalActions)}
        </h3>
        {actions.length === 0 ? <p className="faint">It did nothing.</p> : null}
        <ul>
          {actions.map((action) => (
            <li
              key={action.id}
              className={
                action.id === decisionId ? 'record-action record-action-open' : 'record-action'
              }
            >
              <Mark name={action.kind} />
              <MachineLink machine={action.machine} />
              <span className="faint cut" title={action.cluster}>
                {action.cluster}
              </span>
              <span className="num soft">{formatPrice(action.dollarsPerHour)}/h</span>
            </li>
          ))}
        </ul>
      </section>
      {record.totalNeeds === own.length ? null : (
        <section className="drawer-section">
          <h3>
            {own.length === 0 ? 'Needs' : 'Other needs'} of this cycle: {formatCount(others.length)}{' '}
            of {formatCount(record.totalNeeds - own.length)}
          </h3>
          {shown.map((need) => (
            <NeedBlock key={keyOf(need)} need={need} isOpen={false} />
          ))}
          {others.length > shown.length ? (
            <button type="button" onClick={() => setAllShown(true)}>
              Show all {formatCount(others.length)}
            </button>
          ) : null}
        </section>
      )}
      <section className="drawer-section">
        <h3>Proof</h3>
        <dl className="facts">
          <dt>Inputs</dt>
          <dd>
            <code>{record.inputDigest}</code>
          </dd>
          <dt>Actions</dt>
          <dd>
            <code>{record.actionHash}</code>
          </dd>
        </dl>
        <p className="faint">
          <code>bigfleet replay</code> runs the engine over the same inputs and must reach the same
          hash.
        </p>
      </section>
    </>
  );
}

function NeedBlock({
  need,
  isOpen,
}: {
  readonly need: RecordedNeed;
  readonly isOpen: boolean;
}): ReactNode {
  return (
    <details className="record-need" open={isOpen}>
      <summary>
        <span className="cut grow" title={need.fingerprint}>
          {need.cluster} <span className="faint">· {needName(need.fingerprint)}</span>
          {need.group === '' ? null : <span className="faint"> · {need.group}</span>}
        </span>
        {need.isSatisfied ? (
          <Tag tone="good">met</Tag>
        ) : (
          <Tag tone={need.isParked ? 'neutral' : 'bad'}>{need.isParked ? 'parked' : 'short'}</Tag>
        )}
      </summary>
      <div className="record-need-body">
        {need.reason === '' ? null : (
          <p>
            {need.reasonText} <code className="faint">{need.reason}</code>
          </p>
        )}
        <p className="soft">
          {formatCount(need.credited)} already there, {plural(need.bootstraps, 'bootstrap')},{' '}
          {plural(need.provisions, 'provision')}, {formatCount(need.victims)} displaced
          {need.domain === '' ? '' : `, all in ${need.domain}`}
        </p>
        {Object.keys(need.deficit).length === 0 ? null : (
          <p className="soft">missing: {resourceText(need.deficit)}</p>
        )}
        <To
          page="explain"
          search={{ cluster: need.cluster, fingerprint: need.fingerprint, group: need.group }}
        >
          Explain this need
        </To>
        <Candidates candidates={need.candidates} />
      </div>
    </details>
  );
}
