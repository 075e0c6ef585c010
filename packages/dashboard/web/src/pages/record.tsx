// The record of one cycle, as the engine wrote it: what it was asked, whom it weighed, what it did. Opened
// beside the decisions; nothing in it is worked out again.

import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import type { RecordName } from '../lib/decisions.ts';
import { formatCount, formatPrice } from '../lib/format.ts';
import { To } from '../nav/link.tsx';
import { Answered, EmptyState, Mark, Tag, When } from '../parts/index.ts';
import { useView } from '../store/hooks.ts';
import { Candidates } from './candidates.tsx';
import './record.css';

type Recorded = Answer<'record'>;
type RecordedNeed = Recorded['needs'][number];
const NEEDS_AT_FIRST = 8;

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
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    box.current?.focus();
  }, [decisionId]);
  return (
    <aside
      ref={box}
      className="drawer"
      aria-label={`Record of cycle ${name.cycle}`}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
      }}
    >
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
  // The need of the decision that was clicked stands first.
  const needs = [...record.needs.filter(isAsked), ...record.needs.filter((need) => !isAsked(need))];
  const shown = isAllShown ? needs : needs.slice(0, NEEDS_AT_FIRST);
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
              <To page="explain" search={{ machine: decision.machine, cycle: decision.cycle }}>
                {decision.machine}
              </To>
            </dd>
            <dt>What</dt>
            <dd>
              {decision.instanceType} in {decision.zone}, <Mark name={decision.capacityType} />
            </dd>
            <dt>Price</dt>
            <dd className="num">{formatPrice(decision.dollarsPerHour)} /h</dd>
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
      <section className="drawer-section">
        <h3>
          Needs: {formatCount(record.needs.length)} of {formatCount(record.totalNeeds)}, short ones
          and those with an action first
        </h3>
        {needs.length === 0 ? <EmptyState title="This cycle looked at no need" /> : null}
        {shown.map((need, index) => (
          <NeedBlock
            key={`${need.cluster}/${need.fingerprint}/${need.group}`}
            need={need}
            isOpen={index === 0}
          />
        ))}
        {needs.length > shown.length ? (
          <button type="button" onClick={() => setAllShown(true)}>
            Show all {formatCount(needs.length)}
          </button>
        ) : null}
      </section>
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
          Actions: {formatCount(record.actions.length)} of {formatCount(record.totalActions)}
        </h3>
        <ul>
          {record.actions.slice(0, 60).map((action) => (
            <li
              key={action.id}
              className={
                action.id === decisionId ? 'record-action record-action-open' : 'record-action'
              }
            >
              <Mark name={action.kind} />
              <span className="cut grow">
                <To page="explain" search={{ machine: action.machine }}>
                  {action.machine}
                </To>{' '}
                <span className="faint">{action.cluster}</span>
              </span>
              <span className="num soft">{formatPrice(action.dollarsPerHour)}/h</span>
            </li>
          ))}
        </ul>
      </section>
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
  const deficit = Object.entries(need.deficit);
  return (
    <details className="record-need" open={isOpen}>
      <summary>
        <span className="cut grow">
          {need.cluster} <span className="faint">· {need.fingerprint.slice(0, 16)}</span>
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
          {formatCount(need.credited)} already there, {formatCount(need.bootstraps)} bootstraps,{' '}
          {formatCount(need.provisions)} provisions, {formatCount(need.victims)} displaced
          {need.domain === '' ? '' : `, all in ${need.domain}`}
        </p>
        {deficit.length === 0 ? null : (
          <p className="soft">
            missing: {deficit.map(([name, amount]) => `${amount} ${name}`).join(', ')}
          </p>
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
