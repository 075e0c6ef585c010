// One recorded action on one line, wherever a list of them stands.

import { memo, type ReactNode } from 'react';
import type { Decision } from '../../../src/api/common.ts';
import { formatClock, formatPrice } from '../lib/format.ts';
import { To } from '../nav/link.tsx';
import { MachineLink, Mark, Tag } from '../parts/index.ts';

export const DecisionLine: React.NamedExoticComponent<{ readonly decision: Decision }> = memo(
  function DecisionLine({ decision }: { readonly decision: Decision }): ReactNode {
    return (
      <li className="decision-line">
        <time className="num faint">{formatClock(decision.atMs)}</time>
        <Mark name={decision.kind} />
        <span className="decision-what">
          <MachineLink machine={decision.machine} />
          {decision.cluster === '' ? null : (
            <>
              <span className="faint">{DIRECTION[decision.kind]}</span>
              <To page="decisions" search={{ cluster: decision.cluster }} className="quiet-link">
                {decision.cluster}
              </To>
            </>
          )}
          <span className="faint cut decision-reason" title={decision.reasonText}>
            · {decision.reasonText}
          </span>
        </span>
        {decision.heldBack === '' ? null : (
          <Tag tone="warn" title={`held back: ${decision.heldBack}`}>
            held back
          </Tag>
        )}
        <span className="num soft decision-money">
          {formatPrice(decision.dollarsPerHour)}
          <span className="unit">/h</span>
        </span>
        <To
          page="decisions"
          search={{ open: decision.id }}
          className="quiet-link"
          label={`Record of this ${decision.kind}`}
        >
          record
        </To>
      </li>
    );
  },
  // A recorded decision never changes: a new answer with the same ids draws nothing again.
  (before, after) => before.decision.id === after.decision.id,
);

const DIRECTION: Readonly<Record<Decision['kind'], string>> = {
  Bootstrap: '→',
  Provision: 'for',
  Reclaim: '←',
  Preempt: '←',
  Delete: '×',
};
