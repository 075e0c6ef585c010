// `records`: what shards decided, line by line as it is read; with --follow as it happens.

import { ok } from '@bigfleet/base';
import type { ListRecordsRequest, RecordFrame } from '@bigfleet/wire';
import { type Flag, text, toggle, wholeNumber } from '@bigfleet/process/flags';
import { shardLabel, type ShardTarget } from '../connect/shards.ts';
import { CTL_EXIT } from '../output/report.ts';
import { defineVerb } from '../frame/define-verb.ts';
import { describeFailure } from '../connect/failure.ts';
import type { Links } from '../connect/links.ts';
import { type Holders, holdersOfMachine, holdersOfNeed } from '../explain/holders.ts';
import { type NeedName, type NeedRef, parseNeedName } from '../kinds/need-name.ts';
import { writeProblems } from '../frame/print.ts';
import { documentLine, documentText } from '../output/document.ts';
import type { CtlPort } from '../context.ts';
import { rangeRequest, recordBound } from '../records/record-bound.ts';
import { recordDocument, recordFrames, recordLines } from '../records/record-text.ts';
import { type OutputForm, shardFlags, shardFlagsProblem, shardSelection } from '../frame/flags.ts';

const need: Flag<NeedName | undefined> = {
  fallback: '',
  help: 'only records that mention this need',
  form: '<cluster/need>',
  parse: (given) => (given === '' ? ok(undefined) : parseNeedName(given)),
};

export const recordsVerb = defineVerb({
  name: 'records',
  group: 'Understand',
  summary: 'what shards decided, one line per decision',
  details: [
    'A line is: time, shard, cycle, then the action with its machine, cluster, need, price and',
    'reason code, or Unmet with the need and why. disposition= says what held an action back, a',
    'line with Rollup which roll-ups were refused or held. -o json prints a record per line.',
  ],
  flags: {
    ...shardFlags,
    from: recordBound('first cycle, or since when'),
    to: recordBound('last cycle, or until when'),
    follow: { ...toggle(false, 'go on with what is decided next, until Ctrl-C'), short: 'f' },
    machine: text('', 'only records that mention this machine', '<id>'),
    need,
    limit: wholeNumber(0, 'at most so many records of each shard; 0 is all'),
  },
  examples: [
    'records --shard=shard-0 --from=15m',
    'records --machine=i-0abc',
    'records --follow --from=1m -o json',
  ],
  problem: (values) =>
    values.machine !== '' && values.need !== undefined
      ? 'give --machine or --need, not both'
      : shardFlagsProblem(values),
  run: async ({ links, values, context, signal }) => {
    const { from, to, follow, machine, limit } = values;
    const found = await links.shards.find(shardSelection(values));
    const about = await shardsAbout(links, found, machine, values.need);
    const request = {
      ...rangeRequest(from, to, context.runtime.clock.unixNanos()),
      follow,
      limit,
      machineId: machine,
      ...(about.ref === undefined ? {} : { need: about.ref }),
    };
    const { port } = context;
    const print = printer(port, values.output);
    const problems = [...about.problems];
    const read = async (shard: ShardTarget): Promise<void> => {
      try {
        await readRecords(links, shard, request, print);
      } catch (error) {
        if (!signal.aborted) problems.push(describeFailure(error).line);
      }
    };
    // Followed together, as they come; read one after the other, so that each is in order.
    if (follow) await Promise.all(about.shards.map(read));
    else for (const shard of about.shards) await read(shard);
    writeProblems(port, problems);
    if (problems.length === 0) return CTL_EXIT.ok;
    return problems.length < found.length ? CTL_EXIT.partial : CTL_EXIT.failed;
  },
});

async function shardsAbout(
  links: Links,
  shards: readonly ShardTarget[],
  machine: string,
  name: NeedName | undefined,
): Promise<Holders & { readonly ref?: NeedRef }> {
  if (machine !== '') return holdersOfMachine(links, shards, machine);
  return name === undefined ? { shards, problems: [] } : holdersOfNeed(links, shards, name);
}

type Request = Partial<Omit<ListRecordsRequest, '$typeName' | '$unknown' | 'need'>> & {
  readonly need?: NeedRef;
};

/** Reading is as long as what is kept: it ends with the stream or with Ctrl-C, not with --timeout. */
function readRecords(
  links: Links,
  shard: ShardTarget,
  request: Request,
  print: PrintRecord,
): Promise<void> {
  return links.shards.ask(
    shard,
    'list records',
    async (api, call) => {
      const label = shardLabel(shard);
      const add = recordFrames((frame, dispositions) => print(label, frame, dispositions));
      for await (const frame of api.query.listRecords(request, call)) add(frame);
    },
    { isUnbounded: true },
  );
}

type PrintRecord = (shard: string, frame: RecordFrame, dispositions: Uint8Array) => void;

function printer(port: CtlPort, output: OutputForm): PrintRecord {
  return (shard, frame, dispositions) => {
    const document = recordDocument(shard, frame, dispositions);
    if (output === 'json') port.writeOutput(documentLine(document));
    else if (output === 'yaml') port.writeOutput(`---\n${documentText(document, 'yaml')}`);
    else for (const line of recordLines(document)) port.writeOutput(`${line}\n`);
  };
}
