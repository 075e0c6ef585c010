// The dashboard in a browser.

import { browserRuntime } from './browser.ts';
import { createDashboard } from './shell/app.tsx';
import { Shell } from './shell/shell.tsx';
import { startApp } from './shell/start.tsx';
import { httpSource } from './store/http.ts';

startApp({
  source: httpSource(browserRuntime),
  App: createDashboard({ history: 'path', Shell }),
});
