// What the machines of a need cost, where it is known.

import type { ReactNode } from 'react';
import { Money } from '../parts/index.ts';

const UNKNOWN =
  'Not known: some of its machines were bound for another need, or are on their way. Prices are recorded by machine, not by need.';

export function ClaimedMoney(props: {
  readonly dollars: number | null;
  readonly exact?: boolean;
}): ReactNode {
  const { dollars, exact = false } = props;
  if (dollars !== null) return <Money dollars={dollars} per="h" exact={exact} />;
  return (
    <span title={UNKNOWN}>
      $?<span className="visually-hidden"> {UNKNOWN}</span>
    </span>
  );
}
