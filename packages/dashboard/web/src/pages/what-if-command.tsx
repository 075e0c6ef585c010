// A command line to take along: shown whole, copied by a button.

import type { ReactNode } from 'react';
import { CopyText } from '../parts/index.ts';
import './what-if-command.css';

export function CommandLine({ text }: { readonly text: string }): ReactNode {
  return (
    <div className="command">
      {/* Longer than the page: a keyboard must be able to scroll it. */}
      <div className="command-text" role="group" aria-label="Command line" tabIndex={0}>
        <code>{text}</code>
      </div>
      <CopyText label="Copy" text={() => text} />
    </div>
  );
}
