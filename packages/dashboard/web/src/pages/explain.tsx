// Explain: why this, why not that? Of a machine, a need or a Pod, from the engine's own record.

import { type ReactNode, useEffect, useMemo, useState } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import type { NeedRef } from '../../../src/api/common.ts';
import { mergeDecisions } from '../lib/decisions.ts';
import {
  formatCount,
  formatPenalty,
  formatPrice,
  formatProbability,
  plural,
} from '../lib/format.ts';
import { exactResources, requirementsText, resourceText } from '../lib/needs.ts';
import { To, useGo, useSearch, useSetSearch } from '../nav/link.tsx';
import {
  Answered,
  Card,
  CopyText,
  EmptyState,
  MachineLink,
  Mark,
  Money,
  Page,
  Segmented,
  Tag,
  When,
} from '../parts/index.ts';
import { ClaimedMoney } from './claimed-money.tsx';
import { useDecisions, useView } from '../store/hooks.ts';
import { Candidates } from './candidates.tsx';
import { DecisionLine } from './decision-line.tsx';
import { needName } from './need-name.ts';
import './now.css';
import './explain.css';

type Explained = Answer<'explain'>;

export default function ExplainPage(): ReactNode {
  const search = useSearch('explain');
  const set = useSetSearch('explain');
  const hasSubject =
    search.machine !== '' ||
    (search.cluster !== '' && (search.fingerprint !== '' || search.pod !== ''));
  const view = useView(
    'explain',
    hasSubject
      ? {
          at: search.at,
          machine: search.machine,
          cluster: search.cluster,
          fingerprint: search.fingerprint,
          group: search.group,
          pod: search.pod,
          cycle: search.cycle,
          counterfactuals: search.counterfactuals ? '1' : '0',
        }
      : null,
  );
  useAskAgain(view.answer, search.at === 0 && search.cycle === 0, view.refresh);
  return (
    <Page
      page="explain"
      frame={view.answer?.frame}
      tools={
        hasSubject ? (
          <>
            <To page="explain" className="button">
              Another subject
            </To>
            <button type="button" onClick={view.refresh}>
              Ask again
            </button>
          </>
        ) : null
      }
    >
      {hasSubject ? (
        <Answered view={view}>
          {(answer) => (
            <Explanation
              answer={answer}
              hasCounterfactuals={search.counterfactuals}
              onCounterfactuals={() => set({ counterfactuals: true })}
            />
          )}
        </Answered>
      ) : (
        <Ask />
      )}
    </Page>
  );
}

/** A new decision about the subject makes the explanation old. */
function useAskAgain(answer: Explained | undefined, isNewest: boolean, ask: () => void): void {
  const decisions = useDecisions();
  const newest = useMemo(() => {
    if (answer === undefined || !isNewest) return '';
    return decisions.find((decision) => isAbout(answer, decision.machine, decision.need))?.id ?? '';
  }, [answer, isNewest, decisions]);
  const isKnown = newest === '' || answer?.history.some((decision) => decision.id === newest);
  useEffect(() => {
    if (!isKnown) ask();
  }, [isKnown, newest, ask]);
}

function isAbout(answer: Explained, machine: string, need: NeedRef | null): boolean {
  const { subject } = answer;
  if (subject.kind === 'machine') return subject.name === machine;
  return (
    need !== null &&
    need.cluster === subject.name.cluster &&
    need.fingerprint === subject.name.fingerprint &&
    need.group === subject.name.group
  );
}

