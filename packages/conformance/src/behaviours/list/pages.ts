// B907: paging a delta is complete, and says whether a cut page's cursor may be threaded.

import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { ensure } from '../../harness/expect.ts';
import { idsOf, listed, missingFrom, someOf } from '../../harness/inventory.ts';
import { needsSinceRevision } from '../../harness/probe.ts';
import { quiescence } from '../../harness/quiescence.ts';
import { release, walkNToIdle } from '../../harness/walk.ts';
import { threadPages } from './paging.ts';

const MUTATED = 5;
const PAGE_SIZE = 2;
const MAX_PAGES = 64;

async function pagingComplete(context: CheckContext): Promise<void> {
  needsSinceRevision(context);
  const { revision: base } = await quiescence(context);
  const mutated = await walkNToIdle(context, MUTATED);
  const known = idsOf((await listed(context, { since: base })).machines);
  const absent = missingFrom(known, mutated);
  ensure(absent.length === 0, () => `the uncapped delta lacks ${someOf(absent)}`);
  const options = { since: base, pageSize: PAGE_SIZE, known, maxPages: MAX_PAGES };
  const { style, ids } = await threadPages(context, options);
  if (style === 'continuation') {
    const lost = missingFrom(ids, mutated);
    ensure(
      lost.length === 0,
      () => `threading pages of ${PAGE_SIZE} to the end never shows ${someOf(lost)}`,
    );
  }
  context.note(
    style === 'continuation'
      ? 'truncated page cursor is safe to thread'
      : 'truncated page cursor is NOT safe to thread: it is the head revision',
  );
  await release(context, ...mutated);
}

export const pageChecks: readonly Check[] = [defineCheck('B907', 'Listing', pagingComplete)];
