// The pages: where each one lives, the question it answers, and what its URL may hold. Parameters carry
// the names of the API's; what only the picture needs (colour, zoom, order) stands after them.

import {
  CAPACITY_NAMES,
  KIND_NAMES,
  ROW_LIMIT,
  STATE_NAMES,
  TIER_NAMES,
} from '../../../src/words.ts';
import { flag, int, oneOf, type Search, text, time } from './search.ts';

const moment = { at: time };
const machineFilter = {
  shard: text,
  cluster: text,
  team: text,
  provider: text,
  zone: text,
  state: oneOf(['', ...STATE_NAMES], ''),
  capacity: oneOf(['', ...CAPACITY_NAMES], ''),
  q: text,
};
const tier = oneOf(['', ...TIER_NAMES], '');
const kind = oneOf(['', ...KIND_NAMES], '');
const rows = { limit: int(500, 1, ROW_LIMIT) };
/** A table's order: the column's id, and whether it runs down. */
const order = { order: text, down: flag };

export const PAGES = {
  now: {
    path: '/',
    title: 'Now',
    question: 'Is the fleet fine, what is it doing, what does it cost?',
    key: 'n',
    search: { ...moment },
  },
  map: {
    path: '/map',
    title: 'Fleet map',
    question: 'Where is everything?',
    key: 'm',
    search: {
      ...moment,
      ...machineFilter,
      by: oneOf(['place', 'cluster', 'provider'], 'place'),
      colour: oneOf(['state', 'cluster', 'cost', 'risk', 'age'], 'state'),
      /** The group that fills the picture: its path, joined by `/`, each part URL-encoded. */
      zoom: text,
      table: flag,
    },
  },
  decisions: {
    path: '/decisions',
    title: 'Decisions',
    question: 'What happened, and why?',
    key: 'd',
    search: {
      ...moment,
      ...rows,
      from: time,
      to: time,
      shard: text,
      cluster: text,
      machine: text,
      kind,
      reason: text,
      /** The decision whose record is open. */
      open: text,
    },
  },
  explain: {
    path: '/explain',
    title: 'Explain',
    question: 'Why this, why not that?',
    key: 'e',
    search: {
      ...moment,
      machine: text,
      cluster: text,
      fingerprint: text,
      group: text,
      pod: text,
      cycle: int(0, 0, Number.MAX_SAFE_INTEGER),
      counterfactuals: flag,
    },
  },
  cost: {
    path: '/cost',
    title: 'Cost and risk',
    question: 'Are we paying for the right thing?',
    key: 'c',
    search: { ...moment, ...machineFilter, table: flag },
  },
  triage: {
    path: '/triage',
    title: 'Shortfall triage',
    question: 'Is it serious, whose is it, and what do I do?',
    key: 't',
    search: { ...moment, ...rows, shard: text, cluster: text, branch: text },
  },
  lifecycle: {
    path: '/lifecycle',
    title: 'Machine lifecycle',
    question: 'Where do machines get stuck?',
    key: 'l',
    search: { ...moment, ...machineFilter, table: flag },
  },
  providers: {
    path: '/providers',
    title: 'Providers',
    question: 'Who is slow, and whose promises do not hold?',
    key: 'p',
    search: { ...moment, provider: text },
  },
  clusters: {
    path: '/clusters',
    title: 'Clusters',
    question: 'Is every cluster connected and served?',
    key: 'k',
    search: { ...moment, q: text, ...order },
  },
  shards: {
    path: '/shards',
    title: 'Shards',
    question: 'Does every shard keep its pace?',
    key: 's',
    search: {
      ...moment,
      /** The one whose cycle is taken apart. */
      shard: text,
      ...order,
    },
  },
  coordinator: {
    path: '/coordinator',
    title: 'Coordinator',
    question: 'Who leads, and what is being moved?',
    key: 'o',
    search: { ...moment, ...order },
  },
  machines: {
    path: '/machines',
    title: 'Machines',
    question: 'Which machines are there?',
    key: 'i',
    search: {
      ...moment,
      ...machineFilter,
      ...rows,
      sort: oneOf(['machine', 'state', 'cluster', 'cost', 'risk', 'age'], 'machine'),
    },
  },
  needs: {
    path: '/needs',
    title: 'Needs',
    question: 'Who asks for what, and who waits?',
    key: 'q',
    search: {
      ...moment,
      ...rows,
      shard: text,
      cluster: text,
      tier,
      unmet: flag,
      q: text,
      ...order,
    },
  },
  whatif: {
    path: '/what-if',
    title: 'What-if',
    question: 'What would have happened if…?',
    key: 'w',
    search: { ...moment, shard: text, set: text, seed: int(1, 0, 2 ** 32) },
  },
  compare: {
    path: '/compare',
    title: 'Compare',
    question: 'What changed between two moments?',
    key: 'b',
    search: { ...moment, with: time, cluster: text },
  },
} as const;

export type PageName = keyof typeof PAGES;
export type PageSearch<P extends PageName> = Search<(typeof PAGES)[P]['search']>;

export const PAGE_NAMES = Object.keys(PAGES) as readonly PageName[];

/** The sections of the navigation. */
export const NAVIGATION: readonly {
  readonly title: string;
  readonly pages: readonly PageName[];
}[] = [
  { title: 'Watch', pages: ['now', 'map', 'decisions', 'explain'] },
  { title: 'Understand', pages: ['triage', 'cost', 'lifecycle', 'machines', 'needs'] },
  { title: 'Health', pages: ['clusters', 'shards', 'coordinator', 'providers'] },
  { title: 'Plan', pages: ['whatif', 'compare'] },
];
