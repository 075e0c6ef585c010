// The candidates that the engine weighed for one need, ranked by effective cost: price + probability ×
// penalty, as it wrote them down. Bars share one scale; the first reason why a candidate lost stands beside it.

import type { ReactNode } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import { formatCount, formatPrice, formatProbability } from '../lib/format.ts';
import { Legend, MachineLink, Tag } from '../parts/index.ts';
import './candidates.css';

export type Candidate = Answer<'explain'>['candidates'][number];

export function Candidates({
  candidates,
  isTruncated = false,
}: {
  readonly candidates: readonly Candidate[];
  readonly isTruncated?: boolean;
}): ReactNode {
  if (candidates.length === 0) {
    return <p className="faint">No candidate was weighed for it in this cycle.</p>;
  }
  const most =
    candidates.reduce((max, candidate) => Math.max(max, candidate.effectiveCost ?? 0), 0) || 1;
  return (
    <div className="stack">
      <Legend
        label="Parts of the effective cost"
        items={[
          { name: 'price per hour', token: '--part-price' },
          { name: 'interruption probability × penalty', token: '--part-risk' },
        ]}
      />
      <ol className="candidates">
        {candidates.map((candidate) => (
          <CandidateRow
            key={`${candidate.rank}/${candidate.machine}/${candidate.reason}`}
            candidate={candidate}
            most={most}
          />
        ))}
      </ol>
      {isTruncated ? (
        <p className="faint">The record was cut: more candidates were weighed than are shown.</p>
      ) : null}
    </div>
  );
}

function CandidateRow({
  candidate,
  most,
}: {
  readonly candidate: Candidate;
  readonly most: number;
}): ReactNode {
  const { effectiveCost, dollarsPerHour, interruptionPenalty, victim } = candidate;
  // Only the length of the bar: the sum itself is the engine's.
  const risk = effectiveCost === null ? 0 : Math.max(0, effectiveCost - dollarsPerHour);
  return (
    <li className={candidate.isChosen ? 'candidate candidate-chosen' : 'candidate'}>
      <span className="num faint candidate-rank">{candidate.rank === 0 ? '' : candidate.rank}</span>
      <div className="candidate-name">
        <div className={candidate.machine === '' ? undefined : 'cut'}>
          {candidate.machine === '' ? (
            <strong>{candidate.description}</strong>
          ) : (
            <MachineLink machine={candidate.machine} />
          )}
          {candidate.machines > 1 ? (
            <span className="faint"> and {formatCount(candidate.machines - 1)} like it</span>
          ) : null}
        </div>
        {candidate.machine === '' ? null : (
          <div className="cut faint candidate-small">{candidate.description}</div>
        )}
      </div>
      <div className="candidate-bars">
        {effectiveCost === null ? (
          <span className="candidate-excluded">excluded: pinned work cannot be at risk</span>
        ) : (
          <>
            <span
              className="candidate-bar"
              style={{
                width: `${(100 * dollarsPerHour) / most}%`,
                background: 'var(--part-price)',
              }}
            />
            <span
              className="candidate-bar candidate-risk"
              style={{ width: `${(100 * risk) / most}%`, backgroundColor: 'var(--part-risk)' }}
            />
          </>
        )}
      </div>
      <div className="num candidate-sum">
        <strong>{effectiveCost === null ? '∞' : formatPrice(effectiveCost)}</strong>
        <div className="faint candidate-small">
          {formatPrice(dollarsPerHour)} + {formatProbability(candidate.interruptionProbability)} ×{' '}
          {interruptionPenalty === null ? '∞' : formatPrice(interruptionPenalty)}
        </div>
      </div>
      <div className="candidate-why">
        {candidate.isChosen ? (
          <Tag tone="good">chosen</Tag>
        ) : (
          <span title={candidate.reason}>{candidate.reasonText || candidate.reason}</span>
        )}
        {victim === null ? null : (
          <div className="faint candidate-small">
            would displace priority {victim.effectivePriority}
            {victim.score === null ? '' : `, score ${formatPrice(victim.score)}`}
          </div>
        )}
      </div>
    </li>
  );
}
