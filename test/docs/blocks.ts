// The fenced blocks of a page that say what they are, in the info string after the language:
//   ts file=<path>       a whole file of the worked example, written there and compiled
//   ts excerpt=<path>    lines that stand so in a file of this repository
//   sh run               commands that run in any tree with the installed packages
//   sh clone             commands that install or write: they run in a clone of their own
//   sh serve             a server that runs until the page ends
//   sh demo              kubectl against the clusters of `make up`, after the quick start
//   sh lane              make targets that exist; a lane runs itself and not inside a test
//   sh kube              commands to a real Kubernetes cluster: test/kube runs those of the install, the
//                        others are read: programs, files, charts and values that they name exist
//   yaml manifest        an object that an API server takes, ours by their definitions
//   yaml values=<chart>  values that the schema of the chart allows
//   yaml ctl-config      a config file that bigfleetctl reads
//   promql               a query that a real Prometheus answers
//   text, json           shown, not done; so is a drawing without a language
// A block of code without one of these would be checked by nobody, so it is refused. So is a command
// below a paragraph that begins with `Future:`: a reader would type what does not exist.

interface Placed {
  readonly line: number;
  readonly text: string;
}

interface BlocksByKind {
  readonly file: Placed & { readonly path: string };
  readonly excerpt: Placed & { readonly path: string };
  readonly run: Placed;
  readonly clone: Placed;
  readonly serve: Placed;
  readonly demo: Placed;
  readonly lane: Placed;
  readonly kube: Placed;
  readonly manifest: Placed;
  readonly values: Placed & { readonly chart: string };
  readonly 'ctl-config': Placed;
  readonly promql: Placed;
  readonly text: Placed;
}

export type BlockKind = keyof BlocksByKind;
export type BlockOf<Kind extends BlockKind> = BlocksByKind[Kind] & { readonly kind: Kind };
export type Block = { readonly [Kind in BlockKind]: BlockOf<Kind> }[BlockKind];

const FENCE = /^( *)(`{3,})(.*)$/;
const FUTURE = /^\W*Future:/;

interface OpenBlock {
  readonly indent: string;
  readonly fence: string;
  readonly info: string;
  readonly line: number;
  readonly isFuture: boolean;
}

/** A block inside a list is indented, and read without its indentation. */
export function readBlocks(page: string): Block[] {
  const blocks: Block[] = [];
  let open: OpenBlock | undefined;
  let lines: string[] = [];
  let paragraph = '';
  let isBetween = true;
  for (const [index, line] of page.split('\n').entries()) {
    const [, indent = '', fence, info = ''] = FENCE.exec(line) ?? [];
    if (open === undefined) {
      if (fence !== undefined) {
        const isFuture = FUTURE.test(paragraph);
        open = { indent, fence, info: info.trim(), line: index + 1, isFuture };
        lines = [];
      } else if (line.trim() === '') isBetween = true;
      else {
        if (isBetween) paragraph = line;
        isBetween = false;
      }
    } else if (line === open.indent + open.fence) {
      blocks.push(blockOf(open, lines.join('\n')));
      open = undefined;
    } else lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
  }
  if (open !== undefined) throw new Error(`line ${open.line}: the block is never closed`);
  return blocks;
}

function blockOf({ info, line, isFuture }: OpenBlock, text: string): Block {
  const block = kindOf(info, line, text);
  if (isFuture && block.kind !== 'text') {
    throw new Error(`line ${line}: a block of "${info}" below Future: would not work; write text`);
  }
  return block;
}

function kindOf(info: string, line: number, text: string): Block {
  const [, kind, path] = /^ts (file|excerpt)=(\S+)$/.exec(info) ?? [];
  if ((kind === 'file' || kind === 'excerpt') && path !== undefined) {
    return { kind, path, line, text };
  }
  const [, chart] = /^yaml values=(\S+)$/.exec(info) ?? [];
  if (chart !== undefined) return { kind: 'values', chart, line, text };
  switch (info) {
    case 'sh run':
      return { kind: 'run', line, text };
    case 'sh clone':
      return { kind: 'clone', line, text };
    case 'sh serve':
      return { kind: 'serve', line, text };
    case 'sh demo':
      return { kind: 'demo', line, text };
    case 'sh lane':
      return { kind: 'lane', line, text };
    case 'sh kube':
      return { kind: 'kube', line, text };
    case 'yaml manifest':
      return { kind: 'manifest', line, text };
    case 'yaml ctl-config':
      return { kind: 'ctl-config', line, text };
    case 'promql':
      return { kind: 'promql', line, text };
    case 'text':
    case 'json':
      return { kind: 'text', line, text };
    case '':
      if (!isCommand(text)) return { kind: 'text', line, text };
      break;
    default:
  }
  throw new Error(`line ${line}: nobody checks a block of "${info}" (test/docs/blocks.ts)`);
}

const COMMAND =
  /^\s*(?:\$ |(?:sudo |export )?(?:make|node|npm|git|ls|curl|kubectl|helm|podman|bin\/\S+|bigfleet\S*)\s)/m;

/** A drawing needs no language; commands do. */
function isCommand(text: string): boolean {
  return COMMAND.test(`${text}\n`);
}
