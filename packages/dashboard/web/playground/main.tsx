// The playground in a browser: the dashboard's own pages over an engine that runs in a worker of this tab.

import type { ReactNode } from 'react';
import { createDashboard } from '../src/shell/app.tsx';
import { Shell } from '../src/shell/shell.tsx';
import { startApp } from '../src/shell/start.tsx';
import type { PageName } from '../src/url/pages.ts';
import { Controls } from './controls.tsx';
import { Playground } from './playground-source.ts';
import './playground.css';

const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
const playground = new Playground(worker);

function PlaygroundShell({
  page,
  children,
}: {
  readonly page: PageName | null;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <Shell page={page} isPlayground controls={<Controls playground={playground} />}>
      {children}
    </Shell>
  );
}

startApp({
  source: playground,
  App: createDashboard({ history: 'hash', Shell: PlaygroundShell }),
});
