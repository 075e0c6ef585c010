// What one test process reported, counted. The counts come from the events and are compared
// with Node's own summary: two counts that disagree are a failure, never a choice. A process
// that ends without a summary, with a failure that no test owns, or without any test fails too.

export type TestEventRecord = StartRecord | EndRecord | LineRecord | SummaryRecord;

interface Place {
  readonly name: string;
  readonly id: number;
  readonly parent: number;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

interface StartRecord extends Place {
  readonly event: 'start';
}

interface EndRecord extends Place {
  readonly event: 'end';
  readonly passed: boolean;
  readonly suite: boolean;
  readonly ms: number;
  readonly skip?: string;
  readonly todo?: string;
  readonly error?: { readonly failure: string; readonly text: string };
}

/**
 * A note is a line that a test gave to t.diagnostic(); a remark is a line of Node's own about the whole
 * process, such as an error after a test ended.
 */
interface LineRecord {
  readonly event: 'note' | 'remark';
  readonly message: string;
}

interface SummaryRecord {
  readonly event: 'summary';
  readonly success: boolean;
  readonly counts: Readonly<Record<string, number>>;
}

/** How the process ended, as the parent saw it. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** Set when the parent killed it for taking longer than this. */
  readonly timedOutMs?: number;
}

export interface Failure {
  /** `suite › test`, or the file for a failure that no test owns. */
  readonly title: string;
  readonly place: string;
  readonly text: string;
}

export interface Outcome {
  readonly passed: number;
  /** Failed tests, plus failures that no test owns. */
  readonly failures: readonly Failure[];
  /** Failed parents of failed subtests: counted, not shown twice. */
  readonly failedParents: number;
  readonly skipped: readonly Skipped[];
  readonly notes: readonly string[];
}

export interface Skipped {
  readonly title: string;
  readonly place: string;
  readonly reason: string;
}

export function parseRecords(text: string): TestEventRecord[] {
  const lines = text.split('\n');
  // A killed process may leave half a line; every complete line must parse.
  lines.pop();
  return lines.map((line) => JSON.parse(line) as TestEventRecord);
}

export interface OutcomeInput {
  /** What ran, for failures that no test owns: a file, or a lane. */
  readonly subject: string;
  readonly records: readonly TestEventRecord[];
  readonly end: ProcessEnd;
}

export function outcomeOf(input: OutcomeInput): Outcome {
  const { subject, records, end } = input;
  const titles = new Titles();
  const tally = { passed: 0, failedParents: 0 };
  const failures: Failure[] = [];
  const skipped: Skipped[] = [];
  const notes: string[] = [];
  for (const record of records) {
    if (record.event === 'start') titles.add(record);
    else if (record.event === 'note') notes.push(record.message);
    else if (record.event === 'end') {
      titles.add(record);
      count(record, titles.of(record.id), { tally, failures, skipped });
    }
  }
  const ownFailures = failures.length;
  const failedCount = failures.length + tally.failedParents;
  for (const text of processProblems(input, failedCount)) {
    const running = end.timedOutMs === undefined && end.signal === null ? [] : titles.running();
    const where = running.length > 0 ? `\nrunning: ${running.join(', ')}` : '';
    failures.push({ title: subject, place: subject, text: `${text}${where}` });
  }
  const quietExit = end.code !== 0 || end.signal !== null;
  if (quietExit && failures.length === 0 && tally.failedParents === 0) {
    failures.push({ title: subject, place: subject, text: `ended with ${describeEnd(end)}` });
  }
  return { ...tally, failures, skipped, notes: ownFailures > 0 ? [] : notes };
}

interface Counters {
  readonly tally: { passed: number; failedParents: number };
  readonly failures: Failure[];
  readonly skipped: Skipped[];
}

function count(record: EndRecord, title: string, into: Counters): void {
  const place = `${record.file}:${record.line}`;
  if (isEmptyFile(record)) {
    const text = record.error?.text ?? 'this file defines no test';
    into.failures.push({ title: record.name, place: record.file, text });
  } else if (record.skip !== undefined) {
    into.skipped.push({ title, place, reason: record.skip });
  } else if (record.todo !== undefined) {
    into.skipped.push({ title, place, reason: `todo ${record.todo}`.trim() });
  } else if (record.passed) {
    if (!record.suite) into.tally.passed++;
  } else if (record.error?.failure === 'subtestsFailed') {
    if (!record.suite) into.tally.failedParents++;
  } else into.failures.push({ title, place, text: record.error?.text ?? 'no error given' });
}

/** Node stands a test named after the file at 1:1 for a file that defined none or did not load. */
function isEmptyFile(record: EndRecord): boolean {
  const first = record.line === 1 && record.column === 1;
  return first && record.parent === 0 && record.file.endsWith(record.name);
}

function processProblems({ records, end }: OutcomeInput, failedCount: number): string[] {
  if (end.timedOutMs !== undefined) {
    return [`did not end within ${end.timedOutMs} ms and was killed`];
  }
  const summaries = records.filter((record) => record.event === 'summary');
  const summary = summaries.at(-1);
  if (summary === undefined) {
    const silent = records.length === 0 && end.code === 0 && end.signal === null;
    if (silent) return ['reported no test: it defines none, or ended before one ran'];
    return [`ended with ${describeEnd(end)} before reporting a summary`];
  }
  const problems: string[] = [];
  const counted = records.filter((record) => record.event === 'end' && !record.suite).length;
  const reported = summary.counts['tests'] ?? -1;
  if (counted !== reported) {
    problems.push(`reported ${counted} tests, but Node counted ${reported}`);
  }
  if (!summary.success && failedCount === 0) {
    const remarks = records.flatMap((r) => (r.event === 'remark' ? [r.message] : []));
    const why = remarks.filter((line) => /error|warning/i.test(line)).join('\n');
    problems.push(`failed, though every test passed\n${why}`.trim());
  }
  return problems;
}

function describeEnd(end: ProcessEnd): string {
  return end.signal === null ? `exit code ${end.code ?? 'none'}` : `signal ${end.signal}`;
}

/** Full names of tests by their id, and which are still running. */
class Titles {
  readonly #places = new Map<number, Place>();
  readonly #open = new Map<number, Place>();

  add(record: StartRecord | EndRecord): void {
    this.#places.set(record.id, record);
    if (record.event === 'start') this.#open.set(record.id, record);
    else this.#open.delete(record.id);
  }

  of(id: number): string {
    const names: string[] = [];
    for (let at = this.#places.get(id); at !== undefined; at = this.#places.get(at.parent)) {
      names.unshift(at.name);
      if (at.parent === 0 || names.length > 50) break;
    }
    return names.join(' › ');
  }

  running(): string[] {
    const leaves = [...this.#open.values()].filter(
      (one) => ![...this.#open.values()].some((other) => other.parent === one.id),
    );
    return leaves.map((one) => `${one.file}:${one.line} ${this.of(one.id)}`);
  }
}