function Explanation({
  answer,
  hasCounterfactuals,
  onCounterfactuals,
}: {
  readonly answer: Explained;
  readonly hasCounterfactuals: boolean;
  readonly onCounterfactuals: () => void;
}): ReactNode {
  return (
    <>
      <div className="explain-head">
        <Subject answer={answer} />
        <Card
          title="What the engine decided"
          aside={
            answer.kind === 'not_mentioned' ? null : (
              <To
                page="decisions"
                search={{ open: `${answer.shard}/${answer.epoch}/${answer.cycle}/0` }}
                className="button"
              >
                Record of cycle {formatCount(answer.cycle)}
              </To>
            )
          }
          note={
            answer.kind === 'not_mentioned' ? undefined : (
              <>
                shard {answer.shard}, <When atMs={answer.atMs} absolute />
              </>
            )
          }
        >
          {answer.kind === 'not_mentioned' ? (
            <EmptyState title="No kept record mentions it">
              The engine writes down what it decides. About this it has decided nothing that is
              still kept.
            </EmptyState>
          ) : (
            <div className="stack-tight">
              <p className="explain-reason">{answer.reasonText || answer.text}</p>
              <p className="row">
                {answer.reason === '' ? null : <code className="faint">{answer.reason}</code>}
                {answer.kind === 'spared' ? <Tag tone="accent">weighed and left alone</Tag> : null}
              </p>
              {answer.text === '' || answer.text === answer.reasonText ? null : (
                <pre className="explain-text">{answer.text}</pre>
              )}
            </div>
          )}
        </Card>
      </div>
      {answer.candidates.length === 0 ? null : (
        <Card
          title="Candidates, cheapest first"
          note="effective cost = price + interruption probability × interruption penalty, as recorded"
        >
          <Candidates candidates={answer.candidates} isTruncated={answer.isTruncated} />
        </Card>
      )}
      {answer.displacements.length === 0 ? null : <Displacements answer={answer} />}
      <Card
        title="What would have changed it"
        note="each one is put to the engine, in dollars per hour"
      >
        <Counterfactuals answer={answer} isAsked={hasCounterfactuals} onAsk={onCounterfactuals} />
      </Card>
      <History answer={answer} />
    </>
  );
}

