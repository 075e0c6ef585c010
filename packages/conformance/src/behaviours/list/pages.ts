// B907: paging a delta is complete. A provider may echo its head revision on a cut page: certifiable,
// because a caller can still list without a cap, but a caller that continues from such a cursor loses
// machines. So the style is reported beside the verdict.

import { type Check, type CheckContext, defineCheck } from '../../harness/check.ts';
import { ensure } from '../../harness/expect.ts';
import { distinctById, idsOf, listed, missingFrom, someOf } from '../../harness/inventory.ts';
import { needsSinceRevision } from '../../harness/probe.ts';
import { quiescence } from '../../harness/quiescence.ts';
import { release, walkNToIdle } from '../../harness/walk.ts';

export interface PagingOptions {
  readonly since: Uint8Array | undefined;
  readonly pageSize: number;
  /** Every id that an uncapped List returns from the same cursor; more than one page of them. */
  readonly known: ReadonlySet<string>;
  readonly maxPages: number;
}

/** `head`: the cursor of a cut page skips what that page did not hold. */
export type PagingStyle = 'continuation' | 'head';

export interface Paged {
  readonly style: PagingStyle;
  /** Ids of all pages that were read. */
  readonly ids: ReadonlySet<string>;
}

/** To the first empty page. No machine may appear twice: nothing changes meanwhile. */
export async function threadPages(context: CheckContext, options: PagingOptions): Promise<Paged> {
  const ids = new Set<string>();
  let cursor = options.since;
  for (let number = 1; number <= options.maxPages; number++) {
    const page = await readPage(context, options, cursor);
    const repeated = [...page.ids].filter((id) => ids.has(id));
    ensure(
      repeated.length === 0,
      () => `page ${number} repeats machines of earlier pages: ${someOf(repeated)}`,
    );
    if (page.ids.size === 0) return { style: number === 2 ? 'head' : 'continuation', ids };
    for (const id of page.ids) ids.add(id);
    cursor = page.revision;
  }
  return { style: 'continuation', ids };
}

async function readPage(
  context: CheckContext,
  { pageSize, known }: PagingOptions,
  since: Uint8Array | undefined,
): Promise<{ readonly ids: ReadonlySet<string>; readonly revision: Uint8Array }> {
  const { machines, revision } = await listed(context, { since, maxResults: pageSize });
  const where = `a page of max_results ${pageSize}`;
  const ids = new Set(distinctById(machines, where).keys());
  ensure(ids.size <= pageSize, () => `${where} holds ${ids.size} machines`);
  const strange = missingFrom(known, ids);
  ensure(strange.length === 0, () => `${where} holds ${someOf(strange)}, unknown to List`);
  return { ids, revision };
}

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
