// A command line to take along: shown whole, copied by a button.

import type { ReactNode } from 'react';
import { CopyText } from '../parts/index.ts';
import './what-if-command.css';

export function CommandLine({ text }: { readonly text: string }): ReactNode {
  return (
    <div className="command">
      {/* Longer than the page: a keyboard must be able to scroll it. */}
      <code tabIndex={0}>{text}</code>
      <CopyText label="Copy" text={() => text} />
    </div>
  );
}
