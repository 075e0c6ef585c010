// No direct clock, timer or system randomness outside runtime/real.ts: a component that reads
// one cannot run under virtual time, and one seed no longer replays a failure. Tests of packages
// obey too (no sleeps). bench/, tools/ and test/ drive real processes and are exempt.

import { type GlobalUse, globalUses } from '../globals.ts';
import type { Token } from '../lex.ts';
import { PERF_HOOKS_FILE, PROCESS_FACTS, REAL_RUNTIME, words } from '../policy.ts';
import type { Finding, Rule } from '../rule.ts';
import { type Edge, isSource, type TreeFile } from '../tree.ts';

export const runtimeOnly: Rule = {
  id: 'runtime-only',
  forbids: `wall clock, timers and system randomness outside ${REAL_RUNTIME}`,
  instead: 'take a Runtime: clock, timers, random, entropy',
  scope: (path) => isSource(path) && /^(?:packages|providers|demo)\//.test(path),
  inspect: inspectClock,
};

/** Globals of which any use is one too many. */
const BANNED: readonly string[] = ['setTimeout', 'setInterval', 'setImmediate', 'performance'];

/** Global → its members that read the machine. */
const BANNED_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  Date: ['now'],
  Math: ['random'],
  AbortSignal: ['timeout'],
  process: ['hrtime', 'uptime'],
  Temporal: ['Now'],
  crypto: ['randomUUID', 'getRandomValues', 'randomBytes', 'randomInt', 'randomFill'],
};

/** Builtin module → its banned exports; '*' bans the whole module. */
const BANNED_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  'node:timers': ['*'],
  'node:timers/promises': ['*'],
  'node:perf_hooks': ['*'],
  'node:process': ['hrtime', 'uptime'],
  'node:crypto': words(
    'randomUUID getRandomValues randomBytes randomInt randomFill randomFillSync',
  ),
};

function inspectClock(file: TreeFile): Finding[] {
  if (file.path === REAL_RUNTIME || file.source === undefined) return [];
  const { tokens, edges } = file.source;
  const found: Finding[] = [];
  for (const use of globalUses(tokens, BANNED)) {
    const name = use.name === '?' ? 'globalThis[…]' : use.name;
    found.push({ line: use.line, message: `uses ${name}` });
  }
  const objects = Object.keys(BANNED_MEMBERS);
  for (const use of globalUses(tokens, objects)) {
    const member = memberUse(tokens, use, BANNED_MEMBERS[use.name] ?? []);
    if (member === undefined) continue;
    if (member === 'process.uptime' && PROCESS_FACTS.test(file.path)) continue;
    found.push({ line: use.line, message: `uses ${member}` });
  }
  for (const edge of edges) found.push(...importUse(file.path, edge, tokens));
  return found;
}

/** `Date.now`, `Date['now']`, `const { now } = Date`, `const D = Date`, and `new Date()`. */
function memberUse(
  tokens: readonly Token[],
  use: GlobalUse,
  members: readonly string[],
): string | undefined {
  const at = use.at;
  const text = (offset: number): string => tokens[at + offset]?.text ?? '';
  if (text(1) === '.' || text(1) === '?.') {
    const name = text(2) === '[' ? text(3) : text(2);
    return members.includes(name) ? `${use.name}.${name}` : undefined;
  }
  if (text(1) === '[') {
    const literal = tokens[at + 2]?.kind === 'string';
    return !literal || members.includes(text(2)) ? `${use.name}[${text(2)}]` : undefined;
  }
  if (use.name === 'Date' && dateReadsClock(text)) return 'Date() without arguments';
  // `globalThis.Date` puts the `=` two tokens further left.
  const left = text(-1) === '.' ? -3 : -1;
  const alias = text(left) === '=' && text(left - 2) !== 'type' && text(1) !== '(';
  return alias ? `an alias of ${use.name}` : undefined;
}

function dateReadsClock(text: (offset: number) => string): boolean {
  const made = text(-1) === 'new' || (text(-1) === '.' && text(-3) === 'new');
  if (text(1) === '(') return !made || text(2) === ')';
  return made;
}

function importUse(path: string, edge: Edge, tokens: readonly Token[]): Finding[] {
  if (edge.to.kind !== 'builtin') return [];
  const module = edge.to.name;
  const banned = BANNED_IMPORTS[module];
  if (banned === undefined) return [];
  const line = edge.ref.line;
  if (banned.includes('*')) {
    const allowed = module === 'node:perf_hooks' && path === PERF_HOOKS_FILE;
    return allowed ? [] : [{ line, message: `imports ${module}` }];
  }
  return edge.ref.names.flatMap(({ imported, local }): Finding[] => {
    if (banned.includes(imported)) return [{ line, message: `imports ${imported} of ${module}` }];
    if (imported !== '*' && imported !== 'default' && imported !== 'webcrypto') return [];
    return memberUsesOf(tokens, local, banned);
  });
}

function memberUsesOf(
  tokens: readonly Token[],
  local: string,
  banned: readonly string[],
): Finding[] {
  return tokens.flatMap((token, at) => {
    const object = token.kind === 'name' && token.text === local && tokens[at + 1]?.text === '.';
    const member = tokens[at + 2]?.text ?? '';
    if (!object || !banned.includes(member)) return [];
    return [{ line: token.line, message: `uses ${local}.${member}` }];
  });
}