function Subject({ answer }: { readonly answer: Explained }): ReactNode {
  const { subject } = answer;
  if (subject.kind === 'machine') {
    const { machine } = subject;
    return (
      <Card
        title={<span className="explain-name">{subject.name}</span>}
        note="machine"
        aside={<CopyText label="Copy id" text={() => subject.name} />}
      >
        {machine === null ? (
          <EmptyState title="It is not in the fleet at this moment" />
        ) : (
          <dl className="facts">
            <dt>State</dt>
            <dd className="row">
              <Mark name={machine.state} /> <span className="faint">since</span>{' '}
              <When atMs={machine.sinceMs} />
            </dd>
            <dt>Cluster</dt>
            <dd>
              {machine.cluster === '' ? (
                <span className="faint">none</span>
              ) : (
                <To page="decisions" search={{ cluster: machine.cluster }}>
                  {machine.cluster}
                </To>
              )}
            </dd>
            <dt>What</dt>
            <dd className="row">
              {machine.instanceType} <Mark name={machine.capacityType} />
            </dd>
            <dt>Where</dt>
            <dd>
              {[machine.provider, machine.region, machine.zone, machine.rack]
                .filter((part) => part !== '')
                .join(' › ')}
            </dd>
            <dt>Price</dt>
            <dd className="num">
              {formatPrice(machine.dollarsPerHour)}/h, interruption probability{' '}
              {formatProbability(machine.interruptionProbability)}
            </dd>
            {machine.node === '' ? null : (
              <>
                <dt>Node</dt>
                <dd className="mono">{machine.node}</dd>
              </>
            )}
            {machine.need === '' ? null : (
              <>
                <dt>Serves</dt>
                <dd>
                  <div className="cut" title={machine.need}>
                    <To
                      page="explain"
                      search={{
                        cluster: machine.cluster,
                        fingerprint: machine.need,
                        group: machine.group,
                      }}
                    >
                      {needName(machine.need)}
                    </To>
                  </div>
                  <span className="faint">
                    priority {formatCount(machine.priority)}, penalty{' '}
                    {formatPenalty(machine.interruptionPenalty)}
                  </span>
                </dd>
              </>
            )}
            {machine.pendingAction === '' ? null : (
              <>
                <dt>Under way</dt>
                <dd>{machine.pendingAction}</dd>
              </>
            )}
            {machine.lastError === '' ? null : (
              <>
                <dt>Last error</dt>
                <dd className="explain-error">{machine.lastError}</dd>
              </>
            )}
          </dl>
        )}
      </Card>
    );
  }
  const { need, name } = subject;
  return (
    <Card
      title={`Need of ${name.cluster}`}
      note={<span className="mono explain-fingerprint">{name.fingerprint}</span>}
    >
      {need === null ? (
        <EmptyState title="Nobody asks for it at this moment" />
      ) : (
        <dl className="facts">
          <dt>Now</dt>
          <dd className="row">
            {need.isSatisfied ? <Tag tone="good">met</Tag> : <Tag tone="bad">short</Tag>}
            {need.isSatisfied ? null : <span>{need.reasonText}</span>}
            {need.unmetSinceMs === null ? null : (
              <span className="faint">
                since <When atMs={need.unmetSinceMs} />, {formatCount(need.ageCyclesUnmet)} cycles
              </span>
            )}
          </dd>
          <dt>Priority</dt>
          <dd className="row">
            <Mark name={need.tier} /> <span className="num">{formatCount(need.priority)}</span>
          </dd>
          <dt>Asks for</dt>
          <dd title={exactResources(need.resources)}>{resourceText(need.resources)}</dd>
          {Object.keys(need.deficit).length === 0 ? null : (
            <>
              <dt>Missing</dt>
              <dd title={exactResources(need.deficit)}>{resourceText(need.deficit)}</dd>
            </>
          )}
          <dt>Where</dt>
          <dd title={need.requirements.join('\n')}>
            {need.requirements.length === 0 ? 'anywhere' : requirementsText(need.requirements)}
          </dd>
          <dt>Penalties</dt>
          <dd>
            interruption {formatPenalty(need.interruptionPenalty)}, reclamation{' '}
            {formatPenalty(need.reclamationPenalty)}
          </dd>
          <dt>Holds</dt>
          <dd className="num">
            {plural(need.claimed, 'machine')},{' '}
            <ClaimedMoney dollars={need.claimedDollarsPerHour} exact />
          </dd>
          {need.group === '' ? null : (
            <>
              <dt>Gang</dt>
              <dd>
                {need.group}
                {need.domain === '' ? '' : `, in ${need.domain}`}
              </dd>
            </>
          )}
        </dl>
      )}
    </Card>
  );
}

