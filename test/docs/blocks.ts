// The fenced blocks of a page that say what they are, in the info string after the language:
//   ts file=<path>      a whole file of the worked example, written there and compiled
//   ts excerpt=<path>   lines that stand so in a file of this repository
//   sh run              commands that run in any tree with the installed packages
//   sh clone            commands that install or write: they run in a clone of their own
//   sh serve            a server that runs until the page ends
//   sh kube             commands to a Kubernetes cluster: test/kube runs them against a real one
// A block of code without one of these would be checked by nobody, so it is refused.

export type Block =
  | { readonly kind: 'file' | 'excerpt'; readonly path: string; readonly text: string }
  | {
      readonly kind: 'run' | 'clone' | 'serve' | 'kube';
      readonly line: number;
      readonly text: string;
    };

const FENCE = /^(`{3,})(.*)$/;

export function readBlocks(page: string): Block[] {
  const blocks: Block[] = [];
  let open: { readonly fence: string; readonly info: string; readonly line: number } | undefined;
  let lines: string[] = [];
  for (const [index, line] of page.split('\n').entries()) {
    const [, fence, info = ''] = FENCE.exec(line) ?? [];
    if (open === undefined) {
      if (fence === undefined) continue;
      open = { fence, info: info.trim(), line: index + 1 };
      lines = [];
    } else if (line === open.fence) {
      blocks.push(blockOf(open.info, open.line, lines.join('\n')));
      open = undefined;
    } else lines.push(line);
  }
  if (open !== undefined) throw new Error(`line ${open.line}: the block is never closed`);
  return blocks;
}

function blockOf(info: string, line: number, text: string): Block {
  const [, kind, path] = /^ts (file|excerpt)=(\S+)$/.exec(info) ?? [];
  if ((kind === 'file' || kind === 'excerpt') && path !== undefined) return { kind, path, text };
  const [, command] = /^sh (run|clone|serve|kube)$/.exec(info) ?? [];
  switch (command) {
    case 'run':
    case 'clone':
    case 'serve':
    case 'kube':
      return { kind: command, line, text };
    default:
  }
  throw new Error(`line ${line}: nobody checks a block of "${info}" (test/docs/blocks.ts)`);
}