function Displacements({ answer }: { readonly answer: Explained }): ReactNode {
  return (
    <Card title="Who gives way" note="in order: each one loses its machine to the one before">
      <ol className="chain">
        <li className="chain-step chain-first">
          <strong>
            {answer.subject.kind === 'machine' ? answer.subject.name : answer.subject.name.cluster}
          </strong>
          <span className="faint">
            {answer.subject.kind === 'machine'
              ? 'machine'
              : needName(answer.subject.name.fingerprint)}
          </span>
        </li>
        {answer.displacements.map((step) => (
          <li
            key={`${step.machine}/${step.need.fingerprint}/${step.need.group}`}
            className="chain-step"
          >
            <span className="chain-reason" title={step.reason}>
              {step.reasonText}
            </span>
            <To
              page="explain"
              search={{
                cluster: step.need.cluster,
                fingerprint: step.need.fingerprint,
                group: step.need.group,
              }}
            >
              {step.need.cluster}
            </To>
            <span className="num faint">priority {formatCount(step.priority)}</span>
            <MachineLink machine={step.machine} />
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Counterfactuals({
  answer,
  isAsked,
  onAsk,
}: {
  readonly answer: Explained;
  readonly isAsked: boolean;
  readonly onAsk: () => void;
}): ReactNode {
  if (!isAsked) {
    return (
      <div className="row">
        <button type="button" onClick={onAsk}>
          Ask the engine
        </button>
        <span className="faint">
          It runs the recorded cycle again with one thing changed at a time.
        </span>
      </div>
    );
  }
  if (answer.counterfactuals.length === 0) {
    return <p className="soft">Nothing that the engine tries would have changed it.</p>;
  }
  return (
    <ul className="counterfactuals">
      {answer.counterfactuals.map((item) => (
        <li key={`${item.reason}/${item.text}`}>
          <strong className="num counterfactual-money">
            <Money dollars={item.dollarsPerHour} per="h" exact sign />
          </strong>
          <span className="grow">{item.text}</span>
          {item.isVerified ? (
            <Tag tone="good" title="The engine was run with this change, and it held.">
              verified
            </Tag>
          ) : (
            <Tag title="Read from the record; the engine was not run with it.">not verified</Tag>
          )}
        </li>
      ))}
    </ul>
  );
}

function History({ answer }: { readonly answer: Explained }): ReactNode {
  const live = useDecisions();
  const isPast = answer.frame.isPast;
  const lines = useMemo(
    () =>
      mergeDecisions(
        isPast ? [] : live.filter((decision) => isAbout(answer, decision.machine, decision.need)),
        answer.history,
        100,
      ),
    [answer, live, isPast],
  );
  return (
    <Card title="Recorded about it" isFlush>
      {lines.length === 0 ? (
        <EmptyState title="No recorded decision is kept" />
      ) : (
        <ol className="decision-lines">
          {lines.map((decision) => (
            <DecisionLine key={decision.id} decision={decision} />
          ))}
        </ol>
      )}
    </Card>
  );
}

type AskKind = 'machine' | 'need' | 'pod';

/** No subject yet: ask for one, or take one that was just decided about. */
function Ask(): ReactNode {
  const go = useGo();
  const [kind, setKind] = useState<AskKind>('machine');
  const live = useDecisions();
  const now = useView('now', {});
  const recent = mergeDecisions(live, now.answer?.decisions ?? [], 12);
  const submit = (form: FormData): void => {
    const of = (name: string): string => {
      const value = form.get(name);
      return typeof value === 'string' ? value.trim() : '';
    };
    if (kind === 'machine') go('explain', { machine: of('machine') });
    else if (kind === 'need') {
      go('explain', { cluster: of('cluster'), fingerprint: of('fingerprint'), group: of('group') });
    } else go('explain', { cluster: of('cluster'), pod: of('pod') });
  };
  return (
    <>
      <Card
        title="Explain a"
        aside={
          <Segmented
            label="Kind of subject"
            value={kind}
            onChange={setKind}
            options={[
              { value: 'machine', label: 'Machine' },
              { value: 'need', label: 'Need' },
              { value: 'pod', label: 'Pod' },
            ]}
          />
        }
      >
        <form action={submit} className="ask">
          {kind === 'machine' ? <Field name="machine" label="Machine id" /> : null}
          {kind === 'machine' ? null : <Field name="cluster" label="Cluster" />}
          {kind === 'need' ? <Field name="fingerprint" label="Fingerprint of its profile" /> : null}
          {kind === 'need' ? <Field name="group" label="Group, for a gang" isOptional /> : null}
          {kind === 'pod' ? <Field name="pod" label="Pod, as namespace/name" /> : null}
          <button type="submit" className="primary">
            Explain
          </button>
        </form>
      </Card>
      <Card title="Just decided" isFlush>
        {recent.length === 0 ? (
          <EmptyState title="No decisions yet" />
        ) : (
          <ol className="decision-lines">
            {recent.map((decision) => (
              <DecisionLine key={decision.id} decision={decision} />
            ))}
          </ol>
        )}
      </Card>
    </>
  );
}

function Field({
  name,
  label,
  isOptional = false,
}: {
  readonly name: string;
  readonly label: string;
  readonly isOptional?: boolean;
}): ReactNode {
  return (
    <label className="ask-field">
      <span>{label}</span>
      <input type="text" name={name} required={!isOptional} spellCheck={false} autoComplete="off" />
    </label>
  );
}
